// SPDX-License-Identifier: Apache-2.0
// Putting the elements along an axis in order, and searching among such.
#pragma once

#include <cstdint>
#include <memory>

#include "kernels/lines.h"

namespace afterglow::kernels {

/// What is wanted of every line: its first `keep` elements in order, their places, or both.
struct SortResults {
  bool descending = false;
  std::int64_t keep = 0;
  void* values = nullptr;  ///< contiguous, [outer][keep][inner], of the input's type; or nullptr
  void* places = nullptr;  ///< the same in `places_dtype`; or nullptr
  DType places_dtype = DType::int64;
  int threads = 1;  ///< how many are expected to work on one long line
};

/// One sort, cut into shares. Equal elements keep their order; nan is greater than all others.
class SortPass {
 public:
  SortPass(const Lines& input, const SortResults& results);
  ~SortPass();
  int shares() const;
  void run(int share);
  void finish();

  struct Plan;

 private:
  std::unique_ptr<Plan> plan_;
};

/// Leaves the first of equal elements of a sorted line, at the front; how many those are. The line
/// has one element at least. All nan are equal if they come from a sort.
std::int64_t drop_equal_neighbours(void* elements, DType dtype, std::int64_t count);

/// Where in a sorted line each of some values belongs: before equal elements or, on the right side,
/// behind them. All arrays are contiguous, line and values of one type.
class SearchPass {
 public:
  SearchPass(const Lines& line, const void* values, std::int64_t count, bool right,
             std::int64_t* result);
  int shares() const { return shares_; }
  void run(int share) const;

 private:
  Lines line_;
  const void* values_;
  std::int64_t count_;
  bool right_;
  std::int64_t* result_;
  int shares_;
};

}  // namespace afterglow::kernels
