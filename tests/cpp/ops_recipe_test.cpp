// SPDX-License-Identifier: Apache-2.0
// The ops that CONTRIBUTING.md shows how to add, word for word (tests/test_recipes.py compares),
// and called, differentiated and completed as all others are.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "lazy/spelling.h"
#include "ops/common.h"
#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/table.h"
#include "ops_support.h"

using namespace afterglow;
using namespace ops;  // the operators
using lazy::Call;
using lazy::Completion;
using lazy::field;
using lazy::Inference;
using lazy::Operand;
using support::gradients;
using support::Handle;
using support::is_close;
using support::number;
using support::Recorded;
using support::variable;

namespace {

using ops::exp;  // of arrays, not of numbers

// --- an op with a kernel ---

struct LogSumExp {
  std::int64_t axis = -1;
  static constexpr auto fields =
      std::tuple{field("axis", &LogSumExp::axis, "along which the exponentials are added up")};
};

void logsumexp_infer(Inference& inference, const LogSumExp& given) {
  const Operand& data = inference.call.inputs[0];
  if (data.dtype != DType::float32)
    inference.refuse("got elements of another type; float32 is needed", ErrorKind::type);
  const int axis = axis_of_lines(inference, given.axis);
  Shape shape(data.shape().begin(), data.shape().end());
  shape.erase(shape.begin() + axis);
  if (inference.legacy && shape.empty()) shape = {1};  // nd has no arrays without dimensions
  inference.add_output(shape, data.dtype);
  inference.call.settled.set(axis);
  inference.call.cost = 100 + 10 * static_cast<double>(data.size());
}

class LogSumExpPass : public lazy::Pass {
 public:
  explicit LogSumExpPass(const Call& call)
      : lines_(lines_of(call, call.settled.get<int>())),
        result_(reinterpret_cast<float*>(call.outputs[0].data())) {}

  void run(int) override {
    for (std::int64_t line = 0; line < lines_.outer * lines_.inner; ++line) {
      const float* const first = static_cast<const float*>(lines_.data) +
                                 line / lines_.inner * lines_.length * lines_.inner +
                                 line % lines_.inner;
      float greatest = -std::numeric_limits<float>::infinity(), sum = 0;
      for (std::int64_t i = 0; i < lines_.length; ++i)
        greatest = std::max(greatest, first[i * lines_.inner]);
      for (std::int64_t i = 0; i < lines_.length; ++i)
        sum += std::exp(first[i * lines_.inner] - greatest);
      result_[line] = greatest + std::log(sum);
    }
  }

 private:
  const kernels::Lines lines_;
  float* const result_;
};

Value logsumexp_gradient(Gradient& c) {
  Shape kept = c.shape(0);
  const std::int64_t axis = c.parameters<LogSumExp>().axis;
  kept[static_cast<std::size_t>(axis < 0 ? axis + std::ssize(kept) : axis)] = 1;
  return shaped(c.g, kept) * exp(c[0] - shaped(c.output(), kept));
}

void declare_logsumexp(Table& table) {
  table.add<LogSumExp>({.name = "logsumexp",
                        .spellings = {"nd.contrib.logsumexp(data, axis=-1, out=None, name=None)",
                                      "npx.logsumexp(data, axis=-1, out=None)"},
                        .doc = "Return the logarithms of the sums of exponentials along an axis.",
                        .inputs = {"data"},
                        .infer = logsumexp_infer,
                        .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
                          return std::make_unique<LogSumExpPass>(call);
                        },
                        .gradients = {reading_output_and({0}, logsumexp_gradient)}});
}

// --- an op made of others ---

struct RmsNorm {
  double eps = 1e-6;
  static constexpr auto fields =
      std::tuple{field("eps", &RmsNorm::eps, "is added to the mean square")};
};

Value rms_norm(Composition& c, const RmsNorm& given) {
  if (rank_of(c[0]) == 0) c.refuse("got one number; data with an axis is needed");
  return c[0] * rsqrt(mean(square(c[0]), {-1}, true) + given.eps) * c[1];
}

void complete_rms_norm(Completion& completion, const RmsNorm&) {
  const std::optional<Shape>& data = completion.shapes[0];
  if (data && !data->empty()) completion.shapes[1] = Shape{data->back()};
}

