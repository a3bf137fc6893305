// SPDX-License-Identifier: Apache-2.0
// Convolution of one channel with one filter, row by row: there is no sum over channels that a
// product could be made of.
#pragma once

#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// Calls `visit(result, image, count, tap)` for runs of windows in one row, where those see places
/// of the image with one place of the kernel: offsets of the first window and of what it sees.
template <class Visit>
AFTERGLOW_INLINE void for_each_row(const DepthwisePlane& p, Visit&& visit) {
  const auto first_at = [&](std::int64_t place, std::int64_t offset) {
    const std::int64_t distance = place - offset;
    const std::int64_t first = distance > 0 ? (distance + p.stride[2] - 1) / p.stride[2] : 0;
    return first < p.result[2] ? first : p.result[2];
  };
  for (std::int64_t tap = 0; tap < p.kernel[0] * p.kernel[1] * p.kernel[2]; ++tap) {
    const std::int64_t x = tap % p.kernel[2] * p.dilate[2] - p.pad[2];
    const std::int64_t y = tap / p.kernel[2] % p.kernel[1] * p.dilate[1] - p.pad[1];
    const std::int64_t z = tap / p.kernel[2] / p.kernel[1] * p.dilate[0] - p.pad[0];
    const std::int64_t begin = first_at(0, x), end = first_at(p.image[2], x);
    if (begin >= end) continue;
    for (std::int64_t deep = 0; deep < p.result[0]; ++deep) {
      const std::int64_t from_deep = deep * p.stride[0] + z;
      if (from_deep < 0 || from_deep >= p.image[0]) continue;
      for (std::int64_t high = 0; high < p.result[1]; ++high) {
        const std::int64_t from_high = high * p.stride[1] + y;
        if (from_high < 0 || from_high >= p.image[1]) continue;
        visit((deep * p.result[1] + high) * p.result[2] + begin,
              (from_deep * p.image[1] + from_high) * p.image[2] + begin * p.stride[2] + x,
              end - begin, tap);
      }
    }
  }
}

template <class T>
void depthwise_forward(const DepthwisePlane& p, const T* image, const T* weights, T bias,
                       T* result) {
  const std::int64_t places = p.result[0] * p.result[1] * p.result[2];
  for (std::int64_t i = 0; i < places; ++i) result[i] = bias;
  const std::int64_t step = p.stride[2];
  for_each_row(p, [&](std::int64_t to, std::int64_t from, std::int64_t count, std::int64_t tap) {
    const T factor = weights[tap];
    T* const target = result + to;
    const T* const source = image + from;
    if (step == 1) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) target[i] += factor * source[i];
    } else if (step == 2) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) target[i] += factor * source[2 * i];
    } else {
      for (std::int64_t i = 0; i < count; ++i) target[i] += factor * source[i * step];
    }
  });
}

template <class T>
void depthwise_backward(const DepthwisePlane& p, const T* result, const T* weights, T* image) {
  const std::int64_t step = p.stride[2];
  for_each_row(p, [&](std::int64_t from, std::int64_t to, std::int64_t count, std::int64_t tap) {
    const T factor = weights[tap];
    const T* const source = result + from;
    T* const target = image + to;
    if (step == 1) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < count; ++i) target[i] += factor * source[i];
    } else {
      for (std::int64_t i = 0; i < count; ++i) target[i * step] += factor * source[i];
    }
  });
}

template <class T>
void depthwise_weights(const DepthwisePlane& p, const T* image, const T* result, T* weights) {
  // So many sums side by side on every machine, so that they are added in the same order.
  constexpr std::int64_t lanes = 64 / sizeof(T);
  const std::int64_t step = p.stride[2];
  const std::int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  T sums[lanes] = {};
  std::int64_t current = 0;
  const auto end_tap = [&] {
    T sum = 0;
    for (std::int64_t i = 0; i < lanes; ++i) {
      sum += sums[i];
      sums[i] = 0;
    }
    weights[current] += sum;
  };
  for_each_row(p, [&](std::int64_t to, std::int64_t from, std::int64_t count, std::int64_t tap) {
    if (tap != current) {
      end_tap();
      current = tap;
    }
    const T* const head = result + to;
    const T* const source = image + from;
    std::int64_t i = 0;
    if (step == 1) {
      for (; i + lanes <= count; i += lanes)
        for (std::int64_t k = 0; k < lanes; ++k) sums[k] += head[i + k] * source[i + k];
    }
    for (; i < count; ++i) sums[i % lanes] += head[i] * source[i * step];
  });
  if (taps > 0) end_tap();
}

template <class T>
constexpr DepthwiseFunctions<T> depthwise_functions = {depthwise_forward<T>, depthwise_backward<T>,
                                                       depthwise_weights<T>};

}  // namespace
}  // namespace afterglow::kernels
