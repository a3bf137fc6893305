// SPDX-License-Identifier: Apache-2.0
// Elements named by index arrays: read, written, or added to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// What becomes of an index outside of its axis.
enum class IndexMode : std::uint8_t {
  clip,      ///< the nearest element
  wrap,      ///< counted on from the other end
  from_end,  ///< negative ones count from the end, all others throw Error(index)
  strict,    ///< throws Error(index)
  label,     ///< a class: negative ones mean the first, those too great throw Error(index)
};

/// Some axes of an array. Strides are in elements.
struct Axes {
  int rank = 0;
  const std::int64_t* shape = nullptr;
  const std::int64_t* strides = nullptr;
};

/// One index array, of any type: fractions are cut off.
struct IndexArray {
  const void* data = nullptr;
  DType dtype = DType::int64;
  const std::int64_t* strides = nullptr;  ///< over the positions
  std::int64_t extent = 0;                ///< of the axis that it moves along
  std::int64_t stride = 0;                ///< of that axis
};

/// An array and what names some of its axes. The elements named have the axes `before`, then those
/// of the positions, then `after`.
struct Indexed {
  std::byte* data = nullptr;
  DType dtype = DType::float32;
  Axes before, after;
  /// The shape that all index arrays have; with strides where the position itself moves along the
  /// array as well (as in pick).
  Axes positions;
  std::vector<IndexArray> indices;
  IndexMode mode = IndexMode::from_end;
};

/// result[...] = the elements named, in C order without gaps.
class GatherPass {
 public:
  GatherPass(const Indexed& indexed, std::byte* result);
  ~GatherPass();
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  struct Plan;
  std::unique_ptr<const Plan> plan_;
  int shares_ = 0;
};

/// Where the values to be written come from: axes like those of the elements named.
struct ScatterSource {
  const std::byte* data = nullptr;
  const std::int64_t* before = nullptr;
  const std::int64_t* positions = nullptr;
  const std::int64_t* after = nullptr;
};

/// The elements named = source, or += source. Positions are taken in their order, so the last one
/// wins where an element is named twice. All indices are looked at before anything is written.
class ScatterPass {
 public:
  ScatterPass(const Indexed& indexed, const ScatterSource& source, bool add);
  ~ScatterPass();
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  struct Plan;
  std::unique_ptr<const Plan> plan_;
  int shares_ = 0;
};

/// Rows of `depth` elements: `off`, but `on` where the index points; nowhere if it is outside.
class OneHotPass {
 public:
  OneHotPass(const IndexArray& indices, const Axes& positions, std::byte* result, DType dtype,
             std::int64_t depth, std::uint64_t on, std::uint64_t off);
  ~OneHotPass();
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  struct Plan;
  std::unique_ptr<const Plan> plan_;
  int shares_ = 0;
};

}  // namespace afterglow::kernels
