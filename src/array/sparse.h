// SPDX-License-Identifier: Apache-2.0
// Arrays whose zeros are not stored. Such an array has a shape and a type like all others, and in
// place of memory the arrays that it is made of. These are never written: who writes a sparse array
// gives it other parts, so arrays may share them.
#pragma once

#include <utility>

#include "array/array.h"

namespace afterglow {

/// All of it needs the issuing right.
struct SparseParts : Lender {
  Array data;
  Array indices;
  Array indptr;  ///< of compressed rows; none where whole rows are stored

  SparseParts(Array its_data, Array its_indices, Array its_indptr)
      : data(std::move(its_data)), indices(std::move(its_indices)), indptr(std::move(its_indptr)) {
    ++alive_;
  }
  ~SparseParts() override { --alive_; }
  SparseParts(const SparseParts&) = delete;
  SparseParts& operator=(const SparseParts&) = delete;

  bool has_compressed_rows() const { return static_cast<bool>(indptr.storage); }
  /// Some array is sparse: the only question that programs without any pay for.
  static bool any() { return alive_ > 0; }

 private:
  static inline std::int64_t alive_ = 0;
};

/// What a sparse array is made of; nullptr for a dense one.
inline SparseParts* sparse_parts(const Array& array) {
  Lender* const lender = array.storage ? array.storage->lender() : nullptr;
  return lender ? dynamic_cast<SparseParts*>(lender) : nullptr;
}

}  // namespace afterglow
