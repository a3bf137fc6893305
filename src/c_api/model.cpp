// SPDX-License-Identifier: Apache-2.0
#include "c_api/model.h"

#include <algorithm>
#include <cmath>

#include "autograd/call_builder.h"
#include "c_api/json.h"
#include "ops/operators.h"

namespace afterglow::c_api {
namespace {

using autograd::Handle;

const Json& member(const Json& object, std::string_view name, Json::Kind kind,
                   const std::string& source) {
  const Json* found = object.member(name);
  if (!found || found->kind != kind)
    refuse("[load] " + source + " is no graph, or damaged: it has no '" + std::string(name) + "'");
  return *found;
}

std::vector<std::string> output_names(const GraphNode& node) {
  if (!node.invocation) return {node.name};
  const NamedOp& named = node.invocation->named();
  std::vector<std::string> names = lazy::node_form(*named.op, node.invocation->arguments()).outputs;
  for (std::string& name : names) name = node.name + "_" + name;
  return names;
}

/// Of a loss, its label.
bool is_label(const GraphNode& node, std::size_t input) {
  const lazy::Op& op = *node.invocation->named().op;
  return op.in_graphs.is_loss && op.complete && input == 1 && op.inputs.size() == 2;
}

/// Zeros in place of a label that nobody gives: a prediction does not read it.
Handle label_for(const GraphNode& node, const Handle& data) {
  const NamedOp& named = node.invocation->named();
  lazy::Completion completion{*named.op, node.invocation->arguments(), {}};
  completion.shapes = {Shape(data.array.shape().begin(), data.array.shape().end()), {}};
  named.op->complete(completion);
  if (!completion.shapes[1]) refuse("the label of " + node.name + " must be given");
  return ops::full(0, *completion.shapes[1], data.array.dtype, data.array.context());
}

}  // namespace

Graph::Graph(std::string_view json, const std::string& source, std::span<const std::string> wanted)
    : source_(source) {
  const Json graph = json_from(json, source);
  if (graph.kind != Json::Kind::object) refuse("[load] " + source + " is no graph");
  for (const Json& item : member(graph, "nodes", Json::Kind::list, source).items) read_node(item);
  for (const Json& item : member(graph, "heads", Json::Kind::list, source).items)
    heads_.push_back(place_from(item, "a head"));
  if (!wanted.empty()) heads_.clear();
  for (const std::string& name : wanted) {
    const std::size_t before = heads_.size();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::vector<std::string> names = output_names(nodes_[i]);
      const auto found = std::ranges::find(names, name);
      if (found == names.end() && nodes_[i].name != name) continue;
      const auto output = found == names.end() ? 0 : found - names.begin();
      heads_.push_back({i, static_cast<std::size_t>(output)});
      break;
    }
    if (heads_.size() == before) refuse("[load] " + source + " has no output '" + name + "'");
  }
  if (heads_.empty()) refuse("[load] " + source + " has no outputs");
  find_needed();
}

Place Graph::place_from(const Json& item, const std::string& what) const {
  const auto number = [&](std::size_t index) {
    const double value = item.items[index].number;
    if (item.items[index].kind != Json::Kind::number || value < 0 || value != std::floor(value) ||
        value > 1e9)
      refuse("[load] " + source_ + " is damaged: " + what + " is no place in it");
    return static_cast<std::size_t>(value);
  };
  if (item.kind != Json::Kind::list || item.items.size() < 2 || item.items.size() > 3)
    refuse("[load] " + source_ + " is damaged: " + what + " is no place in it");
  const Place place{number(0), number(1)};
  if (place.node >= nodes_.size())
    refuse("[load] " + source_ + " is damaged: " + what + " is node " + std::to_string(place.node) +
           "; there are " + std::to_string(nodes_.size()) + " before it");
  return place;
}

void Graph::read_node(const Json& item) {
  if (item.kind != Json::Kind::object) refuse("[load] " + source_ + " has a node that is none");
  GraphNode node;
  node.name = member(item, "name", Json::Kind::text, source_).text;
  std::string op = member(item, "op", Json::Kind::text, source_).text;
  if (const Json* inputs = item.member("inputs"))
    for (const Json& input : inputs->items)
      node.inputs.push_back(place_from(input, "an input of " + node.name));
  if (const Json* graphs = item.member("subgraphs"); graphs && !graphs->items.empty())
    refuse("[load] " + source_ + ": " + node.name + " (" + op +
               ") holds graphs, which the C interface does not run",
           ErrorKind::not_implemented);
  if (op == "null" && !node.inputs.empty())
    refuse("[load] " + source_ + " is damaged: " + node.name + " is a variable and has inputs");
  if (op != "null") {
    Attributes attributes;
    for (const char* key : {"param", "attr", "attrs"}) {  // of older files, oldest first
      const Json* found = item.member(key);
      if (!found) continue;
      for (const auto& [name, value] : found->members) {
        if (value.kind != Json::Kind::text)
          refuse("[load] " + source_ + " is damaged: " + name + " of " + node.name + " is no text");
        attributes.emplace_back(name, value.text);
      }
    }
    if (op.ends_with("_v1")) op.resize(op.size() - 3);
    // Their arguments in files are not those of the op.
    if (op == "_split_v2" || op == "_full")
      refuse("[load] " + source_ + ": the C interface does not have " + op,
             ErrorKind::not_implemented);
    try {
      node.invocation = std::make_unique<Invocation>(op, attributes, true);
    } catch (const Error& error) {
      refuse("[load] " + source_ + ": " + node.name + ": " + error.what(), error.kind());
    }
  }
  nodes_.push_back(std::move(node));
}

