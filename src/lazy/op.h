// SPDX-License-Identifier: Apache-2.0
// What every op must state. One value of struct Op per op, declared in src/ops, is all there is to
// it: the front ends, the window, the runner and the documentation read it from there.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "array/array.h"
#include "base/error.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "lazy/parameters.h"

namespace afterglow::autograd {
class Composition;
class Gradient;
class Value;
}  // namespace afterglow::autograd

namespace afterglow::lazy {

struct Call;
struct Prediction;

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

/// How a call goes from rows to rows: those of its result need the same rows of its first input,
/// and whatever they like of the others.
struct RowForm {
  std::int64_t rows = 0;
  std::int64_t length = 0, results = 0;  ///< elements of a row of the first input, of the result
  /// Rows belong to matrices of so many, which are cut into tiles of so many; with tiles of 0 it
  /// does not go by rows.
  std::int64_t matrix = 1, tile = 1;
  bool reads_rows = true;  ///< the first input has its rows one behind the other
};

/// Some rows of such a call.
class RowKernel {
 public:
  virtual ~RowKernel() = default;
  /// Rows [begin, end), whole tiles, from `source` (nullptr: from where the first input is) to
  /// `target`, which may be the same where rows are as long.
  virtual void run(std::int64_t begin, std::int64_t end, const void* source, void* target) = 0;
};

/// What an op's `infer` sees and decides: outputs, compute type, settled values and cost of
/// the call.
struct Inference {
  const struct Op& op;
  Call& call;                           ///< with its inputs
  std::span<const Argument> arguments;  ///< one per parameter, defaults filled in
  bool legacy;                          ///< answers of mx.nd rather than NumPy's
  Context context;                      ///< for ops without inputs: where the user wants the result

  void add_output(Reference<Layout> layout, DType dtype);
  void add_output(std::span<const std::int64_t> shape, DType dtype);

  template <class Parameters>
  Parameters parameters() const {
    return read_parameters<Parameters>(
        arguments, [&](const Refusal& refusal) { refuse(refusal.text, refusal.kind); });
  }

  /// An error that starts with the op's name and ends with the inputs seen.
  [[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::value) const;
};

/// The parameters of a call of an op; refuses with its name.
template <class Parameters>
Parameters given_parameters(const struct Op& op, std::span<const Argument> arguments);

/// What an op's `complete` sees and adds to: the shapes of its inputs as far as they are known.
struct Completion {
  const struct Op& op;
  std::span<const Argument> arguments;  ///< one per parameter, defaults filled in
  /// One per input; none where nothing is known, -1 for an extent that is not.
  std::vector<std::optional<Shape>> shapes;
  /// Of ops that say them: the shapes of all results, as far as they follow from those of the
  /// inputs.
  std::vector<Shape> results = {};

  template <class Parameters>
  Parameters parameters() const {
    return given_parameters<Parameters>(op, arguments);
  }

  /// An error that starts with the op's name, and ends with the shapes that are known.
  [[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::value) const;
};

/// What an op's `node` sees and decides: what a call with these parameters is in a graph, which is
/// written down before there are arrays.
struct NodeForm {
  const struct Op& op;
  std::span<const Argument> arguments;  ///< one per parameter, defaults filled in
  /// Whether each input is there; where nobody gives one that is, a variable stands for it.
  std::vector<bool> inputs;
  /// The names of the results. Files count all of them; programs can use the first `usable`.
  std::vector<std::string> outputs = {"output"};
  std::optional<std::size_t> usable = {};  ///< none: all

  template <class Parameters>
  Parameters parameters() const {
    return given_parameters<Parameters>(op, arguments);
  }
};

/// The names of so many results that have no others.
std::vector<std::string> numbered_outputs(std::int64_t count);

/// The form that the inputs and parameters of an op tell: one that need not be given is there if
/// the parameter says so that is named after it, `use_sequence_length`.
NodeForm node_form(const struct Op& op, std::span<const Argument> arguments);

/// How the array begins that stands for an input nobody gives, in the words of initializers.
struct Beginning {
  std::string_view input;
  std::string_view words;
};

/// What is the same of all nodes of an op.
struct InGraphs {
  /// So many of the last inputs are states of its own, which it changes.
  int auxiliary = 0;
  std::vector<Beginning> beginnings = {};
  /// Gradients start from it by themselves.
  bool is_loss = false;
  /// It draws numbers, in a shape that a parameter says.
  bool is_random = false;
  /// All results have one shape, and so have all inputs that must be given.
  bool alike = false;
  /// Of the results in each world, where it is neither that of the inputs nor the parameter
  /// `dtype`.
  std::optional<DType> nd_type = {}, np_type = {};
};

/// The gradient of one input of an op, written with ops on handles (autograd/gradient.h).
struct GradientRule {
  /// None: zero by nature, and whatever depends on nothing else is not recorded.
  autograd::Value (*function)(autograd::Gradient&) = nullptr;
  /// What it reads, which is all that is kept for it: one bit each, the last bit for all that
  /// follow.
  std::uint32_t inputs = 0, outputs = 0;
};

/// For GradientRule::inputs and outputs.
constexpr std::uint32_t reads(std::initializer_list<int> numbers) {
  std::uint32_t bits = 0;
  for (const int number : numbers) bits |= 1u << number;
  return bits;
}

/// A function that an op states. Beside its subject it may take the parameters as their struct,
/// which are then read for it.
template <class Result, class Subject>
class Stated {
 public:
  Stated() = default;
  Stated(Result (*function)(Subject&)) : function_(reinterpret_cast<Untyped>(function)) {}
  template <class Parameters>
  Stated(Result (*function)(Subject&, const Parameters&))
      : function_(reinterpret_cast<Untyped>(function)), read_([](Subject& subject, Untyped typed) {
          const auto parameters = subject.template parameters<Parameters>();
          return reinterpret_cast<decltype(function)>(typed)(subject, parameters);
        }) {}
  template <class Lambda>
    requires std::is_class_v<Lambda>
  Stated(Lambda lambda) : Stated(+lambda) {}

