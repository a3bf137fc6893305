// SPDX-License-Identifier: Apache-2.0
// Windows that slide over images of any rank: the order of axes, and what is said for each of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ops/completing.h"
#include "ops/table.h"

namespace afterglow::ops {

/// The order of axes: batch, channels, then or between them space.
enum class Axes { ncdhw, nchw, ncw, ndhwc, nhwc, nwc };

constexpr auto choices(Axes) {
  return in_order<Axes>("NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC");
}

inline bool channels_last(const std::optional<Axes>& layout) {
  return layout && *layout >= Axes::ndhwc;
}

/// How many axes of space there are.
inline std::size_t space_axes(Axes layout) {
  return 3 - static_cast<std::size_t>(layout) % 3;
}

/// A number for each axis of space: those given, or the same for all.
inline Shape for_each_axis(const lazy::Completion& completion, std::string_view name,
                           const Shape& given, const Shape& kernel, std::int64_t otherwise) {
  if (given.empty()) return Shape(kernel.size(), otherwise);
  if (given.size() != kernel.size())
    completion.refuse(std::string(name) + " is " + to_string(given) + "; the kernel " +
                      to_string(kernel) + " needs as many numbers");
  return given;
}

/// Batch, channels and extents of space in the order of the data; those of the data are replaced.
struct Image {
  Shape space;
  std::int64_t batch = -1, channels = -1;
  bool last = false;

  /// Without data nothing is known but the rank.
  Image(const lazy::Completion& completion, const Shape& kernel, bool is_last)
      : space(kernel.size(), -1), last(is_last) {
    const auto& data = completion.shapes[0];
    if (!data) return;
    if (data->size() != kernel.size() + 2)
      completion.refuse("data of shape " + to_string(*data) + " does not fit the kernel " +
                        to_string(kernel));
    batch = data->front();
    channels = (*data)[last ? data->size() - 1 : 1];
    space.assign(data->begin() + (last ? 1 : 2), data->end() - (last ? 1 : 0));
  }

  Shape shape(std::int64_t filters) const { return shape_of(batch, filters, space); }

  /// In the same order.
  Shape shape_of(std::int64_t first, std::int64_t second, const Shape& extents) const {
    Shape result = {first};
    if (!last) result.push_back(second);
    result.insert(result.end(), extents.begin(), extents.end());
    if (last) result.push_back(second);
    return result;
  }
};

}  // namespace afterglow::ops
