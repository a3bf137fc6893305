// SPDX-License-Identifier: Apache-2.0
// Arrays out of nothing.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/half.h"
#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

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

// --- numbers at the same distance ---

struct Arange {
  lazy::Number start = std::int64_t{0};
  std::optional<lazy::Number> stop;
  std::optional<lazy::Number> step;
  std::int64_t repeat = 1;
  bool infer_range = false;
  std::optional<DType> dtype;
  static constexpr auto fields = std::tuple{
      required("start", &Arange::start, "the first number; without stop the end, from 0"),
      field("stop", &Arange::stop, "the end, which does not belong to them"),
      field("step", &Arange::step, "from one number to the next; 1 without it"),
      field("repeat", &Arange::repeat, "how often each of them comes"),
      field("infer_range", &Arange::infer_range, "is taken and has no effect"),
      field("dtype", &Arange::dtype, "of the result")};
};

struct Linspace {
  double start = 0, stop = 0;
  std::int64_t num = 50;
  bool endpoint = true;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{required("start", &Linspace::start, "the first number"),
                 required("stop", &Linspace::stop, "the last number"),
                 field("num", &Linspace::num, "how many there are"),
                 field("endpoint", &Linspace::endpoint, "whether the last one belongs to them"),
                 field("dtype", &Linspace::dtype, "of the result; float32 where none is given")};
};

struct ArangeLike {
  lazy::Number start = 0.0, step = 1.0;
  std::int64_t repeat = 1;
  std::optional<Context> ctx;
  std::optional<std::int64_t> axis;
  static constexpr auto fields = std::tuple{
      field("start", &ArangeLike::start, "the first number"),
      field("step", &ArangeLike::step, "from one number to the next"),
      field("repeat", &ArangeLike::repeat, "how often each of them comes"),
      field("context", &ArangeLike::ctx, "where the result lies; with the array by default"),
      field("axis", &ArangeLike::axis, "along which they are counted; all elements without one")};
};

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