void declare_rms_norm(Table& table) {
  table.compose<RmsNorm>({.name = "rms_norm",
                          .spellings = {"npx.rms_norm(data, gamma, eps=1e-6, out=None)"},
                          .doc = "Return the elements by their root mean square, scaled.",
                          .inputs = {"data", "gamma"},
                          .compose = rms_norm,
                          .complete = complete_rms_norm});
}

const lazy::Op& op(const char* name) {
  static const Table* const declared = [] {
    auto* table = new Table;
    declare_logsumexp(*table);
    declare_rms_norm(*table);
    return table;
  }();
  return *declared->find(name);
}

Value called(const lazy::Op& op, std::vector<Value> inputs,
             const std::vector<lazy::Argument>& arguments, bool legacy = false) {
  return ops::call(op, inputs, {arguments, {}, nullptr}, legacy);
}

}  // namespace

TEST("an op with a kernel: value, gradient, gradient of the gradient") {
  const Value x = variable({0, 1, 2, 3, 4, 5});
  for (const std::int64_t axis : {0, -1}) {
    Value y, slope;
    {
      const Recorded scope;
      y = called(op("logsumexp"), {shaped(x, {2, 3})}, lazy::write_arguments(LogSumExp{axis}));
      slope = gradients(sum(y, {0}, false), {x}, false)[0];
    }
    const double step = axis == 0 ? 3 : 1;
    const double total = axis == 0 ? 1 + std::exp(3.0) : 1 + std::exp(1.0) + std::exp(2.0);
    CHECK_EQUAL(y.array.shape()[0], axis == 0 ? 3 : 2);
    CHECK(is_close(number(y), std::log(total)));
    CHECK(is_close(number(slope), 1 / total));
    CHECK(is_close(number(slope, static_cast<std::int64_t>(step)), std::exp(step) / total));
    const Handle second = gradients(slope, {x})[0];  // of the sum of all slopes, which is constant
    CHECK(std::abs(number(second)) < 1e-5);
  }
}

TEST("an op with a kernel: what both worlds answer, and what is refused") {
  const std::vector<lazy::Argument>& defaults = op("logsumexp").defaults;
  CHECK_EQUAL(called(op("logsumexp"), {variable({1, 2})}, defaults).array.layout->rank(), 0);
  CHECK_EQUAL(called(op("logsumexp"), {variable({1, 2})}, defaults, true).array.layout->rank(), 1);
  CHECK_THROWS("[logsumexp] axis 1",
               called(op("logsumexp"), {variable({1, 2})}, lazy::write_arguments(LogSumExp{1})));
  CHECK_THROWS("float32 is needed",
               called(op("logsumexp"), {copy(variable({1}), DType::int32)}, defaults));
}

TEST("an op made of others: value, gradient without a rule of its own") {
  const Value x = variable({3, 4}), gamma = variable({1, 2});
  Value y;
  {
    const Recorded scope;
    y = called(op("rms_norm"), {x, gamma}, lazy::write_arguments(RmsNorm{.eps = 0}));
  }
  const double root = std::sqrt(12.5);
  CHECK(is_close(number(y, 1), 8 / root));
  const std::vector<Handle> found = gradients(y, {x, gamma});
  CHECK(is_close(number(found[0]), 1 / root - 3 * (3 + 8) / (2 * root * root * root)));
  CHECK(is_close(number(found[1], 1), 4 / root));
  CHECK_THROWS("[rms_norm] got one number",
               called(op("rms_norm"), {sum(x, {0}, false), gamma}, op("rms_norm").defaults));
  CHECK_THROWS("[rms_norm] is made of other ops",
               apply(op("rms_norm"), op("rms_norm").defaults, x, gamma));
}

TEST("an op made of others: the shapes of weights") {
  const lazy::Op& its = op("rms_norm");
  Completion completion{its, its.defaults, {Shape{5, 7}, {}}};
  its.complete(completion);
  CHECK(completion.shapes[1] == (Shape{7}));
}

TEST("both are functions of the namespaces that they state") {
  const std::vector<lazy::Spelling> first = lazy::spellings_of(op("logsumexp"));
  const std::vector<lazy::Spelling> second = lazy::spellings_of(op("rms_norm"));
  CHECK_EQUAL(first.size(), 2u);
  CHECK_EQUAL(first[0].space, "nd.contrib");
  CHECK_EQUAL(first[1].space, "npx");
  CHECK_EQUAL(second.size(), 1u);
  CHECK_EQUAL(second[0].names[0], "rms_norm");
}

CHECK_MAIN
