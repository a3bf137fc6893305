// SPDX-License-Identifier: Apache-2.0
// Reductions against plain sums in long double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "check.h"
#include "kernels/reduce.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

constexpr Reduction reductions[] = {Reduction::sum,     Reduction::mean,  Reduction::maximum,
                                    Reduction::minimum, Reduction::norm1, Reduction::norm2};

struct View {
  std::vector<std::int64_t> shape, strides;
  std::int64_t base = 0, extent = 1;

  std::int64_t size() const {
    std::int64_t product = 1;
    for (std::int64_t length : shape) product *= length;
    return product;
  }
};

View contiguous(std::vector<std::int64_t> shape) {
  View view;
  view.strides.resize(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    view.strides[i] = view.extent;
    view.extent *= std::max<std::int64_t>(shape[i], 1);
  }
  view.shape = std::move(shape);
  return view;
}

View random_view(std::vector<std::int64_t> shape) {
  std::vector<int> order(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::shuffle(order.begin(), order.end(), generator());
  View view;
  view.strides.resize(shape.size());
  for (int axis : order) {
    const std::int64_t stretch = random_integer(0, 3) == 0 ? 2 : 1;
    view.strides[axis] = view.extent * stretch;
    view.extent *= std::max<std::int64_t>(shape[axis], 1) * stretch;
    if (random_integer(0, 4) != 0) continue;
    view.base += (std::max<std::int64_t>(shape[axis], 1) - 1) * view.strides[axis];
    view.strides[axis] *= -1;
  }
  view.shape = std::move(shape);
  return view;
}

Buffer reduce(Reduction reduction, const Buffer& input, const View& view, std::uint32_t axes,
              DType output_dtype) {
  std::int64_t outputs = 1;
  for (std::size_t i = 0; i < view.shape.size(); ++i)
    if (!(axes >> i & 1)) outputs *= view.shape[i];
  Buffer output(output_dtype, outputs);
  const char* first = static_cast<const char*>(input.data()) +
                      view.base * static_cast<std::int64_t>(size_of(input.dtype()));
  ReducePass pass(reduction,
                  {first, input.dtype(), static_cast<int>(view.shape.size()), view.shape.data(),
                   view.strides.data()},
                  axes, output.data(), output_dtype);
  for (int share = pass.shares() - 1; share >= 0; --share) pass.run(share);
  pass.finish();
  return output;
}

/// The elements that go into each output, in C order.
std::vector<std::vector<long double>> grouped(const Buffer& input, const View& view,
                                              std::uint32_t axes) {
  std::int64_t outputs = 1;
  const int rank = static_cast<int>(view.shape.size());
  for (int i = 0; i < rank; ++i)
    if (!(axes >> i & 1)) outputs *= view.shape[i];
  std::vector<std::vector<long double>> groups(outputs);
  for (std::int64_t position = 0; position < view.size(); ++position) {
    std::int64_t rest = position, output = 0, scale = 1, offset = view.base;
    for (int i = rank - 1; i >= 0; --i) {
      const std::int64_t index = rest % view.shape[i];
      rest /= view.shape[i];
      offset += index * view.strides[i];
      if (axes >> i & 1) continue;
      output += index * scale;
      scale *= view.shape[i];
    }
    groups[output].push_back(input[offset]);
  }
  return groups;
}

long double wanted(Reduction reduction, const std::vector<long double>& values) {
  long double sum = 0, absolute = 0, square = 0, high = -INFINITY, low = INFINITY, product = 1;
  for (long double value : values) {
    sum += value;
    absolute += std::fabs(value);
    square += value * value;
    high = std::max(high, value);
    low = std::min(low, value);
    product *= value;
  }
  switch (reduction) {
    case Reduction::sum:
      return sum;
    case Reduction::mean:
      return sum / values.size();
    case Reduction::maximum:
      return high;
    case Reduction::minimum:
      return low;
    case Reduction::norm1:
      return absolute;
    case Reduction::norm2:
      return std::sqrt(square);
    case Reduction::product:
      return product;
  }
  return 0;
}

void check_reduction(Reduction reduction, const Buffer& input, const View& view, std::uint32_t axes,
                     DType output_dtype) {
  const Buffer output = reduce(reduction, input, view, axes, output_dtype);
  const auto groups = grouped(input, view, axes);
  for (std::int64_t i = 0; i < output.size(); ++i) {
    long double want = wanted(reduction, groups[i]), size = 0;
    for (long double value : groups[i]) size += std::fabs(value);
    if (reduction == Reduction::mean) size /= groups[i].size();
    long double tolerance = 0;
    if (is_floating(output_dtype)) {
      const long double unit = output_dtype == DType::float64 && input.dtype() != DType::float32 &&
                                       input.dtype() != DType::float16
                                   ? 1e-14L
                               : output_dtype == DType::float16 ? 6e-4L
                                                                : 3e-7L;
      tolerance = unit * (std::fabs(want) + size / std::sqrt(groups[i].size() + 1.0L));
    } else {
      want = std::trunc(want);
      const long double span = std::ldexp(1.0L, static_cast<int>(size_of(output_dtype)) * 8);
      const long double low = output_dtype == DType::uint8 ? 0 : -span / 2;
      if (output_dtype == DType::boolean)
        want = want != 0;
      else
        want -= std::floor((want - low) / span) * span;
    }
    if (!(std::fabs(output[i] - want) <= tolerance) && !same(output[i], want)) {
      std::ostringstream text;
      text << "reduction " << static_cast<int>(reduction) << " of " << name_of(input.dtype())
           << " to " << name_of(output_dtype) << " axes " << axes << " of rank "
           << view.shape.size() << ": " << output[i] << " instead of " << want;
      check::fail(__FILE__, __LINE__, text.str());
    }
  }
}

}  // namespace

