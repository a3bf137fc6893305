// SPDX-License-Identifier: Apache-2.0
// One step of one sample of a recurrent layer, and the way back through it.
#pragma once

#include <cstdint>

#include "kernels/isa/blocks.h"
#include "kernels/isa/types.h"
#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

/// A function of each element, in place.
template <Formula formula, class T>
void apply_to(T* data, std::int64_t count) {
  for (std::int64_t begin = 0; begin < count; begin += block_size) {
    const void* const inputs[] = {data + begin};
    const std::int64_t left = count - begin;
    apply<formula, T>(inputs, data + begin, left < block_size ? left : block_size);
  }
}

template <class T>
void lstm_step(const T* x, const T* sums, std::int64_t units, T* kept, T* hidden, T* cell) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < 4 * units; ++i) kept[i] = x[i] + sums[i];
  apply_to<Formula::sigmoid>(kept, 2 * units);
  apply_to<Formula::tanh>(kept + 2 * units, units);
  apply_to<Formula::sigmoid>(kept + 3 * units, units);
  const T *const in = kept, *const forget = in + units, *const proposed = forget + units,
                 *const out = proposed + units;
  T *const shown = kept + 4 * units, *const before = shown + units;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < units; ++i) {
    before[i] = cell[i];
    shown[i] = cell[i] = forget[i] * cell[i] + in[i] * proposed[i];
  }
  apply_to<Formula::tanh>(shown, units);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < units; ++i) hidden[i] = out[i] * shown[i];
}

template <class T>
void gru_step(const T* x, const T* sums, const T* bias, std::int64_t units, T* kept, T* hidden) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < 2 * units; ++i) kept[i] = x[i] + (sums[i] + bias[i]);
  apply_to<Formula::sigmoid>(kept, 2 * units);
  const T *const reset = kept, *const update = reset + units;
  T *const proposed = kept + 2 * units, *const product = proposed + units;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < units; ++i) {
    product[i] = sums[2 * units + i] + bias[2 * units + i];
    proposed[i] = x[2 * units + i] + reset[i] * product[i];
  }
  apply_to<Formula::tanh>(proposed, units);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < units; ++i)
    hidden[i] = (1 - update[i]) * proposed[i] + update[i] * hidden[i];
}

template <class T>
void lstm_back(const T* kept, const T* of_result, std::int64_t units, T* products, T* hidden,
               T* cell) {
  const T *const in = kept, *const forget = in + units, *const proposed = forget + units,
                 *const out = proposed + units, *const shown = out + units,
                 *const before = shown + units;
  if (of_result)
#pragma GCC ivdep
    for (std::int64_t i = 0; i < units; ++i) hidden[i] += of_result[i];
#pragma GCC ivdep
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
#pragma GCC ivdep
    for (std::int64_t i = 0; i < units; ++i) hidden[i] += of_result[i];
#pragma GCC ivdep
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
void elman_step(RecurrentCell cell, const T* x, const T* sums, std::int64_t units, T* hidden) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < units; ++i) hidden[i] = x[i] + sums[i];
  if (cell == RecurrentCell::rnn_relu)
    apply_to<Formula::relu>(hidden, units);
  else
    apply_to<Formula::tanh>(hidden, units);
}

template <class T>
void elman_back(RecurrentCell cell, const T* result, const T* of_result, std::int64_t units,
                T* products, T* hidden) {
  if (of_result)
#pragma GCC ivdep
    for (std::int64_t i = 0; i < units; ++i) hidden[i] += of_result[i];
#pragma GCC ivdep
  for (std::int64_t i = 0; i < units; ++i) {
    products[i] = cell == RecurrentCell::rnn_tanh ? hidden[i] * (1 - result[i] * result[i])
                                                  : (result[i] > 0 ? hidden[i] : T(0));
    hidden[i] = 0;
  }
}

template <class T>
constexpr RecurrentFunctions<T> recurrent_functions = {lstm_step<T>, gru_step<T>, elman_step<T>,
                                                       lstm_back<T>, gru_back<T>, elman_back<T>};

}  // namespace
}  // namespace afterglow::kernels