  explicit operator bool() const { return function_; }
  Result operator()(Subject& subject) const {
    return read_ ? read_(subject, function_)
                 : reinterpret_cast<Result (*)(Subject&)>(function_)(subject);
  }

 private:
  using Untyped = void (*)();
  Untyped function_ = nullptr;
  Result (*read_)(Subject&, Untyped) = nullptr;
};

struct Op {
  std::string_view name;
  /// The names under which MXNet knows it (legacy, numpy and internal spellings).
  std::vector<std::string_view> mxnet_names = {};
  /// How programs call it, where that is not plain: see lazy/spelling.h.
  std::vector<std::string_view> spellings = {};
  /// For users: a line on what it does, more where there is more to say, and examples in Python,
  /// which are run. An op that has it is a function of the namespaces that its names belong to.
  std::string_view doc = {};
  std::vector<std::string_view> inputs = {};
  bool variadic = false;  ///< the last input may be repeated
  /// Of an op that is made of others: numbers may stand for arrays. (Ops with kernels say so when
  /// they infer.)
  bool takes_numbers = false;
  /// So many of the last inputs need not be given.
  int optional_inputs = 0;
  std::vector<Parameter> parameters = {};
  Stated<void, Inference> infer = {};
  /// The block kernel of an elementwise op, which the table finds where it is named like the op:
  /// such calls can run fused, block by block.
  std::optional<kernels::Formula> formula = {};
  /// All others make a pass over whole arrays.
  std::unique_ptr<Pass> (*kernel)(const Call&) = nullptr;
  /// Instead of both: infer shows the input through a view, which is copied (ops/seen.h).
  bool copies_view = false;
  /// Reductions say what they are, so that they can end a fused pass; the kernel takes the set of
  /// reduced axes from Call::reduced_axes.
  std::optional<kernels::Reduction> reduction = {};
  /// Products can hand each finished part of their result, rows by columns, to what follows; infer
  /// then sets Call::row_axes.
  std::unique_ptr<Pass> (*kernel_then)(const Call&, Epilogue) = nullptr;
  /// Of a convolution, in a block for prediction: adds the calls that compute it, and what is
  /// multiplied and added afterwards, with channels last, and returns the result; an array without
  /// a storage where it cannot. See lazy/prediction.h.
  Array (*predict)(Prediction&) = nullptr;
  /// Of others that images pass through: settles a call whose operands have channels last.
  void (*put_channels_last)(Call&) = nullptr;
  /// Both or none: a call that goes from rows to rows, which can be part of a RowChain.
  RowForm (*row_form)(const Call&) = nullptr;
  std::unique_ptr<RowKernel> (*row_kernel)(const Call&) = nullptr;
  /// The kernel itself can refuse its data (an index out of range): never fused.
  bool may_fail = false;
  /// The call changes elements of its first input and returns that; it has no array of its own.
  bool updates = false;
  /// One rule per input; the last one serves all further inputs of a variadic op. None at all: the
  /// front end has the rules, or there are none.
  std::vector<GradientRule> gradients = {};
  /// Instead of infer and kernel: how it is made of other ops, whose gradients are its own unless
  /// it has some.
  Stated<autograd::Value, autograd::Composition> compose = {};
  /// Of a composition of arrays that are given alone: the op that is all of it, if one is.
  const Op* (*instead)(std::span<const Array* const>) = nullptr;
  /// Whether a function takes such inputs; its other forms have the others (see Spelling).
  bool (*is_plain)(const Call&) = nullptr;
  /// The shapes of weights, from that of the data, and those of the results.
  Stated<void, Completion> complete = {};
  InGraphs in_graphs = {};
  /// What a call is in a graph, where that depends on parameters or has other names than usual.
  Stated<void, NodeForm> node = {};
  /// A function of the host language computes it: see lazy/host.h.
  bool is_host = false;
  /// The default values of all parameters; the table sets them.
  std::vector<Argument> defaults = {};
};

template <class Parameters>
Parameters given_parameters(const Op& op, std::span<const Argument> arguments) {
  return read_parameters<Parameters>(arguments, [&](const Refusal& refusal) {
    throw Error(refusal.kind, "[" + std::string(op.name) + "] " + refusal.text);
  });
}

}  // namespace afterglow::lazy
