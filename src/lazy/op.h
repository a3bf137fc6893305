// SPDX-License-Identifier: Apache-2.0
// What every op must state. One value of struct Op per op, declared in src/ops, is all there is to
// it: the front ends, the window, the runner and the documentation read it from there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "array/array.h"
#include "base/error.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"

namespace afterglow::lazy {

struct Call;

/// A parameter's value as the user gave it. Data types travel as their numbers, contexts as
/// {type, id}.
using Argument = std::variant<std::monostate, bool, std::int64_t, double, Shape, std::string>;

struct Parameter {
  std::string_view name;
  Argument default_value = {};
};

/// Work cut into shares, ready to run: see engine::Task.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual int shares() const { return 1; }
  virtual void run(int share) = 0;
  virtual void finish() {}
};

/// Called for parts of a product: rows [begin, end), columns [begin, end).
using Epilogue = std::function<void(std::int64_t row_begin, std::int64_t row_end,
                                    std::int64_t column_begin, std::int64_t column_end)>;

/// What an op's `infer` sees and decides: outputs, compute type, attributes and cost of the call.
struct Inference {
  const struct Op& op;
  Call& call;                           ///< with its inputs
  std::span<const Argument> arguments;  ///< one per parameter, defaults filled in
  bool legacy;                          ///< answers of mx.nd rather than NumPy's
  Context context;                      ///< for ops without inputs: where the user wants the result

  const Argument& argument(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  const Shape& shape(std::string_view name) const;
  bool is_none(std::string_view name) const;

  void add_output(Reference<Layout> layout, DType dtype);
  void add_output(std::span<const std::int64_t> shape, DType dtype);

  /// An error that starts with the op's name and ends with the inputs seen.
  [[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::value) const;
};

struct Op {
  std::string_view name;
  /// The names under which MXNet knows it (legacy, numpy and internal spellings).
  std::vector<std::string_view> mxnet_names = {};
  std::vector<std::string_view> inputs = {};
  bool variadic = false;  ///< the last input may be repeated
  std::vector<Parameter> parameters = {};
  void (*infer)(Inference&) = nullptr;
  /// Elementwise ops name their block kernel: such calls can run fused, block by block.
  std::optional<kernels::Formula> formula = {};
  /// All others make a pass over whole arrays.
  std::unique_ptr<Pass> (*kernel)(const Call&) = nullptr;
  /// Reductions say what they are, so that they can end a fused pass; the kernel takes the set of
  /// reduced axes from attribute 0.
  std::optional<kernels::Reduction> reduction = {};
  /// Products can hand each finished part of their result, rows by columns, to what follows; infer
  /// then sets Call::row_axes.
  std::unique_ptr<Pass> (*kernel_then)(const Call&, Epilogue) = nullptr;
  /// The kernel itself can refuse its data (an index out of range): never fused.
  bool may_fail = false;
  /// The call changes elements of its first input and returns that; it has no array of its own.
  bool updates = false;
  /// The default values of all parameters; the table sets them.
  std::vector<Argument> defaults = {};
};

}  // namespace afterglow::lazy
