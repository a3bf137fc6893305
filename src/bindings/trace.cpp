// SPDX-License-Identifier: Apache-2.0
// Recordings for afterglow/trace/recorder.py, and the names of layers.
#include "lazy/trace.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/functions.h"
#include "bindings/site.h"
#include "lazy/layer.h"

namespace afterglow::bindings {
namespace {

// Guarded by the GIL. A program that makes networks without end does not fill the memory with
// their names: later ones have none.
constexpr std::size_t most_layers = 1 << 16;
std::vector<std::string> layers{""};
std::unordered_map<std::string, std::int32_t> layer_numbers;

/// Equal names have one number: a program that makes the same network again and again has one name.
std::int32_t add_layer(const char* text) {
  const std::string name(text);
  if (const auto found = layer_numbers.find(name); found != layer_numbers.end())
    return found->second;
  if (layers.size() == most_layers) return 0;
  layers.push_back(name);
  return layer_numbers[name] = static_cast<std::int32_t>(layers.size() - 1);
}

nb::dict trace_events() {
  const lazy::trace::Events events = lazy::trace::events();
  nb::list threads, sites, signatures, names;
  for (const auto& [thread, worker, list] : events.threads) {
    threads.append(nb::make_tuple(
        thread, worker, nb::bytes(list.data(), list.size() * sizeof(lazy::trace::Event))));
  }
  for (const lazy::Site* site : events.sites) sites.append(describe_site(*site).c_str());
  for (const auto& [op, shapes, bytes, cost, device, from] : events.signatures) {
    const std::string source = from == device ? "" : to_string(from);
    signatures.append(nb::make_tuple(op.c_str(), shapes.c_str(), bytes, cost,
                                     to_string(device).c_str(), source.c_str()));
  }
  for (const std::string& layer : layers) names.append(layer.c_str());
  nb::dict result;
  result["start"] = events.start;
  result["end"] = events.end;
  result["lost"] = events.lost;
  result["threads"] = threads;
  result["sites"] = sites;
  result["signatures"] = signatures;
  result["layers"] = names;
  return result;
}

}  // namespace

bool is_layer(std::int32_t layer) {
  return layer > 0 && static_cast<std::size_t>(layer) < layers.size();
}

std::string layer_name(std::int32_t layer) {
  return layers.at(static_cast<std::size_t>(layer));
}

void bind_trace(nb::module_& module) {
  module.def("add_layer", add_layer, nb::arg("name"));
  module.def("layer_name", [](std::int32_t layer) { return nb::str(layer_name(layer).c_str()); });
  module.def("current_layer", [] { return lazy::current_layer; });
  module.def("start_trace", lazy::trace::start, nb::arg("most_events"));
  module.def("pause_trace", lazy::trace::pause);
  module.def("resume_trace", lazy::trace::resume);
  module.def("is_traced", lazy::trace::exists);
  module.def("trace_events", trace_events);
  module.def("clear_trace", lazy::trace::clear);
}

}  // namespace afterglow::bindings
