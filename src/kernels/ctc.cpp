// SPDX-License-Identifier: Apache-2.0
#include "kernels/ctc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace afterglow::kernels {

namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

/// The logarithm of a sum, of which the logarithms are given.
double sum_of(double a, double b, double c) {
  const double greatest = std::max(a, std::max(b, c));
  if (greatest == nothing) return nothing;
  return greatest +
         std::log(std::exp(a - greatest) + std::exp(b - greatest) + std::exp(c - greatest));
}

/// One sample. Even states are blanks, odd ones the items of the label.
template <class T>
class Alignment {
 public:
  Alignment(const CtcArrays& arrays, std::int64_t sample, std::int64_t times, std::int64_t items)
      : arrays_(arrays),
        times_(times),
        states_(2 * items + 1),
        logarithms_(static_cast<const T*>(arrays.logarithms) + sample * arrays.alphabet),
        letters_(static_cast<std::size_t>(states_),
                 arrays.is_blank_first ? 0 : arrays.alphabet - 1),
        skips_(static_cast<std::size_t>(states_)) {
    const std::int64_t* const labels = arrays.labels + sample * arrays.items;
    needed_ = items;
    for (std::int64_t i = 0; i < items; ++i) {
      const bool is_repeated = i && labels[i] == labels[i - 1];
      needed_ += is_repeated;
      // From an item to the next one without a blank, unless they are equal.
      skips_[2 * i + 1] = i && !is_repeated && labels[i] != letters_[0];
    }
    for (std::int64_t i = 0; i < items; ++i) letters_[2 * i + 1] = labels[i];
  }

  /// Whether the label is short enough for the time.
  bool is_possible() const { return needed_ <= times_; }

  /// The logarithm of the probability of all ways. `ways`, where it is not nullptr, takes those to
  /// each state at each step.
  double forward(double* ways) const {
    std::vector<double> now(static_cast<std::size_t>(states_), nothing), before = now;
    for (std::int64_t time = 0; time < times_; ++time) {
      for (std::int64_t s = 0; s < states_; ++s) {
        const double to = time ? sum_of(before[s], s ? before[s - 1] : nothing,
                                        skips_[s] ? before[s - 2] : nothing)
                               : (s < 2 ? 0.0 : nothing);
        now[s] = to + at(time, s);
      }
      if (ways) std::ranges::copy(now, ways + time * states_);
      std::swap(now, before);
    }
    return sum_of(before[states_ - 1], states_ > 1 ? before[states_ - 2] : nothing, nothing);
  }

  /// How often each letter is expected at each step, given the ways to all states.
  void expect(const double* ways, double likelihood, T* shares) const {
    // The ways on from each state, and what they are with the step that follows.
    std::vector<double> onward(static_cast<std::size_t>(states_), nothing), after = onward;
    for (std::int64_t time = times_ - 1; time >= 0; --time) {
      T* const row = shares + time * arrays_.batch * arrays_.alphabet;
      for (std::int64_t s = 0; s < states_; ++s) {
        if (time == times_ - 1) {
          onward[s] = s + 2 >= states_ ? 0.0 : nothing;
        } else {
          onward[s] = sum_of(after[s], s + 1 < states_ ? after[s + 1] : nothing,
                             s + 2 < states_ && skips_[s + 2] ? after[s + 2] : nothing);
        }
        const double share = ways[time * states_ + s] + onward[s] - likelihood;
        row[letters_[s]] += static_cast<T>(std::exp(share));
      }
      for (std::int64_t s = 0; s < states_; ++s) after[s] = onward[s] + at(time, s);
    }
  }

 private:
  double at(std::int64_t time, std::int64_t state) const {
    return static_cast<double>(
        logarithms_[time * arrays_.batch * arrays_.alphabet + letters_[state]]);
  }

  const CtcArrays& arrays_;
  const std::int64_t times_, states_;
  const T* const logarithms_;
  std::vector<std::int64_t> letters_;
  std::vector<unsigned char> skips_;
  std::int64_t needed_ = 0;
};

template <class T>
const char* align(const CtcArrays& arrays, std::int64_t sample) {
  const std::int64_t* const labels = arrays.labels + sample * arrays.items;
  const std::int64_t times = arrays.times[sample];
  std::int64_t items = arrays.lengths[sample];
  if (items == -1) {
    const std::int64_t padding = arrays.is_blank_first ? 0 : -1;
    items = std::find_if(labels, labels + arrays.items,
                         [&](std::int64_t label) { return label <= padding; }) -
            labels;
  }
  if (items < 0 || items > arrays.items || times < 1 || times > arrays.steps)
    return "a length is greater than the array, or none";
  if (!std::all_of(labels, labels + items,
                   [&](std::int64_t label) { return label >= 0 && label < arrays.alphabet; }))
    return "a label is not in the alphabet";
  T* const shares = static_cast<T*>(arrays.shares);
  for (std::int64_t time = 0; shares && time < arrays.steps; ++time) {
    std::fill_n(shares + (time * arrays.batch + sample) * arrays.alphabet, arrays.alphabet, T(0));
  }
  T& loss = static_cast<T*>(arrays.losses)[sample];
  const Alignment<T> alignment(arrays, sample, times, items);
  if (!alignment.is_possible()) {
    loss = 0;
    return nullptr;
  }
  std::vector<double> ways(shares ? static_cast<std::size_t>(times * (2 * items + 1)) : 0);
  const double likelihood = alignment.forward(shares ? ways.data() : nullptr);
  loss = static_cast<T>(-likelihood);
  if (shares && likelihood != nothing)
    alignment.expect(ways.data(), likelihood, shares + sample * arrays.alphabet);
  return nullptr;
}

}  // namespace

const char* CtcPass::run(int share) const {
  return arrays_.dtype == DType::float32 ? align<float>(arrays_, share)
                                         : align<double>(arrays_, share);
}

}  // namespace afterglow::kernels