TEST("every reduction of every type over any axes and layout") {
  for (int round = 0; round < 2500; ++round) {
    const int rank = static_cast<int>(random_integer(0, 4));
    std::vector<std::int64_t> shape;
    std::int64_t size = 1;
    for (int i = 0; i < rank; ++i) {
      shape.push_back(random_integer(1, round % 10 == 0 ? 50 : 9));
      size *= shape.back();
    }
    if (size > 60000) continue;
    const View view = random_integer(0, 1) ? contiguous(shape) : random_view(shape);
    const DType dtype = all_dtypes[random_integer(0, 7)];
    const Reduction reduction = reductions[random_integer(0, 5)];
    DType output = dtype;
    if (random_integer(0, 2) == 0) output = DType::float64;
    if (reduction != Reduction::sum && dtype == DType::boolean) output = DType::float32;
    Buffer input(dtype, view.extent);
    fill_small(input);
    check_reduction(reduction, input, view, static_cast<std::uint32_t>(random_integer(0, 15)),
                    output);
  }
}

TEST("large reductions in many chunks") {
  for (DType dtype : {DType::float32, DType::float16, DType::uint8, DType::int32}) {
    for (const auto& shape : {std::vector<std::int64_t>{300000},
                              {500, 601},
                              {3, 70, 1500},
                              {200000, 2},
                              {2, 100, 3, 400}}) {
      const View view = contiguous(shape);
      Buffer input(dtype, view.extent);
      fill_small(input);
      for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes)
        check_reduction(axes % 2 ? Reduction::sum : Reduction::norm2, input, view, axes,
                        axes % 2 && !is_floating(dtype) ? DType::int64 : DType::float32);
    }
  }
}

TEST("bits depend on the values and the shape, not on the layout") {
  for (const auto& shape :
       {std::vector<std::int64_t>{40, 1500}, {1500, 40}, {7, 300, 50}, {90000}}) {
    const View plain = contiguous(shape);
    Buffer values(DType::float32, plain.extent);
    for (std::int64_t i = 0; i < values.size(); ++i) values.set(i, random_real(-1, 1));
    for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes) {
      for (int round = 0; round < 5; ++round) {
        const View other = random_view(shape);
        Buffer moved(DType::float32, other.extent);
        for (std::int64_t position = 0; position < plain.size(); ++position) {
          std::int64_t rest = position, offset = other.base;
          for (std::size_t i = shape.size(); i-- > 0;) {
            offset += rest % shape[i] * other.strides[i];
            rest /= shape[i];
          }
          moved.set(offset, values[position]);
        }
        CHECK(reduce(Reduction::sum, values, plain, axes, DType::float64)
                  .same_bits(reduce(Reduction::sum, moved, other, axes, DType::float64)));
      }
    }
  }
}

TEST("norms whose squares leave the range of float32") {
  for (const std::int64_t count : {20, 3000, 100000}) {
    for (const double size : {1e30, 3e18, 1e-30, 1e-20, 1e-42}) {
      const View view = contiguous({count});
      Buffer input(DType::float32, count);
      for (std::int64_t i = 0; i < count; ++i) input.set(i, i % 5 ? size : -size);
      const Buffer output = reduce(Reduction::norm2, input, view, 1, DType::float64);
      const double wanted = std::fabs(static_cast<double>(input[0])) * std::sqrt(count);
      CHECK(std::fabs(static_cast<double>(output[0]) - wanted) <= 1e-6 * wanted);
      // Blocks of both kinds.
      input.set(count - 1, 1.0);
      const Buffer mixed = reduce(Reduction::norm2, input, view, 1, DType::float64);
      const double rest = std::fabs(static_cast<double>(input[0]));
      const double both = std::sqrt(rest * rest * static_cast<double>(count - 1) + 1.0);
      CHECK(std::fabs(static_cast<double>(mixed[0]) - both) <= 1e-6 * both);
    }
  }
}

