// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string_view>

#include "lazy/window.h"

namespace afterglow::lazy {
namespace {

bool wants_serial() {
  const char* engine = std::getenv("AFTERGLOW_ENGINE");
  if (engine) return std::string_view(engine) == "serial";
  const char* type = std::getenv("MXNET_ENGINE_TYPE");
  return type && std::string_view(type) == "NaiveEngine";
}

}  // namespace

Window& window() {
  // Never destroyed: threads may still be in it while the process ends.
  static Window* const instance = [] {
    const bool serial = wants_serial();
    return new Window(serial ? engine::make_serial_engine()
                             : engine::make_threaded_engine(engine::default_thread_limit()),
                      serial);
  }();
  return *instance;
}

}  // namespace afterglow::lazy
