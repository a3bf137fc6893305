// SPDX-License-Identifier: Apache-2.0
#include "kernels/channels.h"

#include <algorithm>

#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// The sum of term(i), in lanes that a compiler makes vectors of.
template <class Real, class Term>
double sum_of(std::int64_t count, Term term) {
  constexpr std::int64_t width = 16;
  Real lanes[width] = {};
  std::int64_t i = 0;
  for (; i + width <= count; i += width)
    for (std::int64_t lane = 0; lane < width; ++lane) lanes[lane] += term(i + lane);
  for (; i < count; ++i) lanes[i % width] += term(i);
  double sum = 0;
  for (const Real lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

/// Runs the channels of a share. How many belong to it follows from their size alone.
template <class Run>
void run_share(const Channels& channels, int share, Run run) {
  const std::int64_t shares = channels.shares();
  for (std::int64_t channel = channels.count * share / shares;
       channel < channels.count * (share + 1) / shares; ++channel)
    run(channel);
}

}  // namespace

int Channels::shares() const {
  constexpr std::int64_t smallest_share = 1 << 15;
  const std::int64_t size = outer * count * inner;
  return static_cast<int>(
      std::clamp<std::int64_t>(size / smallest_share, 1, std::max<std::int64_t>(1, count)));
}

ChannelMomentsPass::ChannelMomentsPass(const Channels& channels, DType dtype, const void* data,
                                       void* moments)
    : channels_(channels), dtype_(dtype), data_(data), moments_(moments) {}

template <class Real>
void ChannelMomentsPass::run_channel(std::int64_t channel) const {
  const auto [outer, count, inner] = channels_;
  const auto places = static_cast<double>(outer * inner);
  const auto row = [&, outer_step = count * inner](std::int64_t number) {
    return static_cast<const Real*>(data_) + number * outer_step + channel * inner;
  };
  double sum = 0, squares = 0;
  for (std::int64_t n = 0; n < outer; ++n)
    sum += sum_of<Real>(inner, [x = row(n)](std::int64_t i) { return x[i]; });
  const Real mean = static_cast<Real>(sum / places);
  for (std::int64_t n = 0; n < outer; ++n)
    squares += sum_of<Real>(
        inner, [x = row(n), mean](std::int64_t i) { return (x[i] - mean) * (x[i] - mean); });
  static_cast<Real*>(moments_)[channel] = mean;
  static_cast<Real*>(moments_)[count + channel] = static_cast<Real>(squares / places);
}

void ChannelMomentsPass::run(int share) const {
  run_share(channels_, share, [&](std::int64_t channel) {
    dtype_ == DType::float32 ? run_channel<float>(channel) : run_channel<double>(channel);
  });
}

ChannelSumsPass::ChannelSumsPass(const Channels& channels, DType dtype, const void* values,
                                 const void* data, const void* means, void* sums)
    : channels_(channels),
      dtype_(dtype),
      values_(values),
      data_(data),
      means_(means),
      sums_(sums) {}

template <class Real>
void ChannelSumsPass::run_channel(std::int64_t channel) const {
  const auto [outer, count, inner] = channels_;
  const Real mean = static_cast<const Real*>(means_)[channel];
  double sum = 0, products = 0;
  for (std::int64_t n = 0; n < outer; ++n) {
    const std::int64_t row = (n * count + channel) * inner;
    const Real *const g = static_cast<const Real*>(values_) + row, *const x =
                                                                       static_cast<const Real*>(
                                                                           data_) +
                                                                       row;
    sum += sum_of<Real>(inner, [=](std::int64_t i) { return g[i]; });
    products += sum_of<Real>(inner, [=](std::int64_t i) { return g[i] * (x[i] - mean); });
  }
  static_cast<Real*>(sums_)[channel] = static_cast<Real>(sum);
  static_cast<Real*>(sums_)[count + channel] = static_cast<Real>(products);
}

void ChannelSumsPass::run(int share) const {
  run_share(channels_, share, [&](std::int64_t channel) {
    dtype_ == DType::float32 ? run_channel<float>(channel) : run_channel<double>(channel);
  });
}

}  // namespace afterglow::kernels
