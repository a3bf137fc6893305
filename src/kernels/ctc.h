// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification: how likely a label sequence is, wherever its items fall.
// Between any two items, and around them, a blank may stand; an item may last. The probabilities of
// all ways through these states are added up forwards and backwards, in logarithms.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

struct CtcArrays {
  const void* logarithms;  ///< of probabilities, [steps][batch][alphabet], in `dtype`
  DType dtype;             ///< float32 or float64
  std::int64_t steps, batch, alphabet;
  const std::int64_t* labels;  ///< [batch][items]
  std::int64_t items;
  const std::int64_t* times;    ///< steps of each sample
  const std::int64_t* lengths;  ///< items of each sample; -1: up to the first padding
  bool is_blank_first;          ///< else the last letter is the blank, and padding negative
  void* losses;                 ///< [batch]
  void* shares;                 ///< how often a letter is expected at a step; or nullptr
};

/// A share is a sample.
class CtcPass {
 public:
  explicit CtcPass(const CtcArrays& arrays) : arrays_(arrays) {}
  int shares() const { return static_cast<int>(arrays_.batch); }
  /// What is wrong with the labels or lengths of a sample; nullptr if nothing is.
  const char* run(int share) const;

 private:
  CtcArrays arrays_;
};

}  // namespace afterglow::kernels
