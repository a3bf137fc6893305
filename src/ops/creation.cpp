// SPDX-License-Identifier: Apache-2.0
// Arrays out of nothing. `full` and its kin are the op "copy" of a number (ops/shape.cpp).
#include <algorithm>
#include <type_traits>

#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::Inference;

/// Memory as it comes: the value is whatever was there.
class NothingPass : public lazy::Pass {
 public:
  int shares() const override { return 0; }
  void run(int) override {}
};

template <class T>
class ArangePass : public lazy::Pass {
 public:
  explicit ArangePass(const Call& call)
      : output_(reinterpret_cast<T*>(call.outputs[0].data())),
        size_(call.outputs[0].size()),
        repeat_(call.attributes[2].integer),
        is_exact_(call.attributes[3].integer),
        start_(call.attributes[0]),
        step_(call.attributes[1]) {}
  int shares() const override { return static_cast<int>((size_ + share_size - 1) / share_size); }
  void run(int share) override {
    const std::int64_t begin = share * share_size;
    const std::int64_t end = std::min(size_, begin + share_size);
    if (repeat_ == 1 && is_exact_) return count_exactly(begin, end);
    if (repeat_ == 1 && std::is_floating_point_v<T>) return count_from(begin, end);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t position = repeat_ == 1 ? i : i / repeat_;
      if (is_exact_) {
        output_[i] = static_cast<T>(start_.integer + step_.integer * position);
        continue;
      }
      const double value = start_.number + step_.number * static_cast<double>(position);
      if constexpr (std::is_integral_v<T>) {
        output_[i] = static_cast<T>(static_cast<std::int64_t>(value));
      } else {
        output_[i] = static_cast<T>(value);
      }
    }
  }

 private:
  static constexpr std::int64_t share_size = 1 << 18;

  /// Positions within a share have 32 bits, which many processors convert several at a time.
  void count_from(std::int64_t begin, std::int64_t end) const {
    const double base = static_cast<double>(begin), start = start_.number, step = step_.number;
    T* output = output_ + begin;
    const auto count = static_cast<std::int32_t>(end - begin);
    for (std::int32_t i = 0; i < count; ++i) {
      output[i] = static_cast<T>(start + step * (base + static_cast<double>(i)));
    }
  }

  void count_exactly(std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = start_.integer + step_.integer * begin, step = step_.integer;
    const std::int64_t last = first + step * (end - begin - 1);
    const auto is_short = [](std::int64_t value) {
      return value == static_cast<std::int32_t>(value);
    };
    T* output = output_ + begin;
    if (is_short(first) && is_short(last)) {
      // Without a sign, so that nothing overflows on the way.
      const auto low = static_cast<std::uint32_t>(first), by = static_cast<std::uint32_t>(step);
      const auto count = static_cast<std::uint32_t>(end - begin);
      for (std::uint32_t i = 0; i < count; ++i) {
        output[i] = static_cast<T>(static_cast<std::int32_t>(low + by * i));
      }
      return;
    }
    for (std::int64_t i = 0; i < end - begin; ++i) output[i] = static_cast<T>(first + step * i);
  }

  T* output_;
  std::int64_t size_;
  std::int64_t repeat_;
  bool is_exact_;
  lazy::Attribute start_, step_;
};

std::unique_ptr<lazy::Pass> arange_kernel(const Call& call) {
  switch (call.outputs[0].dtype) {
    case DType::float64:
      return std::make_unique<ArangePass<double>>(call);
    case DType::int32:
      return std::make_unique<ArangePass<std::int32_t>>(call);
    case DType::int64:
      return std::make_unique<ArangePass<std::int64_t>>(call);
    case DType::uint8:
      return std::make_unique<ArangePass<std::uint8_t>>(call);
    case DType::int8:
      return std::make_unique<ArangePass<std::int8_t>>(call);
    default:
      return std::make_unique<ArangePass<float>>(call);
  }
}

/// The first and the last number must be there in the type; so are then all between them.
template <class Number>
void need_ends(const Inference& inference, Number first, Number last, std::int64_t steps,
               DType dtype) {
  if (steps <= 0) return;
  for (const Number number : {first, last}) {
    lazy::Operand end;
    lazy::set_immediate(end, number);
    settle(inference, end, dtype);
  }
}

/// The front end counts the elements; `start` and `step` are as the user gave them.
void arange_infer(Inference& inference) {
  const DType dtype = dtype_argument(inference, "dtype", DType::float32);
  if (dtype == DType::boolean || dtype == DType::float16) {
    inference.refuse(std::string("cannot make type ") + name_of(dtype) +
                         "; make float32 and convert it with astype",
                     ErrorKind::type);
  }
  const std::int64_t repeat = inference.integer("repeat"), steps = inference.integer("count");
  if (repeat < 1) inference.refuse("repeat is " + std::to_string(repeat) + "; it must be positive");
  const std::int64_t count = extent_product(steps, repeat);
  const std::int64_t shape[] = {count};
  inference.add_output(shape, dtype);
  // Integers are counted as such: 2**53 + 1 is no float64.
  const auto* start = std::get_if<std::int64_t>(&inference.argument("start"));
  const auto* step = std::get_if<std::int64_t>(&inference.argument("step"));
  auto& attributes = inference.call.attributes;
  if (start && step) {
    attributes[0].integer = *start;
    attributes[1].integer = *step;
    std::int64_t last = *start;
    if (steps && (__builtin_mul_overflow(*step, steps - 1, &last) ||
                  __builtin_add_overflow(*start, last, &last))) {
      inference.refuse("the last number is beyond 64 bits", ErrorKind::overflow);
    }
    need_ends(inference, *start, last, steps, dtype);
  } else {
    attributes[0].number = inference.number("start");
    attributes[1].number = inference.number("step");
    const double first = attributes[0].number;
    need_ends(
        inference, first,
        first + attributes[1].number * static_cast<double>(std::max<std::int64_t>(0, steps - 1)),
        steps, dtype);
  }
  attributes[2].integer = repeat;
  attributes[3].integer = start && step;
  inference.call.cost = 100 + static_cast<double>(count);
}

}  // namespace

void declare_creation(Table& table) {
  table.add({.name = "empty",
             .mxnet_names = {"_empty"},
             .parameters = {{"shape"}, {"dtype"}},
             .infer =
                 [](Inference& inference) {
                   inference.add_output(inference.shape("shape"),
                                        dtype_argument(inference, "dtype", DType::float32));
                   inference.call.cost = 100;
                 },
             .kernel = [](const Call&) -> std::unique_ptr<lazy::Pass> {
               return std::make_unique<NothingPass>();
             }});
  table.add({.name = "arange",
             .mxnet_names = {"_arange", "_npi_arange"},
             .parameters = {{"start", 0.0},
                            {"step", 1.0},
                            {"count", std::int64_t{0}},
                            {"repeat", std::int64_t{1}},
                            {"dtype"}},
             .infer = arange_infer,
             .kernel = arange_kernel});
}

}  // namespace afterglow::ops