void Graph::find_needed() {
  is_needed_.assign(nodes_.size(), false);
  last_use_.assign(nodes_.size(), 0);
  for (const Place& head : heads_) {
    is_needed_[head.node] = true;
    last_use_[head.node] = nodes_.size();
    const std::vector<std::string> names = output_names(nodes_[head.node]);
    outputs_.push_back(head.output < names.size()
                           ? names[head.output]
                           : nodes_[head.node].name + "_output" + std::to_string(head.output));
  }
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!is_needed_[i]) continue;
    for (std::size_t k = 0; k < nodes_[i].inputs.size(); ++k) {
      const std::size_t source = nodes_[i].inputs[k].node;
      is_needed_[source] = true;
      last_use_[source] = std::max(last_use_[source], i);
      if (is_label(nodes_[i], k) && !nodes_[source].invocation) labels_.insert(nodes_[source].name);
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (is_needed_[i] && !nodes_[i].invocation) variables_.push_back(nodes_[i].name);
}

std::vector<Handle> Graph::run(const Values& given) const {
  std::vector<std::vector<Handle>> results(nodes_.size());
  std::vector<Handle> inputs;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const GraphNode& node = nodes_[i];
    if (!is_needed_[i]) continue;
    if (!node.invocation) {
      const auto found = given.find(node.name);
      if (found != given.end()) {
        results[i] = {found->second};
      } else if (!labels_.contains(node.name)) {
        refuse("the graph needs '" + node.name + "', which is neither given nor a weight");
      }
      continue;
    }
    inputs.clear();
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
      const Place& place = node.inputs[k];
      const std::vector<Handle>& made = results[place.node];
      if (made.empty() && is_label(node, k)) {
        inputs.push_back(label_for(node, inputs[0]));
      } else if (place.output >= made.size()) {
        refuse("an input of " + node.name + " is output " + std::to_string(place.output) + " of " +
               nodes_[place.node].name + ", which has " + std::to_string(made.size()));
      } else {
        inputs.push_back(made[place.output]);
      }
    }
    try {
      results[i] = node.invocation->call(inputs);
    } catch (const Error& error) {
      refuse(std::string(error.what()) + "\n  in node '" + node.name + "'", error.kind());
    }
    for (const Place& place : node.inputs)
      if (last_use_[place.node] == i) results[place.node].clear();
  }
  std::vector<Handle> heads;
  for (const Place& head : heads_) {
    if (head.output >= results[head.node].size())
      refuse("there is no output " + std::to_string(head.output) + " of " + nodes_[head.node].name);
    heads.push_back(results[head.node][head.output]);
  }
  return heads;
}

Graph::Values weights_of(NamedArrays arrays, const std::string& source) {
  if (arrays.names.size() != arrays.arrays.size())
    refuse("[load] " + source + " has arrays without names; weights need them");
  Graph::Values weights;
  for (std::size_t i = 0; i < arrays.names.size(); ++i) {
    const std::string& name = arrays.names[i];
    const bool has_kind = name.starts_with("arg:") || name.starts_with("aux:");
    weights[has_kind ? name.substr(4) : name] = std::move(arrays.arrays[i]);
  }
  return weights;
}

namespace {

struct ModelObject : Object {
  ModelObject(Graph its_graph, Graph::Values its_weights)
      : graph(std::move(its_graph)), weights(std::move(its_weights)) {
    for (const std::string& name : graph.variables())
      if (!weights.contains(name)) inputs.push_back(name);
    for (const std::string& name : inputs) input_names.push_back(name.c_str());
    for (const std::string& name : graph.outputs()) output_names.push_back(name.c_str());
  }

  const Graph graph;
  const Graph::Values weights;
  std::vector<std::string> inputs;
  std::vector<const char*> input_names, output_names;
};

std::shared_ptr<ModelObject> model_of(AGModelHandle handle) {
  return object_of<ModelObject>(handle, "model");
}

}  // namespace
}  // namespace afterglow::c_api

using namespace afterglow;
using namespace afterglow::c_api;

extern "C" {

int AGModelLoad(const char* symbol_path, const char* parameters_path, AGModelHandle* model) {
  return guarded([&] {
    const std::string symbol = need_text(symbol_path, "symbol_path"),
                      parameters = need_text(parameters_path, "parameters_path");
    need(model, "model") = reinterpret_cast<AGModelHandle>(keep(std::make_shared<ModelObject>(
        Graph(read_file(symbol), "'" + symbol + "'"),
        weights_of(arrays_in(read_file(parameters), "'" + parameters + "'"), parameters))));
  });
}

int AGModelFree(AGModelHandle model) {
  return guarded([&] { free_object<ModelObject>(model, "model"); });
}

int AGModelListInputs(AGModelHandle model, size_t* count, const char* const** names) {
  return guarded([&] {
    const auto object = model_of(model);
    need(count, "count") = object->input_names.size();
    need(names, "names") = object->input_names.data();
  });
}

int AGModelListOutputs(AGModelHandle model, size_t* count, const char* const** names) {
  return guarded([&] {
    const auto object = model_of(model);
    need(count, "count") = object->output_names.size();
    need(names, "names") = object->output_names.data();
  });
}

int AGModelRun(AGModelHandle model, int input_count, const char* const* names,
               const AGArrayHandle* inputs, int* output_count, AGArrayHandle** outputs) {
  return guarded([&] {
    const auto object = model_of(model);
    const auto keys = need_span(names, input_count, "names");
    const auto arrays = need_span(inputs, input_count, "inputs");
    Graph::Values given = object->weights;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string name = need_text(keys[i], "a name");
      if (std::ranges::find(object->graph.variables(), name) == object->graph.variables().end())
        refuse("the model has no input '" + name + "'");
      given[name] = array_of(arrays[i])->handle;
    }
    give_out(object->graph.run(given), output_count, outputs);
  });
}

}  // extern "C"
