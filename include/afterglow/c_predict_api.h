/* SPDX-License-Identifier: Apache-2.0 */
/* MXNet's C interface for prediction, as programs that were written for it call it, but for
 * MXPredCreateEx and MXPredSetMonitorCallback. The functions do what MXNet 1.9.1's do, over the
 * models of c_api.h. They return 0, or -1 with a text that MXGetLastError() gives. Elements are
 * float32. */
#ifndef AFTERGLOW_C_PREDICT_API_H_
#define AFTERGLOW_C_PREDICT_API_H_

#include <afterglow/c_api.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t mx_uint;
typedef float mx_float;
typedef void* PredictorHandle;
typedef void* NDListHandle;

AG_API const char* MXGetLastError(void);

/* A model from the text of its -symbol.json and the bytes of its .params, for inputs of these
 * shapes: that of input i is input_shape_data[input_shape_indptr[i]] to
 * input_shape_data[input_shape_indptr[i + 1]], without the latter. */
AG_API int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size,
                        int dev_type, int dev_id, mx_uint num_input_nodes, const char** input_keys,
                        const mx_uint* input_shape_indptr, const mx_uint* input_shape_data,
                        PredictorHandle* out);
/* The same with outputs inside of the graph, "fc1" or "fc1_output", in place of its own. */
AG_API int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes,
                                  int param_size, int dev_type, int dev_id, mx_uint num_input_nodes,
                                  const char** input_keys, const mx_uint* input_shape_indptr,
                                  const mx_uint* input_shape_data, mx_uint num_output_nodes,
                                  const char** output_keys, PredictorHandle* out);
/* As many predictors that share the weights, one for each thread. */
AG_API int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes,
                                   int param_size, int dev_type, int dev_id,
                                   mx_uint num_input_nodes, const char** input_keys,
                                   const mx_uint* input_shape_indptr,
                                   const mx_uint* input_shape_data, int num_threads,
                                   PredictorHandle* out);
/* Another predictor with the same weights for inputs of other shapes. */
AG_API int MXPredReshape(mx_uint num_input_nodes, const char** input_keys,
                         const mx_uint* input_shape_indptr, const mx_uint* input_shape_data,
                         PredictorHandle handle, PredictorHandle* out);
/* The shape stays until the predictor is asked again or freed. */
AG_API int MXPredGetOutputShape(PredictorHandle handle, mx_uint index, mx_uint** shape_data,
                                mx_uint* shape_ndim);
/* By MXNet's numbers, as element types are. */
AG_API int MXPredGetOutputType(PredictorHandle handle, mx_uint out_index, int* out_dtype);
/* Copies `size` elements; inputs that are never set are zeros. */
AG_API int MXPredSetInput(PredictorHandle handle, const char* key, const mx_float* data,
                          mx_uint size);
/* Returns before anything is computed. */
AG_API int MXPredForward(PredictorHandle handle);
/* The first step, 0, is the whole run: none is left after it. */
AG_API int MXPredPartialForward(PredictorHandle handle, int step, int* step_left);
/* Waits; `size` must be the number of elements. */
AG_API int MXPredGetOutput(PredictorHandle handle, mx_uint index, mx_float* data, mx_uint size);
AG_API int MXPredFree(PredictorHandle handle);

/* The arrays of a .params file, from its bytes, as float32. Names, elements and shapes stay until
 * the list is freed. */
AG_API int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                          mx_uint* out_length);
AG_API int MXNDListGet(NDListHandle handle, mx_uint index, const char** out_key,
                       const mx_float** out_data, const mx_uint** out_shape, mx_uint* out_ndim);
AG_API int MXNDListFree(NDListHandle handle);

#ifdef __cplusplus
}
#endif
#endif /* AFTERGLOW_C_PREDICT_API_H_ */
