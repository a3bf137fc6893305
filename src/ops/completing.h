// SPDX-License-Identifier: Apache-2.0
// What ops share that say shapes before there are arrays: see `complete` and `node` in lazy/op.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lazy/op.h"

namespace afterglow::ops {

/// Refuses data of another rank than `rank`.
inline void need_rank(const lazy::Completion& completion, std::size_t input, std::size_t rank) {
  const auto& shape = completion.shapes[input];
  if (shape && shape->size() != rank)
    completion.refuse(std::string(completion.op.inputs[input]) + " has shape " + to_string(*shape) +
                      "; it needs " + std::to_string(rank) + " dimensions");
}

/// The extent of an axis, or -1.
inline std::int64_t extent_of(const std::optional<Shape>& shape, std::size_t axis) {
  return shape ? shape->at(axis) : -1;
}

inline std::int64_t product(std::int64_t one, std::int64_t other) {
  return one < 0 || other < 0 ? -1 : one * other;
}

inline void need_positive(const lazy::Completion& completion, std::string_view name,
                          std::int64_t value) {
  if (value < 1)
    completion.refuse(std::string(name) + " is " + std::to_string(value) + "; it must be positive");
}

inline void need_positive(const lazy::Completion& completion, std::string_view name,
                          const Shape& values) {
  for (const std::int64_t value : values) need_positive(completion, name, value);
}

/// Refuses what is no height and width.
inline void need_size(const lazy::Completion& completion, std::string_view name,
                      const Shape& size) {
  if (size.size() != 2 || size[0] < 1 || size[1] < 1)
    completion.refuse(std::string(name) + " is " + to_string(size) +
                      "; it must be a height and a width");
}

inline void complete_as_first(lazy::Completion& completion) {
  if (completion.shapes[0]) completion.results = {*completion.shapes[0]};
}

/// One result that programs can use, and others for the gradient.
template <std::size_t count>
void hide_outputs(lazy::NodeForm& node) {
  for (std::size_t i = 1; i < count; ++i) node.outputs.push_back("hidden" + std::to_string(i));
  node.usable = 1;
}

}  // namespace afterglow::ops
