// SPDX-License-Identifier: Apache-2.0
// MXNet's interface for prediction, over graphs and weights.
#include <afterglow/c_predict_api.h>

#include <algorithm>
#include <limits>

#include "autograd/call_builder.h"
#include "c_api/model.h"
#include "ops/operators.h"

namespace afterglow::c_api {
namespace {

using autograd::Handle;
using Inputs = std::map<std::string, Shape>;

/// What a file has, as float32.
Handle as_float(const Handle& array) {
  return array.array.dtype == DType::float32 ? array : Handle(ops::copy(array, DType::float32));
}

struct Predictor : Object {
  Predictor(std::shared_ptr<const Graph> its_graph,
            std::shared_ptr<const Graph::Values> its_weights, Context its_context,
            const Inputs& inputs)
      : graph(std::move(its_graph)), weights(std::move(its_weights)), context(its_context) {
    for (const auto& [name, shape] : inputs) {
      if (std::ranges::find(graph->variables(), name) == graph->variables().end())
        refuse("the model has no input '" + name + "'");
      given[name] = zeros(shape, DType::float32, context);
    }
    for (const std::string& name : graph->variables()) {
      if (!given.contains(name) && !weights->contains(name) && !graph->labels().contains(name))
        refuse("the model needs '" + name + "', which is neither an input here nor a weight");
    }
  }

  void forward() {
    const autograd::State outer = std::exchange(autograd::state(), {});
    try {
      Graph::Values all = *weights;
      for (const auto& [name, array] : given) all[name] = array;
      outputs = graph->run(all);
    } catch (...) {
      autograd::state() = outer;
      throw;
    }
    autograd::state() = outer;
  }

  const Handle& output(mx_uint index) {
    if (outputs.empty()) forward();
    if (index >= outputs.size())
      refuse("output " + std::to_string(index) + "; the model has " +
             std::to_string(outputs.size()));
    return outputs[index];
  }

  const std::shared_ptr<const Graph> graph;
  const std::shared_ptr<const Graph::Values> weights;
  const Context context;
  Graph::Values given;
  std::vector<Handle> outputs;
  std::vector<mx_uint> shape;  ///< that was asked for last
};

std::shared_ptr<Predictor> predictor_of(PredictorHandle handle) {
  return object_of<Predictor>(handle, "predictor");
}

Inputs inputs_from(mx_uint count, const char** keys, const mx_uint* begins,
                   const mx_uint* extents) {
  Inputs inputs;
  const auto names = need_span(keys, count, "input_keys");
  if (count) need(begins, "input_shape_indptr"), need(extents, "input_shape_data");
  for (mx_uint i = 0; i < count; ++i) {
    if (begins[i + 1] < begins[i]) refuse("input_shape_indptr goes down");
    const std::vector<std::int64_t> shape(extents + begins[i], extents + begins[i + 1]);
    inputs[need_text(names[i], "an input key")] =
        shape_from(shape.data(), static_cast<int>(shape.size()));
  }
  return inputs;
}

/// So many predictors that share the weights, to `out`.
int create(const char* json, const void* bytes, int size, int device, int device_id,
           mx_uint input_count, const char** keys, const mx_uint* begins, const mx_uint* extents,
           mx_uint output_count, const char** output_keys, int count, PredictorHandle* out) {
  return guarded([&] {
    std::vector<std::string> wanted;
    for (const char* key : need_span(output_keys, output_count, "output_keys"))
      wanted.emplace_back(need_text(key, "an output key"));
    const auto graph =
        std::make_shared<const Graph>(need_text(json, "symbol_json_str"), "the graph", wanted);
    const auto parameters = need_span(static_cast<const char*>(bytes), size, "param_bytes");
    const auto weights = std::make_shared<const Graph::Values>(weights_of(
        arrays_in({parameters.data(), parameters.size()}, "the parameters"), "the parameters"));
    const Context context = context_from(device, device_id);
    const Inputs inputs = inputs_from(input_count, keys, begins, extents);
    std::vector<std::shared_ptr<Predictor>> made;
    const auto targets = need_span(out, count, "out");
    while (made.size() < targets.size())
      made.push_back(std::make_shared<Predictor>(graph, weights, context, inputs));
    for (std::size_t i = 0; i < targets.size(); ++i)
      targets[i] = reinterpret_cast<PredictorHandle>(keep(std::move(made[i])));
  });
}

struct ArrayList : Object {
  explicit ArrayList(NamedArrays arrays) : names(std::move(arrays.names)) {
    names.resize(arrays.arrays.size());
    for (const Handle& array : arrays.arrays) {
      const Handle as_read = as_float(array);
      std::vector<mx_float>& values =
          elements.emplace_back(static_cast<std::size_t>(as_read.array.size()));
      read_array(as_read, values.data(), values.size() * sizeof(mx_float));
      shapes.emplace_back(as_read.array.shape().begin(), as_read.array.shape().end());
    }
  }

  std::vector<std::string> names;
  std::vector<std::vector<mx_float>> elements;
  std::vector<std::vector<mx_uint>> shapes;
};

}  // namespace
}  // namespace afterglow::c_api

using namespace afterglow;
using namespace afterglow::c_api;