TEST("truth values that one element decides") {
  constexpr std::int64_t count = 300000;
  for (const Reduction reduction : {Reduction::maximum, Reduction::minimum}) {
    const bool any = reduction == Reduction::maximum;
    for (const std::int64_t place : {0, 700, 1023, 1024, 70000, 299999, -1}) {
      for (const std::int64_t stride : {1, 2, -1}) {
        Buffer input(DType::boolean, count * 2);
        for (std::int64_t i = 0; i < count * 2; ++i) input.set(i, any ? 0 : 1);
        View view;
        view.shape = {count};
        view.strides = {stride};
        view.base = stride < 0 ? count - 1 : 0;
        if (place >= 0) input.set(view.base + place * stride, any ? 1 : 0);
        const Buffer output = reduce(reduction, input, view, 1, DType::boolean);
        CHECK(output[0] == (place >= 0 ? any : !any));
      }
    }
  }
}

TEST("products") {
  for (DType dtype : all_dtypes) {
    for (const auto& shape : {std::vector<std::int64_t>{13}, {20}, {5, 7}, {3, 70, 2}, {9, 40}}) {
      const View view = random_integer(0, 1) ? contiguous(shape) : random_view(shape);
      Buffer input(dtype, view.extent);
      for (std::int64_t i = 0; i < input.size(); ++i)
        input.set(i, random_integer(0, 9) || dtype == DType::boolean ? 1
                     : dtype == DType::uint8                         ? 2
                                                                     : -1);
      for (std::uint32_t axes = 1; axes < 1u << shape.size(); ++axes) {
        check_reduction(Reduction::product, input, view, axes, DType::float64);
        check_reduction(Reduction::product, input, view, axes, DType::int64);
      }
    }
  }
  Buffer values(DType::float32, 2000);  // no part of the product may leave the range of float32
  for (std::int64_t i = 0; i < 2000; ++i) values.set(i, i < 8 ? (i % 2 ? 1e-30 : 1e30) : 1);
  const long double product =
      reduce(Reduction::product, values, contiguous({2000}), 1, DType::float32)[0];
  CHECK(std::fabs(product - 1) < 1e-5L);
  const Buffer none(DType::float32, 0);
  CHECK_EQUAL(reduce(Reduction::product, none, contiguous({0}), 1, DType::float32)[0], 1.0L);
}

TEST("nan, empty and narrow cases") {
  Buffer values(DType::float32, 3000);
  for (std::int64_t i = 0; i < 3000; ++i) values.set(i, i);
  values.set(1234, NAN);
  for (Reduction reduction : {Reduction::maximum, Reduction::minimum}) {
    CHECK(std::isnan(reduce(reduction, values, contiguous({3000}), 1, DType::float32)[0]));
    const Buffer columns = reduce(reduction, values, contiguous({100, 30}), 1, DType::float32);
    for (int i = 0; i < 30; ++i) CHECK(std::isnan(columns[i]) == (i == 1234 % 30));
  }
  const Buffer none(DType::float32, 0);
  CHECK_EQUAL(reduce(Reduction::sum, none, contiguous({0}), 1, DType::float32)[0], 0.0L);
  CHECK(std::isnan(reduce(Reduction::mean, none, contiguous({0}), 1, DType::float32)[0]));
  CHECK_EQUAL(reduce(Reduction::sum, none, contiguous({3, 0}), 2, DType::float32)[2], 0.0L);
  CHECK_EQUAL(reduce(Reduction::sum, none, contiguous({3, 0}), 1, DType::float32).size(), 0);

  Buffer low(DType::int64, 2);
  low.as<std::int64_t>()[0] = low.as<std::int64_t>()[1] = std::numeric_limits<std::int64_t>::min();
  CHECK_EQUAL(reduce(Reduction::sum, low, contiguous({2}), 1, DType::int64)[0], 0.0L);
  CHECK_EQUAL(reduce(Reduction::maximum, low, contiguous({2}), 1, DType::int64)[0], -0x1p63L);
  Buffer ones(DType::float32, 1 << 24);
  for (std::int64_t i = 0; i < ones.size(); ++i) ones.as<float>()[i] = 1.1f;
  const long double sum =
      reduce(Reduction::sum, ones, contiguous({ones.size()}), 1, DType::float32)[0];
  CHECK(std::fabs(sum / (1.1f * static_cast<long double>(ones.size())) - 1) < 3e-7L);
}

CHECK_MAIN
