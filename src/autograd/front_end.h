// SPDX-License-Identifier: Apache-2.0
// What issuing asks of the language above: which statement it is, and how that waits.
#pragma once

#include <memory>
#include <string>

#include "autograd/handle.h"
#include "lazy/failure.h"
#include "lazy/site.h"

namespace afterglow::autograd {

/// This one is that of a program in C++: it waits for nothing and knows no lines.
class FrontEnd {
 public:
  virtual ~FrontEnd() = default;
  /// The statement that is being run.
  virtual lazy::Site site() const { return {}; }
  /// "file.py:12 in function", or nothing where it is not known.
  virtual std::string describe(const lazy::Site&) const { return {}; }
  /// Waits until one more call keeps within the run-ahead limits.
  virtual void wait_for_room() const {}
  /// Waits until nothing unfinished touches memory that code outside shares.
  virtual void wait_for_others(const Array&) const {}
  /// Waits for a value; returns what it is poisoned by, if anything, without raising it.
  virtual std::shared_ptr<Failure> wait_for_value(const Array& array) const;
  /// Of arrays one of which is sparse (array/sparse.h): their sum, whose memory is its own.
  virtual Handle sparse_sum(const Handle& left, const Handle& right) const;
  /// target[...] = value where one of them is sparse; without a value zeros.
  virtual void sparse_write(const Handle& target, const Handle& value) const;
  /// The same array with its zeros.
  virtual Handle to_dense(const Handle& sparse) const;
  /// Zeros of a shape with values added to the rows that indices name, as a sparse array.
  virtual Handle sum_rows(const Handle& indices, const Handle& values, const Shape& shape) const;
  /// Throws what a call failed with.
  [[noreturn]] virtual void raise(Failure& failure) const;
};

/// Lives as long as the process; nullptr for that of C++. Everybody else asks front_end().
inline constinit const FrontEnd* chosen_front_end = nullptr;

const FrontEnd& front_end_of_cpp();

/// That of the process.
inline const FrontEnd& front_end() {
  return chosen_front_end ? *chosen_front_end : front_end_of_cpp();
}

}  // namespace afterglow::autograd