extern "C" {

const char* MXGetLastError(void) {
  return AGGetLastError();
}

int MXPredCreate(const char* symbol_json_str, const void* param_bytes, int param_size, int dev_type,
                 int dev_id, mx_uint num_input_nodes, const char** input_keys,
                 const mx_uint* input_shape_indptr, const mx_uint* input_shape_data,
                 PredictorHandle* out) {
  return create(symbol_json_str, param_bytes, param_size, dev_type, dev_id, num_input_nodes,
                input_keys, input_shape_indptr, input_shape_data, 0, nullptr, 1, out);
}

int MXPredCreatePartialOut(const char* symbol_json_str, const void* param_bytes, int param_size,
                           int dev_type, int dev_id, mx_uint num_input_nodes,
                           const char** input_keys, const mx_uint* input_shape_indptr,
                           const mx_uint* input_shape_data, mx_uint num_output_nodes,
                           const char** output_keys, PredictorHandle* out) {
  return create(symbol_json_str, param_bytes, param_size, dev_type, dev_id, num_input_nodes,
                input_keys, input_shape_indptr, input_shape_data, num_output_nodes, output_keys, 1,
                out);
}

int MXPredCreateMultiThread(const char* symbol_json_str, const void* param_bytes, int param_size,
                            int dev_type, int dev_id, mx_uint num_input_nodes,
                            const char** input_keys, const mx_uint* input_shape_indptr,
                            const mx_uint* input_shape_data, int num_threads,
                            PredictorHandle* out) {
  return create(symbol_json_str, param_bytes, param_size, dev_type, dev_id, num_input_nodes,
                input_keys, input_shape_indptr, input_shape_data, 0, nullptr, num_threads, out);
}

int MXPredReshape(mx_uint num_input_nodes, const char** input_keys,
                  const mx_uint* input_shape_indptr, const mx_uint* input_shape_data,
                  PredictorHandle handle, PredictorHandle* out) {
  return guarded([&] {
    const auto known = predictor_of(handle);
    Inputs inputs;
    for (const auto& [name, array] : known->given)
      inputs[name] = Shape(array.array.shape().begin(), array.array.shape().end());
    for (const auto& [name, shape] :
         inputs_from(num_input_nodes, input_keys, input_shape_indptr, input_shape_data))
      inputs[name] = shape;
    need(out, "out") = reinterpret_cast<PredictorHandle>(
        keep(std::make_shared<Predictor>(known->graph, known->weights, known->context, inputs)));
  });
}

int MXPredGetOutputShape(PredictorHandle handle, mx_uint index, mx_uint** shape_data,
                         mx_uint* shape_ndim) {
  return guarded([&] {
    const auto predictor = predictor_of(handle);
    const auto shape = predictor->output(index).array.shape();
    predictor->shape.assign(shape.begin(), shape.end());
    need(shape_data, "shape_data") = predictor->shape.data();
    need(shape_ndim, "shape_ndim") = static_cast<mx_uint>(shape.size());
  });
}

int MXPredGetOutputType(PredictorHandle handle, mx_uint out_index, int* out_dtype) {
  return guarded([&] {
    need(out_dtype, "out_dtype") =
        static_cast<int>(predictor_of(handle)->output(out_index).array.dtype);
  });
}

int MXPredSetInput(PredictorHandle handle, const char* key, const mx_float* data, mx_uint size) {
  return guarded([&] {
    const auto predictor = predictor_of(handle);
    const auto found = predictor->given.find(need_text(key, "key"));
    if (found == predictor->given.end())
      refuse("the predictor has no input '" + std::string(key) + "'");
    const Array& before = found->second.array;
    found->second = array_from(data, std::size_t{size} * sizeof(mx_float),
                               Shape(before.shape().begin(), before.shape().end()), DType::float32,
                               predictor->context);
  });
}

int MXPredForward(PredictorHandle handle) {
  return guarded([&] { predictor_of(handle)->forward(); });
}

int MXPredPartialForward(PredictorHandle handle, int step, int* step_left) {
  return guarded([&] {
    const auto predictor = predictor_of(handle);
    if (step == 0) predictor->forward();
    need(step_left, "step_left") = 0;
  });
}

int MXPredGetOutput(PredictorHandle handle, mx_uint index, mx_float* data, mx_uint size) {
  return guarded([&] {
    const auto predictor = predictor_of(handle);
    read_array(as_float(predictor->output(index)), data, std::size_t{size} * sizeof(mx_float));
  });
}

int MXPredFree(PredictorHandle handle) {
  return guarded([&] { free_object<Predictor>(handle, "predictor"); });
}

int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                   mx_uint* out_length) {
  return guarded([&] {
    const auto bytes = need_span(nd_file_bytes, nd_file_size, "nd_file_bytes");
    need(out, "out");
    auto list =
        std::make_shared<ArrayList>(arrays_in({bytes.data(), bytes.size()}, "the list of arrays"));
    need(out_length, "out_length") = static_cast<mx_uint>(list->names.size());
    *out = reinterpret_cast<NDListHandle>(keep(std::move(list)));
  });
}

int MXNDListGet(NDListHandle handle, mx_uint index, const char** out_key, const mx_float** out_data,
                const mx_uint** out_shape, mx_uint* out_ndim) {
  return guarded([&] {
    const auto list = object_of<ArrayList>(handle, "list");
    if (index >= list->names.size())
      refuse("array " + std::to_string(index) + " of " + std::to_string(list->names.size()),
             ErrorKind::index);
    need(out_key, "out_key") = list->names[index].c_str();
    need(out_data, "out_data") = list->elements[index].data();
    need(out_shape, "out_shape") = list->shapes[index].data();
    need(out_ndim, "out_ndim") = static_cast<mx_uint>(list->shapes[index].size());
  });
}

int MXNDListFree(NDListHandle handle) {
  return guarded([&] { free_object<ArrayList>(handle, "list"); });
}

}  // extern "C"
