// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <utility>

namespace afterglow::engine {

namespace {

class FunctionTask final : public Task {
 public:
  explicit FunctionTask(std::function<void()> function) : function_(std::move(function)) {}
  void run(int) override { function_(); }

 private:
  std::function<void()> function_;
};

}  // namespace

std::uint64_t Engine::push(std::function<void()> function, std::span<Variable* const> reads,
                           std::span<Variable* const> writes, PushOptions options) {
  return push(std::make_unique<FunctionTask>(std::move(function)), reads, writes, options);
}

}  // namespace afterglow::engine
