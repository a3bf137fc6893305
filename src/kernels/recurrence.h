// SPDX-License-Identifier: Apache-2.0
// One direction of a recurrent layer through all steps of its sequences, and the way back. Samples
// do not meet, so a share is a range of them, for which the weights are packed once and states and
// gates stay in the nearer caches. For float32 and float64.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace afterglow::kernels {

enum class RecurrentCell : std::uint8_t { gru, lstm, rnn_relu, rnn_tanh };

/// Rows of weights by units.
constexpr std::int64_t gates_of(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
}
/// What a sample keeps of a step for the way back, by units: the gates and, for lstm, the
/// hyperbolic tangent of the cell and the cell before, for gru the product of the state with the
/// last gate.
constexpr std::int64_t kept_of(RecurrentCell cell) {
  return cell == RecurrentCell::lstm ? 6 : cell == RecurrentCell::gru ? 4 : 0;
}

struct RecurrenceShape {
  RecurrentCell cell;
  DType dtype;
  bool backwards;  ///< from the last step to the first
  std::int64_t steps, samples, units;
  const std::int64_t* lengths;  ///< of the sequences, or nullptr: all steps

  std::int64_t rows() const { return gates_of(cell) * units; }
  int shares() const;
};

/// Arrays have no gaps and the axes steps, samples, values, those of states samples and units.
struct Recurrence {
  const void* products;  ///< of the data and its weight, with biases
  const void* weight;    ///< rows by units
  const void* bias;      ///< of gru, for the products of the state
  const void* hidden;    ///< the state before
  const void* cell;      ///< the same of lstm
  void *results, *last_hidden, *last_cell;
  void *kept, *before;  ///< for the way back, or nullptr: see kept_of; the states before the steps
};

class RecurrencePass {
 public:
  RecurrencePass(const RecurrenceShape& shape, const Recurrence& arrays)
      : shape_(shape), arrays_(arrays) {}
  int shares() const { return shape_.shares(); }
  void run(int share) const;

 private:
  RecurrenceShape shape_;
  Recurrence arrays_;
};

struct RecurrenceGradient {
  const void *of_results, *of_hidden, *of_cell;  ///< nullptr for zeros
  const void *weight, *results, *kept, *before;
  void* products;         ///< of those with the data
  void* hidden_products;  ///< of gru: of those with the state
  void *hidden, *cell;
};

class RecurrenceGradientPass {
 public:
  RecurrenceGradientPass(const RecurrenceShape& shape, const RecurrenceGradient& arrays)
      : shape_(shape), arrays_(arrays) {}
  int shares() const { return shape_.shares(); }
  void run(int share) const;

 private:
  RecurrenceShape shape_;
  RecurrenceGradient arrays_;
};

}  // namespace afterglow::kernels
