/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of Afterglow: arrays that compute later, every op of the table by name,
 * gradients, models.
 *
 * Every function returns 0, or -1 with a text that AGGetLastError() gives. Handles are not
 * addresses: one that was freed, or never made, is refused with a text. Any thread may call
 * anything; calls are issued one at a time, and waits let other threads issue meanwhile. What is
 * given is copied before a function returns. Shapes, names and lists that are given out belong to
 * the library, and stay as long as is said at the function. */
#ifndef AFTERGLOW_C_API_H_
#define AFTERGLOW_C_API_H_

#include <stddef.h>
#include <stdint.h>

/* Grows when functions are added; libafterglow.so.1 keeps those that are here. */
#define AG_VERSION 1

#if defined(__GNUC__)
#define AG_API __attribute__((visibility("default")))
#else
#define AG_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* An array: what statements pass on, before or after it is computed. */
typedef struct AGArrayOfLibrary* AGArrayHandle;
/* A graph with its weights, ready to run. */
typedef struct AGModelOfLibrary* AGModelHandle;

/* Element types, by MXNet's numbers. */
enum {
  AG_FLOAT32 = 0,
  AG_FLOAT64 = 1,
  AG_FLOAT16 = 2,
  AG_UINT8 = 3,
  AG_INT32 = 4,
  AG_INT8 = 5,
  AG_INT64 = 6,
  AG_BOOL = 7
};

/* Where arrays are, by MXNet's numbers. There is no gpu here: arrays on one are refused. */
enum { AG_CPU = 1, AG_GPU = 2, AG_CPU_PINNED = 3, AG_CPU_SHARED = 5 };

/* What becomes of the gradient of a variable. */
enum { AG_GRADIENT_NONE = 0, AG_GRADIENT_WRITE = 1, AG_GRADIENT_ADD = 2 };

/* --- errors and places --- */

/* The text of the last error of this thread, until its next error. */
AG_API const char* AGGetLastError(void);
/* The name of its kind, as Python's class is called: "ValueError", "MXNetError". */
AG_API const char* AGGetLastErrorKind(void);
/* What this thread issues from now on was written there; errors that show later say so. NULL or ""
 * as the file: nowhere. The library keeps each name for good. */
AG_API int AGSetSite(const char* file, int line, const char* function);

/* --- the process --- */

/* The version of this interface that the library has. */
AG_API int AGGetVersion(int* version);
/* The shared library of OpenBLAS, for products. Counts before the first one only. Otherwise it is
 * what the environment variable AFTERGLOW_BLAS says, or libscipy_openblas.so beside this library.
 */
AG_API int AGSetBlasPath(const char* path);
/* How many threads compute at once. */
AG_API int AGGetThreadCount(int* count);
/* Restarts the random streams of all contexts. */
AG_API int AGRandomSeed(uint64_t seed);
/* Waits for everything that can be observed, and reports the first failure not reported yet. */
AG_API int AGWaitAll(void);

/* --- arrays --- */

/* A new array of zeros. */
AG_API int AGArrayCreate(const int64_t* shape, int ndim, int dtype, int device, int device_id,
                         AGArrayHandle* array);
/* A new array with a copy of elements in C order. `bytes` must be what the array takes. */
AG_API int AGArrayFromMemory(const void* data, size_t bytes, const int64_t* shape, int ndim,
                             int dtype, int device, int device_id, AGArrayHandle* array);
/* Gives a handle back. Waits for nothing. */
AG_API int AGArrayFree(AGArrayHandle array);
/* The shape stays until the handle is freed. */
AG_API int AGArrayGetShape(AGArrayHandle array, int* ndim, const int64_t** shape);
AG_API int AGArrayGetType(AGArrayHandle array, int* dtype);
AG_API int AGArrayGetContext(AGArrayHandle array, int* device, int* device_id);
/* Waits until the value is there; with a timeout of not less than 0 for so many seconds at most. */
AG_API int AGArrayWait(AGArrayHandle array, double timeout);
/* Waits until nothing that was issued reads or writes it any more. */
AG_API int AGArrayWaitToWrite(AGArrayHandle array, double timeout);
/* Whether the value is there. Never waits. */
AG_API int AGArrayIsReady(AGArrayHandle array, int* is_ready);
/* Waits, and copies the elements out in C order. `bytes` must be what the array takes. */
AG_API int AGArrayRead(AGArrayHandle array, void* data, size_t bytes);
/* Writes elements in C order; returns when they are copied, waits for no reader. */
AG_API int AGArrayWrite(AGArrayHandle array, const void* data, size_t bytes);
/* array[...] = value, broadcast and converted. */
AG_API int AGArrayAssign(AGArrayHandle array, AGArrayHandle value);
/* Views, which share the memory: array[begin:end], array[index], and another shape of an array
 * without gaps. */
