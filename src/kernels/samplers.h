// SPDX-License-Identifier: Apache-2.0
// Random numbers without a closed form. Each element has a stream of its own: those that reject
// what they drew go on in it, so that no element depends on how many numbers another one took.
#pragma once

#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace afterglow::kernels {

/// Where the stream of a fill starts; see RandomFill.
struct RandomStart {
  std::uint64_t key = 0;
  std::uint64_t counter = 0;
};

enum class Sampler : std::uint8_t { gamma, poisson };

/// Gamma numbers of scale 1, or Poisson numbers. A parameter out of range gives nan.
struct SampleFill {
  Sampler sampler = Sampler::gamma;
  double parameter = 1;                ///< shape, or mean, of all elements
  const double* parameters = nullptr;  ///< of each element, where they differ
  RandomStart start;
  void* output = nullptr;  ///< contiguous
  DType dtype = DType::float32;
  std::int64_t size = 0;
};

std::uint64_t counters_used(const SampleFill& fill);
int share_count(const SampleFill& fill);
void run_share(const SampleFill& fill, int share);

/// Integers from low to low + range - 1, all exactly equally likely.
struct IntegerFill {
  std::int64_t low = 0;
  std::uint64_t range = 1;
  RandomStart start;
  void* output = nullptr;  ///< contiguous
  DType dtype = DType::int32;
  std::int64_t size = 0;
};

std::uint64_t counters_used(const IntegerFill& fill);
int share_count(const IntegerFill& fill);
void run_share(const IntegerFill& fill, int share);

/// Each row of probabilities gives `samples` numbers of categories. Rows need not sum to 1.
struct CategoryFill {
  const void* probabilities = nullptr;  ///< [rows][categories], contiguous
  DType probability_type = DType::float32;
  std::int64_t rows = 0;
  std::int64_t categories = 0;
  std::int64_t samples = 0;
  RandomStart start;
  void* output = nullptr;  ///< [rows][samples]
  DType dtype = DType::int32;
};

std::uint64_t counters_used(const CategoryFill& fill);
int share_count(const CategoryFill& fill);
void run_share(const CategoryFill& fill, int share);

/// Each row counts in how many of `trials` each category came up. Few trials are drawn one by one;
/// of many, each category draws its share of those that are left.
struct CountFill {
  std::vector<double> sums;  ///< running sums of the probabilities of all categories but the last
  std::int64_t trials = 0;
  std::int64_t categories = 0;
  std::int64_t rows = 0;
  RandomStart start;
  std::int64_t* output = nullptr;  ///< [rows][categories]
};

/// Whether the trials are drawn one by one.
bool counts_trials(const CountFill& fill);
std::uint64_t counters_used(const CountFill& fill);
int share_count(const CountFill& fill);
void run_share(const CountFill& fill, int share);

/// Each row has `samples` different integers below `range`, small ones more likely than great ones
/// (Zipf's law), and how many were drawn until there were so many.
struct UniqueFill {
  std::int64_t range = 1;
  std::int64_t rows = 0, samples = 0;
  RandomStart start;
  std::int64_t* output = nullptr;  ///< [rows][samples]
  std::int64_t* tries = nullptr;   ///< [rows]
};

std::uint64_t counters_used(const UniqueFill& fill);
int share_count(const UniqueFill& fill);
void run_share(const UniqueFill& fill, int share);

/// The numbers from 0 to size - 1 in random order.
std::vector<std::uint32_t> permutation(RandomStart start, std::uint32_t size);
std::vector<std::int64_t> long_permutation(RandomStart start, std::int64_t size);
std::uint64_t counters_of_permutation(std::int64_t size);

}  // namespace afterglow::kernels
