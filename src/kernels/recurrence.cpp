// SPDX-License-Identifier: Apache-2.0
#include "kernels/recurrence.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/packed.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {

namespace {

/// More would leave threads without work, fewer would read the weights too often.
constexpr std::int64_t samples_of_share = 16;

template <class T>
constexpr DType type_of = std::is_same_v<T, float> ? DType::float32 : DType::float64;

/// A function of each element, in place.
template <class T>
void apply(Formula formula, T* data, std::int64_t count) {
  const BlockFunction function = block_function(formula, type_of<T>);
  for (std::int64_t begin = 0; begin < count; begin += block_size) {
    const void* const inputs[] = {data + begin};
    function(inputs, data + begin, std::min(block_size, count - begin));
  }
}

/// One step of one sample: `x` are the products with the data, `sums` those with the state. Gates
/// and what else is kept go to `kept`.
template <class T>
void lstm_step(const T* x, const T* sums, std::int64_t units, T* kept, T* hidden, T* cell) {
  for (std::int64_t i = 0; i < 4 * units; ++i) kept[i] = x[i] + sums[i];
  apply(Formula::sigmoid, kept, 2 * units);
  apply(Formula::tanh, kept + 2 * units, units);
  apply(Formula::sigmoid, kept + 3 * units, units);
  const T *const in = kept, *const forget = in + units, *const proposed = forget + units,
                 *const out = proposed + units;
  T *const shown = kept + 4 * units, *const before = shown + units;
  for (std::int64_t i = 0; i < units; ++i) {
    before[i] = cell[i];
    shown[i] = cell[i] = forget[i] * cell[i] + in[i] * proposed[i];
  }
  apply(Formula::tanh, shown, units);
  for (std::int64_t i = 0; i < units; ++i) hidden[i] = out[i] * shown[i];
}

template <class T>
void gru_step(const T* x, const T* sums, const T* bias, std::int64_t units, T* kept, T* hidden) {
  for (std::int64_t i = 0; i < 2 * units; ++i) kept[i] = x[i] + (sums[i] + bias[i]);
  apply(Formula::sigmoid, kept, 2 * units);
  const T *const reset = kept, *const update = reset + units;
  T *const proposed = kept + 2 * units, *const product = proposed + units;
  for (std::int64_t i = 0; i < units; ++i) {
    product[i] = sums[2 * units + i] + bias[2 * units + i];
    proposed[i] = x[2 * units + i] + reset[i] * product[i];
  }
  apply(Formula::tanh, proposed, units);
  for (std::int64_t i = 0; i < units; ++i)
    hidden[i] = (1 - update[i]) * proposed[i] + update[i] * hidden[i];
}

/// The way back through one step of one sample: `hidden` and `cell` are gradients of the states
/// after it and become those of the states before, but for what comes through the products;
/// `of_result` are those of the result, or nullptr.
template <class T>
void lstm_back(const T* kept, const T* of_result, std::int64_t units, T* products, T* hidden,
               T* cell) {
  const T *const in = kept, *const forget = in + units, *const proposed = forget + units,
                 *const out = proposed + units, *const shown = out + units,
                 *const before = shown + units;
  if (of_result)
    for (std::int64_t i = 0; i < units; ++i) hidden[i] += of_result[i];
  for (std::int64_t i = 0; i < units; ++i) {
    const T own = cell[i] + hidden[i] * out[i] * (1 - shown[i] * shown[i]);
    products[i] = own * proposed[i] * in[i] * (1 - in[i]);
    products[units + i] = own * before[i] * forget[i] * (1 - forget[i]);
    products[2 * units + i] = own * in[i] * (1 - proposed[i] * proposed[i]);
    products[3 * units + i] = hidden[i] * shown[i] * out[i] * (1 - out[i]);
    cell[i] = own * forget[i];
    hidden[i] = 0;
  }
}

template <class T>
void gru_back(const T* kept, const T* before, const T* of_result, std::int64_t units, T* products,
              T* hidden_products, T* hidden) {
  const T *const reset = kept, *const update = reset + units, *const proposed = update + units,
                 *const product = proposed + units;
  if (of_result)
    for (std::int64_t i = 0; i < units; ++i) hidden[i] += of_result[i];
  for (std::int64_t i = 0; i < units; ++i) {
    const T own = hidden[i] * (1 - update[i]) * (1 - proposed[i] * proposed[i]);
    products[i] = hidden_products[i] = own * product[i] * reset[i] * (1 - reset[i]);
    products[units + i] = hidden_products[units + i] =
        hidden[i] * (before[i] - proposed[i]) * update[i] * (1 - update[i]);
    products[2 * units + i] = own;
    hidden_products[2 * units + i] = own * reset[i];
    hidden[i] *= update[i];
  }
}

template <class T>
void elman_back(RecurrentCell cell, const T* result, const T* of_result, std::int64_t units,
                T* products, T* hidden) {
  if (of_result)
    for (std::int64_t i = 0; i < units; ++i) hidden[i] += of_result[i];
  for (std::int64_t i = 0; i < units; ++i) {
    products[i] = cell == RecurrentCell::rnn_tanh ? hidden[i] * (1 - result[i] * result[i])
                                                  : (result[i] > 0 ? hidden[i] : T(0));
    hidden[i] = 0;
  }
}

/// The sequence of a sample is over at a step.
bool is_over(const RecurrenceShape& shape, std::int64_t sample, std::int64_t time) {
  return shape.lengths && time >= shape.lengths[sample];
}

template <class T>
void run_steps(const RecurrenceShape& shape, const Recurrence& arrays, Range samples) {
  const std::int64_t units = shape.units, rows = shape.rows(), kept = kept_of(shape.cell) * units,
                     first = samples.begin, count = samples.end - samples.begin;
  const auto sized = [](std::int64_t size) {
    return std::vector<T>(static_cast<std::size_t>(size));
  };
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
    if (arrays.before)
      std::copy_n(hidden, count * units, static_cast<T*>(arrays.before) + place * units);
    weight.multiply({hidden, units, 1}, count, sums.data(), rows, false);
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
          lstm_step(x, s, units, own, h, cell + i * units);
          break;
        case RecurrentCell::gru:
          gru_step(x, s, static_cast<const T*>(arrays.bias), units, own, h);
          break;
        case RecurrentCell::rnn_relu:
        case RecurrentCell::rnn_tanh:
          for (std::int64_t j = 0; j < units; ++j) h[j] = x[j] + s[j];
          apply(shape.cell == RecurrentCell::rnn_relu ? Formula::relu : Formula::tanh, h, units);
      }
      std::copy_n(h, units, result);
    }
  }
}

template <class T>
void run_back(const RecurrenceShape& shape, const RecurrenceGradient& arrays, Range samples) {
  const std::int64_t units = shape.units, rows = shape.rows(), kept = kept_of(shape.cell) * units,
                     first = samples.begin, count = samples.end - samples.begin;
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
          lstm_back(own, of_result, units, products, h, cell + i * units);
          break;
        case RecurrentCell::gru:
          gru_back(own, static_cast<const T*>(arrays.before) + row * units, of_result, units,
                   products, through_state + row * rows, h);
          break;
        case RecurrentCell::rnn_relu:
        case RecurrentCell::rnn_tanh:
          elman_back(shape.cell, static_cast<const T*>(arrays.results) + row * units, of_result,
                     units, products, h);
      }
    }
    weight.multiply({through_state + place * rows, rows, 1}, count, hidden, units, true);
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