AG_API int AGArraySlice(AGArrayHandle array, int64_t begin, int64_t end, AGArrayHandle* view);
AG_API int AGArrayAt(AGArrayHandle array, int64_t index, AGArrayHandle* view);
AG_API int AGArrayReshape(AGArrayHandle array, const int64_t* shape, int ndim, AGArrayHandle* view);
/* The same value, a constant to gradients. */
AG_API int AGArrayDetach(AGArrayHandle array, AGArrayHandle* detached);

/* Files of arrays in MXNet's format (.params). The lists stay until this thread loads again; the
 * arrays are the caller's. `name_count` is 0 for a file without names. */
AG_API int AGArraysLoad(const char* path, size_t* count, AGArrayHandle** arrays, size_t* name_count,
                        const char*** names);

/* Waits, and writes such a file; `names` is NULL, or has one for each array. A file of that name is
 * replaced when all is written. */
AG_API int AGArraysSave(const char* path, size_t count, const AGArrayHandle* arrays,
                        const char* const* names);

/* --- ops --- */

/* The names of all ops, as AGInvoke takes them; for good. */
AG_API int AGListOps(size_t* count, const char* const** names);
/* Those of the table that NumPy computes under Python: refused by name here. */
AG_API int AGListRefusedOps(size_t* count, const char* const** names);
/* What an op does, takes and gives, as Markdown; until this thread asks again. */
AG_API int AGDescribeOp(const char* op, const char** text);
/* Calls an op. It returns before anything is computed.
 *
 * `op` is a function of a namespace ("nd.dot", "np.add", "npx.softmax"), or a name of MXNet's as
 * files of graphs have it ("FullyConnected", "_plus_scalar", "_npi_add"). Inputs come in the order
 * of its declaration; NULL stands for one that is left out. Parameters are names and values in
 * text, as Python writes them: "2", "0.5", "(2, 3)", "True", "None", "float32", "relu"; a number
 * may stand for an input in the same way.
 *
 * With *output_count 0 the results are new arrays, in a list that stays until this thread calls
 * again; otherwise they are written to the *output_count arrays that are given. */
AG_API int AGInvoke(const char* op, int input_count, const AGArrayHandle* inputs,
                    int parameter_count, const char* const* names, const char* const* values,
                    int* output_count, AGArrayHandle** outputs);

/* --- gradients --- */

/* Whether this thread records what it issues, and whether ops behave as in training; gives back
 * what was, unless that is NULL. */
AG_API int AGSetRecording(int is_recording, int* before);
AG_API int AGSetTraining(int is_training, int* before);
AG_API int AGIsRecording(int* is_recording);
AG_API int AGIsTraining(int* is_training);
/* Makes the array a variable, whose gradient begins with zeros. */
AG_API int AGArrayAttachGradient(AGArrayHandle array, int request);
/* Its gradient; NULL where it has none. */
AG_API int AGArrayGetGradient(AGArrayHandle array, AGArrayHandle* gradient);
/* Issues the walk backwards from the heads to all variables. `head_gradients` or any of them may be
 * NULL, for ones. Without `keeps_graph` the recorded calls are forgotten. */
AG_API int AGBackward(int head_count, const AGArrayHandle* heads,
                      const AGArrayHandle* head_gradients, int keeps_graph, int is_training);
/* The same, but the gradients of the given variables are new arrays, written to `gradients`. */
AG_API int AGGradients(int head_count, const AGArrayHandle* heads,
                       const AGArrayHandle* head_gradients, int variable_count,
                       const AGArrayHandle* variables, int keeps_graph, int is_training,
                       AGArrayHandle* gradients);

/* --- models --- */

/* A graph (-symbol.json) and its weights (.params), from files. */
AG_API int AGModelLoad(const char* symbol_path, const char* parameters_path, AGModelHandle* model);
AG_API int AGModelFree(AGModelHandle model);
/* What a run must be given: variables without weights. Until the model is freed. */
AG_API int AGModelListInputs(AGModelHandle model, size_t* count, const char* const** names);
AG_API int AGModelListOutputs(AGModelHandle model, size_t* count, const char* const** names);
/* Issues a run with arrays for inputs, by name. Labels may be left out. The results are new arrays,
 * in a list that stays until this thread runs a model or calls an op again. */
AG_API int AGModelRun(AGModelHandle model, int input_count, const char* const* names,
                      const AGArrayHandle* inputs, int* output_count, AGArrayHandle** outputs);

#ifdef __cplusplus
}
#endif
#endif /* AFTERGLOW_C_API_H_ */
