// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrence.h"

#include <algorithm>
#include <vector>

#include "kernels/packed.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {

namespace {

/// More would leave threads without work, fewer would read the weights too often.
constexpr std::int64_t samples_of_share = 16;

/// The sequence of a sample is over at a step.
bool is_over(const RecurrenceShape& shape, std::int64_t sample, std::int64_t time) {
  return shape.lengths && time >= shape.lengths[sample];
}

/// Rows of an array that is there or not.
template <class T>
NeededSoon needed_rows(const T* data, std::int64_t first, std::int64_t count,
                       std::int64_t columns) {
  if (!data) return {nullptr, 0};
  return {data + first * columns, count * columns * static_cast<std::int64_t>(sizeof(T))};
}

template <class T>
void run_steps(const RecurrenceShape& shape, const Recurrence& arrays, Range samples) {
  const std::int64_t units = shape.units, rows = shape.rows(), kept = kept_of(shape.cell) * units,
                     first = samples.begin, count = samples.end - samples.begin;
  const auto sized = [](std::int64_t size) {
    return std::vector<T>(static_cast<std::size_t>(size));
  };
  const RecurrentFunctions<T>& functions = real_functions<T>().recurrent;
  const PackedFactor<T> weight({static_cast<const T*>(arrays.weight), units, 1}, units, rows);
  std::vector<T> sums = sized(count * rows), scratch = sized(kept);
  T* const hidden = static_cast<T*>(arrays.last_hidden) + first * units;
  std::copy_n(static_cast<const T*>(arrays.hidden) + first * units, count * units, hidden);
  T* cell = nullptr;
  if (shape.cell == RecurrentCell::lstm) {
    cell = static_cast<T*>(arrays.last_cell) + first * units;
    std::copy_n(static_cast<const T*>(arrays.cell) + first * units, count * units, cell);
  }
  for (std::int64_t step = 0; step < shape.steps; ++step) {
    const std::int64_t time = shape.backwards ? shape.steps - 1 - step : step;
    const std::int64_t place = time * shape.samples + first;
    const auto needed = [&](const void* data, std::int64_t columns) {
      return needed_rows(static_cast<const T*>(data), place, count, columns);
    };
    if (arrays.before)
      std::copy_n(hidden, count * units, static_cast<T*>(arrays.before) + place * units);
    const NeededSoon soon[] = {needed(arrays.products, rows), needed(arrays.kept, kept),
                               needed(arrays.results, units)};
    weight.multiply({hidden, units, 1}, count, sums.data(), rows, false, soon);
    for (std::int64_t i = 0; i < count; ++i) {
      const T* const x = static_cast<const T*>(arrays.products) + (place + i) * rows;
      T* const result = static_cast<T*>(arrays.results) + (place + i) * units;
      T* const own =
          arrays.kept ? static_cast<T*>(arrays.kept) + (place + i) * kept : scratch.data();
      T *const h = hidden + i * units, *const s = sums.data() + i * rows;
      if (is_over(shape, first + i, time)) {
        std::fill_n(result, units, T(0));
        if (arrays.kept) std::fill_n(own, kept, T(0));
        continue;
      }
      switch (shape.cell) {
        case RecurrentCell::lstm:
          functions.lstm_step(x, s, units, own, h, cell + i * units);
          break;
        case RecurrentCell::gru:
          functions.gru_step(x, s, static_cast<const T*>(arrays.bias), units, own, h);
          break;
        case RecurrentCell::rnn_relu:
        case RecurrentCell::rnn_tanh:
          functions.elman_step(shape.cell, x, s, units, h);
      }
      std::copy_n(h, units, result);
    }
  }
}

template <class T>
void run_back(const RecurrenceShape& shape, const RecurrenceGradient& arrays, Range samples) {
  const std::int64_t units = shape.units, rows = shape.rows(), kept = kept_of(shape.cell) * units,
                     first = samples.begin, count = samples.end - samples.begin;
  const RecurrentFunctions<T>& functions = real_functions<T>().recurrent;
  const PackedFactor<T> weight({static_cast<const T*>(arrays.weight), 1, units}, rows, units);
  const auto begin = [&](const void* given, void* target) {
    T* const own = static_cast<T*>(target) + first * units;
    if (given)
      std::copy_n(static_cast<const T*>(given) + first * units, count * units, own);
    else
      std::fill_n(own, count * units, T(0));
    return own;
  };
  T* const hidden = begin(arrays.of_hidden, arrays.hidden);
  T* const cell = shape.cell == RecurrentCell::lstm ? begin(arrays.of_cell, arrays.cell) : nullptr;
  T* const through_state =
      static_cast<T*>(arrays.hidden_products ? arrays.hidden_products : arrays.products);
  for (std::int64_t step = shape.steps - 1; step >= 0; --step) {
    const std::int64_t time = shape.backwards ? shape.steps - 1 - step : step;
    const std::int64_t place = time * shape.samples + first;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = place + i;
      T* const products = static_cast<T*>(arrays.products) + row * rows;
      if (is_over(shape, first + i, time)) {
        std::fill_n(products, rows, T(0));
        std::fill_n(through_state + row * rows, rows, T(0));
        continue;
      }
      const T* const of_result =
          arrays.of_results ? static_cast<const T*>(arrays.of_results) + row * units : nullptr;
      T* const h = hidden + i * units;
      const T* const own = static_cast<const T*>(arrays.kept) + row * kept;
      switch (shape.cell) {
        case RecurrentCell::lstm:
          functions.lstm_back(own, of_result, units, products, h, cell + i * units);
          break;
        case RecurrentCell::gru:
          functions.gru_back(own, static_cast<const T*>(arrays.before) + row * units, of_result,
                             units, products, through_state + row * rows, h);
          break;
        case RecurrentCell::rnn_relu:
        case RecurrentCell::rnn_tanh:
          functions.elman_back(shape.cell, static_cast<const T*>(arrays.results) + row * units,
                               of_result, units, products, h);
      }
    }
    const std::int64_t next = shape.backwards ? place + shape.samples : place - shape.samples;
    const auto needed = [&](const void* data, std::int64_t columns) {
      return needed_rows(step ? static_cast<const T*>(data) : nullptr, next, count, columns);
    };
    const NeededSoon soon[] = {needed(arrays.kept, kept), needed(arrays.of_results, units),
                               needed(arrays.products, rows)};
    weight.multiply({through_state + place * rows, rows, 1}, count, hidden, units, true, soon);
  }
}

}  // namespace

int RecurrenceShape::shares() const {
  return static_cast<int>(divide_up(samples, samples_of_share));
}

void RecurrencePass::run(int share) const {
  const Range range = range_of(shape_.samples, shares(), share);
  if (shape_.dtype == DType::float32)
    run_steps<float>(shape_, arrays_, range);
  else
    run_steps<double>(shape_, arrays_, range);
}

void RecurrenceGradientPass::run(int share) const {
  const Range range = range_of(shape_.samples, shares(), share);
  if (shape_.dtype == DType::float32)
    run_back<float>(shape_, arrays_, range);
  else
    run_back<double>(shape_, arrays_, range);
}

}  // namespace afterglow::kernels