/// An element of float16.
struct Half {
  std::uint16_t bits;
  template <class Number>
  explicit Half(Number number) : bits(float_to_half(static_cast<float>(number))) {}
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
    case DType::float16:
      return std::make_unique<ArangePass<Half>>(call);
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

double as_double(const lazy::Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

/// Settles a call that counts so many different numbers from `start` on.
void count_from(Inference& inference, lazy::Number start, lazy::Number step, std::int64_t steps,
                std::int64_t repeat) {
  const DType dtype = inference.call.outputs[0].dtype;
  if (dtype == DType::boolean) inference.refuse("has no answer for type bool", ErrorKind::type);
  if (repeat < 1) inference.refuse("repeat is " + std::to_string(repeat) + "; it must be positive");
  const auto* whole = std::get_if<std::int64_t>(&start);
  // So that integers are counted exactly.
  if (const auto* by = std::get_if<double>(&step);
      whole && by && *by == std::trunc(*by) && std::abs(*by) < 0x1p63)
    step = static_cast<std::int64_t>(*by);
  const auto* by = std::get_if<std::int64_t>(&step);
  Counting counting = {.repeat = repeat, .is_exact = whole && by, .exact = {}, .rounded = {}};
  if (counting.is_exact) {
    counting.exact = {*whole, *by};
    std::int64_t last = *whole;
    if (steps > 0 && (__builtin_mul_overflow(*by, steps - 1, &last) ||
                      __builtin_add_overflow(*whole, last, &last)))
      inference.refuse("the last number is beyond 64 bits", ErrorKind::overflow);
    need_ends(inference, *whole, last, steps, dtype);
  } else {
    counting.rounded = {as_double(start), as_double(step)};
    const auto [first, distance] = counting.rounded;
    const double last =
        first + distance * static_cast<double>(std::max<std::int64_t>(0, steps - 1));
    need_ends(inference, first, last, steps, dtype);
  }
  inference.call.settled.set(counting);
  inference.call.cost = 100 + static_cast<double>(inference.call.outputs[0].size());
}

std::string told(const lazy::Number& number) {
  if (const auto* whole = std::get_if<std::int64_t>(&number)) return std::to_string(*whole);
  return std::to_string(std::get<double>(number));
}

/// How many numbers lie between two; 0 or less where there are none.
std::int64_t range_length(const Inference& inference, const lazy::Number& start,
                          const lazy::Number& stop, const lazy::Number& step) {
  const auto refuse = [&](ErrorKind kind) {
    inference.refuse("from " + told(start) + " to " + told(stop) + " by steps of " + told(step) +
                         ": numbers that can be counted are needed",
                     kind);
  };
  const auto *first = std::get_if<std::int64_t>(&start), *last = std::get_if<std::int64_t>(&stop);
  const auto* by = std::get_if<std::int64_t>(&step);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (first && last && by) {
    const __int128 distance = static_cast<__int128>(*last) - *first;
    const __int128 count = (distance + *by - (*by > 0 ? 1 : -1)) / *by;
    if (count > most) refuse(ErrorKind::overflow);
    return static_cast<std::int64_t>(std::max<__int128>(count, 0));
  }
  const double distance = first && last ? static_cast<double>(static_cast<__int128>(*last) - *first)
                                        : as_double(stop) - as_double(start);
  const double count = std::ceil(distance / as_double(step));
  if (std::isnan(count)) refuse(ErrorKind::value);
  if (std::abs(count) >= 0x1p63) refuse(ErrorKind::overflow);
  return static_cast<std::int64_t>(std::max(count, 0.0));
}

/// mx.nd has no arrays without elements here, and counts in float64 where no type is named.
void arange_infer(Inference& inference, const Arange& given) {
  const lazy::Number start = given.stop ? given.start : lazy::Number(std::int64_t{0});
  const lazy::Number& stop = given.stop ? *given.stop : given.start;
  const lazy::Number step = given.step.value_or(std::int64_t{1});
  if (as_double(step) == 0)
    inference.refuse("the step must not be 0",
                     inference.legacy ? ErrorKind::value : ErrorKind::zero_division);
  // Integers of more than 64 bits come as floats, in which their distance is lost.
  if (const auto* first = std::get_if<double>(&start);
      first && given.dtype && !is_floating(*given.dtype) && std::abs(*first) >= 0x1p63)
    inference.refuse("the first number is beyond 64 bits", ErrorKind::overflow);
  const std::int64_t steps = range_length(inference, start, stop, step);
  if (inference.legacy && (!steps || given.repeat < 1))
    inference.refuse("nothing lies between " + told(start) + " and " + told(stop) +
                     " by steps of " + told(step));
  const std::int64_t shape[] = {extent_product(steps, std::max<std::int64_t>(given.repeat, 0))};
  inference.add_output(shape,
                       given.dtype.value_or(inference.legacy ? DType::float64 : DType::float32));
  // Whoever counts in integers counts by integers: the first number and the step lose their
  // fractions, as in MXNet and NumPy.
  const auto counted = [&](const lazy::Number& number) -> lazy::Number {
    const auto* real = std::get_if<double>(&number);
    if (!real || is_floating(inference.call.outputs[0].dtype)) return number;
    return static_cast<std::int64_t>(*real);
  };
  count_from(inference, counted(start), counted(step), steps, given.repeat);
}

void linspace_infer(Inference& inference, const Linspace& given) {
  if (given.num < 0)
    inference.refuse("num must not be negative, but is " + std::to_string(given.num));
  const std::int64_t gaps = given.endpoint ? given.num - 1 : given.num;
  const double step = gaps > 0 ? (given.stop - given.start) / static_cast<double>(gaps) : 0;
  const std::int64_t shape[] = {given.num};
  inference.add_output(shape, given.dtype.value_or(DType::float32));
  count_from(inference, given.start, step, given.num, 1);
}

void arange_like_infer(Inference& inference, const ArangeLike& given) {
  const lazy::Operand& like = inference.call.inputs[0];
  if (given.ctx) inference.context = *given.ctx;
  if (given.axis) {
    const int axis = checked_axis(inference, *given.axis, like.layout->rank());
    const std::int64_t shape[] = {like.shape()[static_cast<std::size_t>(axis)]};
    inference.add_output(shape, like.dtype);
  } else {
    inference.add_output(like.shape(), like.dtype);
  }
  const std::int64_t size = inference.call.outputs[0].size(), repeat = given.repeat;
  const std::int64_t steps = repeat < 1 ? 0 : size / repeat + (size % repeat != 0);
  count_from(inference, given.start, given.step, steps, repeat);
}

// --- matrices ---

struct Eye {
  std::int64_t N = 0;
  std::optional<std::int64_t> M;
  std::int64_t k = 0;
  std::optional<DType> dtype;
  std::string_view order = "C";
  static constexpr auto fields = std::tuple{
      required("N", &Eye::N, "rows"), field("M", &Eye::M, "columns; as many as rows without it"),
      field("k", &Eye::k, "the diagonal, to the right of the main one"),
      field("dtype", &Eye::dtype, "of the result; float32 where none is given"),
      field("order", &Eye::order, "of the elements: 'C'")};
};

/// Of an Inference or a Composition.
template <class Subject>
void need_row_major(const Subject& subject, std::string_view order) {
  if (order != "C")
    subject.refuse("arrays are stored in order 'C', not '" + std::string(order) + "'",
                   ErrorKind::not_implemented);
}

/// Ones on a diagonal.
Value diagonal_of_ones(const Composition& c, const Eye& given, std::int64_t columns) {
  need_row_major(c, given.order);
  const std::int64_t rows = given.N, k = given.k;
  Value result = full(0, {rows, columns}, given.dtype.value_or(DType::float32), c.context());
  const std::int64_t length = k >= 0 ? std::min(rows, columns - std::min(k, columns))
                                     : std::min(rows + std::max(k, -rows), columns);
  if (length > 0) write(result, 1, {k >= 0 ? k : -k * columns, {length}, {columns + 1}});
  return result;
}

/// On a diagonal and below it.
Value is_lower(std::int64_t rows, std::int64_t columns, std::int64_t k, Context context) {
  const std::int64_t first = std::clamp(k, -rows, columns);
  const Value row = shaped(count_up(rows, DType::int64, context, first), {rows, 1});
  return row >= count_up(columns, DType::int64, context);
}

struct Triangle {
  std::int64_t k = 0;
  static constexpr auto fields =
      std::tuple{field("k", &Triangle::k, "the diagonal, to the right of the main one")};
};

Value triangle(const Composition& c, std::int64_t k, bool lower) {
  const Value& x = c[0];
  const Shape shape = shape_of(x);
  if (shape.empty()) c.refuse("needs an array with an axis");
  const std::int64_t rows = shape[shape.size() > 1 ? shape.size() - 2 : 0];
  const Value mask = is_lower(rows, shape.back(), k, x.array.context());
  return lower ? where(mask, x, 0) : where(mask, 0, x);
}

// --- the same number everywhere ---

struct Filled {
  Shape shape;
  std::optional<DType> dtype;
  std::string_view order = "C";
  static constexpr auto fields =
      std::tuple{required("shape", &Filled::shape, "of the result"),
                 field("dtype", &Filled::dtype, "of the result; float32 where none is given"),
                 field("order", &Filled::order, "of the elements: 'C'")};
};

/// A copy of the number, which is the call's own input.
template <std::int64_t number>
void filled_infer(Inference& inference, const Filled& given) {
  need_row_major(inference, given.order);
  const DType dtype = given.dtype.value_or(DType::float32);
  lazy::Operand& input = inference.call.inputs.emplace_back();
  lazy::set_immediate(input, number);
  settle(inference, input, dtype);
  inference.add_output(given.shape, dtype);
  finish_elementwise(inference, compute_type(dtype));
}

struct Full {
  Shape shape;
  std::optional<DType> dtype;
  std::string_view order = "C";
  static constexpr auto fields = std::tuple{
      required("shape", &Full::shape, "of the result"),
      field("dtype", &Full::dtype,
            "of the result; by default that of an array, bool for truth values, else float32"),
      field("order", &Full::order, "of the elements: 'C'")};
};

Value filled_with(Composition& c, const Full& given) {
  need_row_major(c, given.order);
  const Value& value = c[0];
  const DType usual = value.is_boolean()  ? DType::boolean
                      : value.is_number() ? DType::float32
                                          : value.array.dtype;
  return full(value, given.shape, given.dtype.value_or(usual), c.context());
}

struct Like {
  std::optional<DType> dtype;
  std::string_view order = "C";
  std::optional<Context> context;
  static constexpr auto fields =
      std::tuple{field("dtype", &Like::dtype, "of the result; that of the array by default"),
                 field("order", &Like::order, "of the elements: 'C'"),
                 field("context", &Like::context, "where the result lies; with the array")};
};

Value filled_like(const Composition& c, const Value& value, const Like& given) {
  if (!c[0]) c.refuse("a number has no shape; an array is needed", ErrorKind::argument);
  need_row_major(c, given.order);
  const Array& like = c[0].array;
  const DType dtype = given.dtype.value_or(like.dtype);
  const Context context = given.context.value_or(like.context());
  if (value.is_number()) return full(value, shape_of(c[0]), dtype, context);
  return copy(stretch(value, shape_of(c[0])), dtype, context);
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
  table.add<Arange>(
      {.name = "arange",
       .mxnet_names = {"_arange", "_npi_arange"},
       .spellings = {"np.arange(start, stop=None, step=1, dtype=None, ctx=None)",
                     "nd.arange(start, stop=None, step=1.0, repeat=1, infer_range=None, ctx=None, "
                     "dtype='float32')"},
       .doc = R"(Return evenly spaced numbers from start up to stop.

>>> from afterglow import np
>>> np.arange(3)
array([0., 1., 2.])
>>> np.arange(5, 1, -2, dtype="int32")
array([5, 3], dtype=int32)

>>> from afterglow import nd
>>> nd.arange(1, 3, repeat=2).asnumpy()
array([1., 1., 2., 2.], dtype=float32))",

       .infer = arange_infer,
       .kernel = arange_kernel});
  table.add<Linspace>(
      {.name = "linspace",
       .mxnet_names = {"_linspace", "_npi_linspace"},
       .spellings = {"nd.linspace(start, stop, num, endpoint=True, ctx=None, dtype='float32')"},
       .doc = R"(Return ``num`` evenly spaced numbers from start to stop.

>>> from afterglow import nd
>>> nd.linspace(0, 1, 4, endpoint=False).asnumpy()
array([0.  , 0.25, 0.5 , 0.75], dtype=float32))",

       .infer = linspace_infer,
       .kernel = arange_kernel});
  table.add<ArangeLike>(
      {.name = "arange_like",
       .mxnet_names = {"_contrib_arange_like", "_npx_arange_like"},
       .spellings =
           {"nd.contrib.arange_like(data, start=0.0, step=1.0, repeat=1, ctx:context=None, "
            "axis=None, out=None, name=None)",
            "npx.arange_like(data, start=0.0, step=1.0, repeat=1, ctx:context=None, "
            "axis=None, out=None, name=None)"},
       .doc =
           R"(Return evenly spaced numbers in the shape of an array, or as many as one of its axes has.

>>> from afterglow import nd
>>> nd.contrib.arange_like(nd.zeros((2, 3)), start=1).asnumpy()
array([[1., 2., 3.],
       [4., 5., 6.]], dtype=float32)

>>> from afterglow import np, npx
>>> npx.arange_like(np.zeros((2, 3)), axis=1)
array([0., 1., 2.]))",

       .inputs = {"data"},
       .infer = arange_like_infer,
       .kernel = arange_kernel,
       .gradients = {no_gradient}});
  table.compose<Eye>(
      {.name = "eye",
       .mxnet_names = {"_npi_eye"},
       .spellings = {"np.eye(N, M=None, k=0, dtype=None, ctx=None, order='C')"},
       .doc = R"(Return a matrix with ones on the diagonal that starts ``k`` columns to the right.

>>> from afterglow import np
>>> np.eye(2, 3, k=1)
array([[0., 1., 0.],
       [0., 0., 1.]]))",
       .compose = [](Composition& c, const Eye& given) {
         return diagonal_of_ones(c, given, given.M.value_or(given.N));
       }});
  table.compose<Eye>(
      {.name = "nd_eye",
       .mxnet_names = {"_eye"},
       .spellings = {"nd.eye(N, M=0, k=0, ctx=None, dtype=None, out=None, name=None)"},
       .doc = R"(Return a matrix with ones on the diagonal that starts ``k`` columns to the right.

>>> from afterglow import nd
>>> nd.eye(2, 3, k=1).asnumpy()
array([[0., 1., 0.],
       [0., 0., 1.]], dtype=float32))",
       .compose = [](Composition& c, const Eye& given) {
         const std::int64_t columns = given.M.value_or(0);
         return diagonal_of_ones(c, given, columns ? columns : given.N);
       }});
  table.compose<Eye>({.name = "tri",
                      .spellings = {"np.tri(N, M=None, k=0, dtype=None, ctx=None)"},
                      .doc = R"(Return a matrix with ones on a diagonal and below it.

>>> from afterglow import np
>>> np.tri(2, 3)
array([[1., 0., 0.],
       [1., 1., 0.]]))",
                      .compose = [](Composition& c, const Eye& given) {
                        const Value mask =
                            is_lower(given.N, given.M.value_or(given.N), given.k, c.context());
                        return copy(mask, given.dtype.value_or(DType::float32));
                      }});
  table.compose<Triangle>({.name = "tril",
                           .mxnet_names = {"_npi_tril"},
                           .spellings = {"np.tril(m, k=0)"},
                           .doc = R"(Return matrices with zeros above a diagonal.

>>> from afterglow import np
>>> np.tril(np.ones((2, 2)))
array([[1., 0.],
       [1., 1.]]))",

                           .inputs = {"m"},
                           .compose = [](Composition& c, const Triangle& given) {
                             return triangle(c, given.k, true);
                           }});
  table.compose<Triangle>({.name = "triu",
                           .spellings = {"np.triu(m, k=0)"},
                           .doc = R"(Return matrices with zeros below a diagonal.

>>> from afterglow import np
>>> np.triu(np.ones((2, 2)))
array([[1., 1.],
       [0., 1.]]))",
                           .inputs = {"m"},
                           .compose = [](Composition& c, const Triangle& given) {
                             const bool is_least =
                                 given.k == std::numeric_limits<std::int64_t>::min();
                             return triangle(c, is_least ? given.k : given.k - 1, false);
                           }});
  table.add<Filled>(
      {.name = "zeros",
       .mxnet_names = {"_zeros", "_npi_zeros"},
       .spellings = {"np.zeros(shape, dtype=None, order='C', ctx=None)",
                     "nd.zeros(shape, ctx=None, dtype=None, stype=None, out=None, name=None)"},
       .doc = R"(Return an array of zeros.

>>> from afterglow import np
>>> np.zeros((2,))
array([0., 0.])

>>> from afterglow import nd
>>> nd.zeros((2,)).asnumpy()
array([0., 0.], dtype=float32))",
       .infer = filled_infer<0>,
       .formula = kernels::Formula::copy});
  table.add<Filled>({.name = "ones",
                     .mxnet_names = {"_ones", "_npi_ones"},
                     .spellings = {"np.ones(shape, dtype=None, order='C', ctx=None)",
                                   "nd.ones(shape, ctx=None, dtype=None, out=None, name=None)"},
                     .doc = R"(Return an array of ones.

>>> from afterglow import np
>>> np.ones((2,), dtype="int32")
array([1, 1], dtype=int32)

>>> from afterglow import nd
>>> nd.ones((2,), dtype="int32").asnumpy()
array([1, 1], dtype=int32))",
                     .infer = filled_infer<1>,
                     .formula = kernels::Formula::copy});
  table.compose<Full>(
      {.name = "full",
       .spellings = {"np.full(shape, fill_value, dtype=None, order='C', ctx=None, out=None)"},
       .doc = R"(Return an array with the same number everywhere; an array as value is broadcast.

>>> from afterglow import np
>>> np.full((2,), 7)
array([7., 7.]))",
       .inputs = {"fill_value"},
       .takes_numbers = true,
       .compose = filled_with});
  table.compose<Like>(
      {.name = "zeros_like",
       .mxnet_names = {"zeros_like"},
       .spellings = {"np.zeros_like(a, dtype=None, order='C', ctx:context=None, out=None)",
                     "nd.zeros_like(data, out=None, name=None)"},
       .doc = R"(Return zeros of the same shape, type and place.

>>> from afterglow import np
>>> np.zeros_like(np.array([1, 2]))
array([0., 0.])

>>> from afterglow import nd
>>> nd.zeros_like(nd.array([1, 2])).asnumpy()
array([0., 0.], dtype=float32))",

       .inputs = {"data"},
       .gradients = {no_gradient},
       .compose = [](Composition& c, const Like& given) { return filled_like(c, 0, given); },
       .in_graphs = {.alike = true}});
  table.compose<Like>(
      {.name = "ones_like",
       .mxnet_names = {"ones_like"},
       .spellings = {"np.ones_like(a, dtype=None, order='C', ctx:context=None, out=None)",
                     "nd.ones_like(data, out=None, name=None)"},
       .doc = R"(Return ones of the same shape, type and place.

>>> from afterglow import np
>>> np.ones_like(np.array([5, 6]))
array([1., 1.])

>>> from afterglow import nd
>>> nd.ones_like(nd.array([5, 6])).asnumpy()
array([1., 1.], dtype=float32))",

       .inputs = {"data"},
       .gradients = {no_gradient},
       .compose = [](Composition& c, const Like& given) { return filled_like(c, 1, given); },
       .in_graphs = {.alike = true}});
  table.compose<Like>(
      {.name = "full_like",
       .mxnet_names = {"_npi_full_like"},
       .spellings =
           {"np.full_like(a, fill_value, dtype=None, order='C', ctx:context=None, out=None)"},
       .doc = R"(Return an array like another one with the same number everywhere.

>>> from afterglow import np
>>> np.full_like(np.array([1, 2]), 7)
array([7., 7.]))",

       .inputs = {"a", "fill_value"},
       .takes_numbers = true,
       .compose = [](Composition& c, const Like& given) { return filled_like(c, c[1], given); }});
}

}  // namespace afterglow::ops
