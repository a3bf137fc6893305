// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
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

/// A number of bytes, or of seconds; "inf" for no limit. False where there is none.
bool read_limit(const char* name, double& limit) {
  const char* text = std::getenv(name);
  char* end = nullptr;
  const double value = text ? std::strtod(text, &end) : -1;
  if (end == text || !end || *end != '\0' || !(value >= 0)) return false;
  limit = value;
  return true;
}

/// AFTERGLOW_DISABLE_PASSES: names separated by commas, or "all".
void read_passes(PassSwitches& switches) {
  const char* text = std::getenv("AFTERGLOW_DISABLE_PASSES");
  if (!text) return;
  const std::string wanted = "," + std::string(text) + ",";
  for (const auto& [name, member] : PassSwitches::column()) {
    const bool named = wanted.find("," + std::string(name) + ",") != std::string::npos;
    if (named || wanted == ",all,") switches.*member = false;
  }
}

}  // namespace

Window& window() {
  // Never destroyed: threads may still be in it while the process ends.
  static Window* const instance = [] {
    const bool serial = wants_serial();
    auto* made = new Window(serial ? engine::make_serial_engine()
                                   : engine::make_threaded_engine(engine::default_thread_limit()),
                            serial);
    RunAheadLimits limits;
    if (read_limit("AFTERGLOW_RUN_AHEAD_BYTES", limits.bytes)) limits.held_bytes = limits.bytes;
    read_limit("AFTERGLOW_RUN_AHEAD_SECONDS", limits.seconds);
    made->set_run_ahead(limits);
    read_passes(made->passes());
    return made;
  }();
  return *instance;
}

}  // namespace afterglow::lazy
