// SPDX-License-Identifier: Apache-2.0
// What the tests of the window share: windows, arrays, issuing, waiting, and a gate that keeps the
// engine busy.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "lazy/immediate.h"
#include "lazy/issue.h"
#include "memory/pool.h"
#include "ops/table.h"

namespace support {

using namespace afterglow;
using lazy::Argument;
using lazy::Draft;
using lazy::Window;

inline std::unique_ptr<Window> threaded(int threads) {
  return std::make_unique<Window>(engine::make_threaded_engine(threads), false);
}

inline std::unique_ptr<Window> serial() {
  return std::make_unique<Window>(engine::make_serial_engine(), true);
}

inline Array filled(Shape shape, float value, Context context = {}) {
  Array array = Array::create(Layout::contiguous(shape), DType::float32, context);
  array.storage->take_buffer();
  auto* data = reinterpret_cast<float*>(array.data());
  for (std::int64_t i = 0; i < array.size(); ++i) data[i] = value;
  return array;
}

/// An array, or a number that travels in the call.
struct Input {
  Input(const Array& given) : array(given) {}
  Input(double given) : number(given) {}

  Array array;
  double number = 0;
};

inline void add_inputs(lazy::Call& call, const std::vector<Input>& inputs) {
  for (const Input& input : inputs) {
    lazy::Operand& operand = call.inputs.emplace_back();
    if (input.array.storage) {
      static_cast<Array&>(operand) = input.array;
    } else {
      lazy::set_immediate(operand, input.number);
    }
  }
}

/// Those given, then the defaults.
inline std::vector<Argument> arguments_of(const lazy::Op& op, std::vector<Argument> given) {
  for (std::size_t i = given.size(); i < op.parameters.size(); ++i) {
    given.push_back(op.parameters[i].default_value);
  }
  return given;
}

inline const lazy::Op& op_named(const char* name) {
  const lazy::Op* op = ops::table().find(name);
  if (!op) check::fail(__FILE__, __LINE__, std::string("no op ") + name);
  return *op;
}

/// Any op, with NumPy's rules.
inline Array call(Window& window, const char* name, const std::vector<Input>& inputs,
                  std::vector<Argument> given = {}, const Array* out = nullptr) {
  Draft draft(op_named(name));
  add_inputs(*draft, inputs);
  const std::vector<Argument> arguments = arguments_of(op_named(name), std::move(given));
  return lazy::issue(window, draft, {.arguments = arguments, .out = out});
}

inline Array apply(Window& window, const char* name, const Array& left, const Array& right,
                   const Array* out = nullptr) {
  return call(window, name, {left, right}, {}, out);
}

inline Array apply(Window& window, const char* name, const Array& left, double right,
                   const Array* out = nullptr) {
  return call(window, name, {left, right}, {}, out);
}

inline Array dot(Window& window, const Array& left, const Array& right) {
  return call(window, "dot", {left, right});
}

inline void wait(Window& window, const Array& array) {
  if (!window.make_ready(*array.storage, engine::WaitFor::read)) {
    window.wait(*array.storage, engine::WaitFor::read, {});
  }
  window.retire();
}

inline void finish(Window& window) {
  window.publish_all();
  window.wait_all({});
  window.retire();
}

inline float value(Window& window, const Array& array, std::int64_t index = 0) {
  wait(window, array);
  if (array.storage->failure) check::fail(__FILE__, __LINE__, array.storage->failure->message);
  return reinterpret_cast<float*>(array.data())[index];
}

inline Array slice(const Array& base, std::int64_t begin, std::int64_t count,
                   std::int64_t step = 1) {
  Array view = base;
  view.offset += begin;
  view.layout = Layout::strided(Shape{count}, Shape{step});
  return view;
}

inline Array transposed(const Array& matrix) {
  Array view = matrix;
  const auto shape = matrix.shape();
  const auto strides = matrix.layout->strides();
  view.layout = Layout::strided(Shape{shape[1], shape[0]}, Shape{strides[1], strides[0]});
  return view;
}

/// Rows [begin, begin + count * step) of a matrix, every `step`-th of them.
inline Array rows_of(const Array& matrix, std::int64_t begin, std::int64_t count,
                     std::int64_t step = 1) {
  Array view = matrix;
  const auto strides = matrix.layout->strides();
  view.offset += begin * strides[0];
  view.layout =
      Layout::strided(Shape{count, matrix.shape()[1]}, Shape{strides[0] * step, strides[1]});
  return view;
}

inline Array columns_of(const Array& matrix, std::int64_t begin, std::int64_t count,
                        std::int64_t step = 1) {
  Array view = matrix;
  const auto strides = matrix.layout->strides();
  view.offset += begin * strides[1];
  view.layout =
      Layout::strided(Shape{matrix.shape()[0], count}, Shape{strides[0], strides[1] * step});
  return view;
}

/// A handle goes, as the bindings let it go.
inline void let_go(Window& window, Array& array) {
  if (array.storage) window.handle_goes(*array.storage);
  array = {};
}

/// Calls that end only when they are let: with one per thread, the engine runs nothing else and the
/// window holds what is issued. One gate at a time.
class Gate {
 public:
  explicit Gate(Window& window) : window_(window) {
    closed() = true;
    for (int i = 0; i < window.engine().thread_limit(); ++i) {
      Draft draft(op());
      held_.push_back(lazy::issue(window, draft, {}));
      window.make_ready(*held_.back().storage, engine::WaitFor::read);
    }
  }
  ~Gate() {
    open();
    for (const Array& held : held_) window_.wait(*held.storage, engine::WaitFor::read, {});
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void open() {
    closed() = false;
    closed().notify_all();
  }

 private:
  struct Waiting : lazy::Pass {
    void run(int) override { closed().wait(true); }
  };
  static std::atomic<bool>& closed() {
    static std::atomic<bool> value{false};
    return value;
  }
  static const lazy::Op& op() {
    static const lazy::Op gate = {.name = "gate",
                                  .infer =
                                      [](lazy::Inference& inference) {
                                        inference.add_output(Shape{1}, DType::float32);
                                        inference.call.cost = 1e6;
                                      },
                                  .kernel = [](const lazy::Call&) -> std::unique_ptr<lazy::Pass> {
                                    return std::make_unique<Waiting>();
                                  }};
    return gate;
  }

  Window& window_;
  std::vector<Array> held_;
};

/// How many random programs to run, where AFTERGLOW_RANDOM_PROGRAMS does not say.
inline unsigned random_programs(unsigned otherwise) {
  const char* wanted = std::getenv("AFTERGLOW_RANDOM_PROGRAMS");
  return wanted ? static_cast<unsigned>(std::atoi(wanted)) : otherwise;
}

}  // namespace support
