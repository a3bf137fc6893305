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
using lazy::field;
using lazy::Inference;
using lazy::required;

struct Empty {
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{required("shape", &Empty::shape, "of the result"),
                 field("dtype", &Empty::dtype, "of the result; float32 where none is given")};
};

/// Memory as it comes: the value is whatever was there.
class NothingPass : public lazy::Pass {
 public:
  int shares() const override { return 0; }
  void run(int) override {}
};

struct Arange {
  lazy::Number start = 0.0;
  lazy::Number step = 1.0;
  std::int64_t count = 0;
  std::int64_t repeat = 1;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("start", &Arange::start, "the first number"),
                 field("step", &Arange::step, "from one number to the next"),
                 field("count", &Arange::count, "how many different numbers there are"),
                 field("repeat", &Arange::repeat, "how often each of them comes"),
                 field("dtype", &Arange::dtype, "of the result; float32 where none is given")};
};

/// Numbers at the same distance.
template <class Number>
struct Progression {
  Number start, step;
};

struct Counting {
  std::int64_t repeat;
  bool is_exact;  ///< integers are counted as such: 2**53 + 1 is no float64
  Progression<std::int64_t> exact;
  Progression<double> rounded;
};

template <class T>
class ArangePass : public lazy::Pass {
 public:
  explicit ArangePass(const Call& call)
      : output_(reinterpret_cast<T*>(call.outputs[0].data())),
        size_(call.outputs[0].size()),
        counting_(call.settled.get<Counting>()) {}
  int shares() const override { return static_cast<int>((size_ + share_size - 1) / share_size); }
  void run(int share) override {
    const std::int64_t begin = share * share_size;
    const std::int64_t end = std::min(size_, begin + share_size);
    const auto& [repeat, is_exact, exact, rounded] = counting_;
    if (repeat == 1 && is_exact) return count_exactly(begin, end);
    if (repeat == 1 && std::is_floating_point_v<T>) return count_from(begin, end);
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t position = repeat == 1 ? i : i / repeat;
      if (is_exact) {
        output_[i] = static_cast<T>(exact.start + exact.step * position);
        continue;
      }
      const double value = rounded.start + rounded.step * static_cast<double>(position);
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
    const auto [start, step] = counting_.rounded;
    const auto base = static_cast<double>(begin);
    T* output = output_ + begin;
    const auto count = static_cast<std::int32_t>(end - begin);
    for (std::int32_t i = 0; i < count; ++i) {
      output[i] = static_cast<T>(start + step * (base + static_cast<double>(i)));
    }
  }

  void count_exactly(std::int64_t begin, std::int64_t end) const {
    const auto [start, step] = counting_.exact;
    const std::int64_t first = start + step * begin;
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
  Counting counting_;
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
void arange_infer(Inference& inference, const Arange& given) {
  const DType dtype = given.dtype.value_or(DType::float32);
  if (dtype == DType::boolean || dtype == DType::float16) {
    inference.refuse(std::string("cannot make type ") + name_of(dtype) +
                         "; make float32 and convert it with astype",
                     ErrorKind::type);
  }
  const std::int64_t repeat = given.repeat, steps = given.count;
  if (repeat < 1) inference.refuse("repeat is " + std::to_string(repeat) + "; it must be positive");
  const std::int64_t count = extent_product(steps, repeat);
  const std::int64_t shape[] = {count};
  inference.add_output(shape, dtype);
  const auto* start = std::get_if<std::int64_t>(&given.start);
  const auto* step = std::get_if<std::int64_t>(&given.step);
  Counting counting = {.repeat = repeat, .is_exact = start && step, .exact = {}, .rounded = {}};
  if (counting.is_exact) {
    counting.exact = {*start, *step};
    std::int64_t last = *start;
    if (steps && (__builtin_mul_overflow(*step, steps - 1, &last) ||
                  __builtin_add_overflow(*start, last, &last))) {
      inference.refuse("the last number is beyond 64 bits", ErrorKind::overflow);
    }
    need_ends(inference, *start, last, steps, dtype);
  } else {
    const auto as_double = [](const auto& number) { return static_cast<double>(number); };
    const double first = std::visit(as_double, given.start);
    const double by = std::visit(as_double, given.step);
    counting.rounded = {first, by};
    need_ends(inference, first,
              first + by * static_cast<double>(std::max<std::int64_t>(0, steps - 1)), steps, dtype);
  }
  inference.call.settled.set(counting);
  inference.call.cost = 100 + static_cast<double>(count);
}

}  // namespace

void declare_creation(Table& table) {
  table.add<Empty>({.name = "empty",
                    .mxnet_names = {"_empty"},
                    .infer =
                        [](Inference& inference, const Empty& given) {
                          inference.add_output(given.shape, given.dtype.value_or(DType::float32));
                          inference.call.cost = 100;
                        },
                    .kernel = [](const Call&) -> std::unique_ptr<lazy::Pass> {
                      return std::make_unique<NothingPass>();
                    }});
  table.add<Arange>({.name = "arange",
                     .mxnet_names = {"_arange", "_npi_arange"},
                     .infer = arange_infer,
                     .kernel = arange_kernel});
}

}  // namespace afterglow::ops
