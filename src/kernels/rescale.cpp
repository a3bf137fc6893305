// SPDX-License-Identifier: Apache-2.0
#include "kernels/rescale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>
#include <type_traits>

#include "base/element_types.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

constexpr std::int64_t share_size = 1 << 16;
constexpr std::int64_t unit_weight = 1 << 11;  ///< of bytes

/// Halves to the even number; one instruction, also for vectors.
int rounded(float number) {
  return __builtin_irintf(number);
}

std::uint8_t saturated(int number) {
  return static_cast<std::uint8_t>(std::clamp(number, 0, 255));
}

std::int64_t floor_of(double number) {
  return static_cast<std::int64_t>(std::floor(number));
}

/// Of four pixels, of which the second is so far to the left.
void set_cubic(float x, std::span<float> weights) {
  constexpr float slope = -0.75f;
  const auto far = [](float distance) {
    return ((slope * distance - 5 * slope) * distance + 8 * slope) * distance - 4 * slope;
  };
  const auto near = [](float distance) {
    return ((slope + 2) * distance - (slope + 3)) * distance * distance + 1;
  };
  weights[0] = far(x + 1);
  weights[1] = near(x);
  weights[2] = near(1 - x);
  weights[3] = 1 - weights[0] - weights[1] - weights[2];
}

/// Of eight pixels, of which the fourth is so far to the left.
void set_lanczos(float x, std::span<float> weights) {
  std::ranges::fill(weights, 0.0f);
  if (x < std::numeric_limits<float>::epsilon()) {
    weights[3] = 1;
    return;
  }
  float sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // sinc(d) sinc(d / 4) but for a factor that all of them have: sin(pi d) differs by its sign.
    const double angle = (x + 3 - static_cast<double>(i)) * std::numbers::pi / 4;
    weights[i] = static_cast<float>((i % 2 ? 1 : -1) * std::sin(angle) / (angle * angle));
    sum += weights[i];
  }
  for (float& weight : weights) weight /= sum;
}

/// Results between pixels: of the same number of them each, of which those outside are the nearest
/// inside.
Taps taps_between(std::int64_t extent, std::int64_t results, Interpolation interpolation,
                  bool clamps) {
  const std::int64_t count = interpolation == Interpolation::cubic     ? 4
                             : interpolation == Interpolation::lanczos ? 8
                                                                       : 2;
  const double inverse = static_cast<double>(results) / static_cast<double>(extent),
               scale = 1 / inverse;
  Taps taps;
  std::array<float, 8> room = {};
  const std::span<float> weights = std::span(room).first(static_cast<std::size_t>(count));
  for (std::int64_t result = 0; result < results; ++result) {
    const auto number = static_cast<double>(result);
    std::int64_t place = 0;
    float rest = 0;
    if (interpolation == Interpolation::area) {
      place = floor_of(number * scale);
      rest = static_cast<float>(number + 1 - static_cast<double>(place + 1) * inverse);
      rest = rest <= 0 ? 0 : rest - std::floor(rest);
    } else {
      rest = static_cast<float>((number + 0.5) * scale - 0.5);
      place = floor_of(rest);
      rest -= static_cast<float>(place);
    }
    if (count == 2 && clamps && (place < 0 || place >= extent - 1)) {
      place = std::clamp<std::int64_t>(place, 0, extent - 1);
      rest = 0;
    }
    if (interpolation == Interpolation::cubic) {
      set_cubic(rest, weights);
    } else if (interpolation == Interpolation::lanczos) {
      set_lanczos(rest, weights);
    } else {
      weights[0] = 1 - rest;
      weights[1] = rest;
    }
    taps.begins.push_back(std::ssize(taps.places));
    for (std::int64_t i = 0; i < count; ++i) {
      taps.places.push_back(std::clamp<std::int64_t>(place - count / 2 + 1 + i, 0, extent - 1));
      taps.weights.push_back(weights[static_cast<std::size_t>(i)]);
    }
  }
  taps.begins.push_back(std::ssize(taps.places));
  return taps;
}

/// Results that cover several pixels, or parts of them.
Taps taps_over(std::int64_t extent, std::int64_t results) {
  constexpr double least = 1e-3;  // parts that are smaller do not count
  const double scale = 1 / (static_cast<double>(results) / static_cast<double>(extent));
  Taps taps;
  const auto add = [&](std::int64_t place, double weight) {
    taps.places.push_back(place);
    taps.weights.push_back(static_cast<float>(weight));
  };
  for (std::int64_t result = 0; result < results; ++result) {
    const double begin = static_cast<double>(result) * scale, end = begin + scale,
                 width = std::min(scale, static_cast<double>(extent) - begin);
    const std::int64_t last = std::min(floor_of(end), extent - 1),
                       first = std::min(static_cast<std::int64_t>(std::ceil(begin)), last);
    taps.begins.push_back(std::ssize(taps.places));
    if (const double part = static_cast<double>(first) - begin; part > least)
      add(first - 1, part / width);
    for (std::int64_t place = first; place < last; ++place) add(place, 1 / width);
    if (const double part = end - static_cast<double>(last); part > least)
      add(last, std::min(std::min(part, 1.0), width) / width);
  }
  taps.begins.push_back(std::ssize(taps.places));
  return taps;
}

Taps nearest_taps(std::int64_t extent, std::int64_t results) {
  const double scale = 1 / (static_cast<double>(results) / static_cast<double>(extent));
  Taps taps;
  for (std::int64_t result = 0; result < results; ++result)
    taps.places.push_back(std::min(floor_of(static_cast<double>(result) * scale), extent - 1));
  return taps;
}

/// The factor by which an axis shrinks, if that is a whole number; else 0.
std::int64_t whole_factor(std::int64_t extent, std::int64_t results) {
  return extent % results ? 0 : extent / results;
}

// --- rules: what rows and results are made with. `Row` is what a row of the source becomes when
// its columns are taken together. ---

/// Floats, and averages of bytes.
template <class Element, class Real>
struct RealRule {
  using Source = Element;
  using Row = Real;
  using Weight = float;

  static Weight weight(float value) { return value; }
  static Row row(Real sum) { return sum; }

  void finish(const Row* const* rows, const Weight* weights, std::int64_t count,
              std::int64_t length, Real* sums, Element* target) const {
    const Weight first = weights[0];
    for (std::int64_t i = 0; i < length; ++i) sums[i] = rows[0][i] * first;
    for (std::int64_t tap = 1; tap < count; ++tap) {
      const Row* const row = rows[tap];
      const Weight weight = weights[tap];
      for (std::int64_t i = 0; i < length; ++i) sums[i] += row[i] * weight;
    }
    for (std::int64_t i = 0; i < length; ++i) {
      if constexpr (std::is_integral_v<Element>)
        target[i] = saturated(rounded(sums[i]));
      else
        target[i] = sums[i];
    }
  }
};

/// Bytes between two pixels in each direction: rows keep fifteen bits.
struct LinearByteRule {
  using Source = std::uint8_t;
  using Row = std::int16_t;
  using Weight = std::int16_t;

  static Weight weight(float value) { return static_cast<Weight>(rounded(value * unit_weight)); }
  static Row row(std::int32_t sum) { return static_cast<Row>(sum >> 4); }

  void finish(const Row* const* rows, const Weight* weights, std::int64_t, std::int64_t length,
              std::int32_t*, Source* target) const {
    const Row *const above = rows[0], *const below = rows[1];
    const Weight first = weights[0], second = weights[1];
    for (std::int64_t i = 0; i < length; ++i) {
      const auto one = static_cast<std::int16_t>((first * above[i]) >> 16),
                 other = static_cast<std::int16_t>((second * below[i]) >> 16);
      target[i] = static_cast<Source>(static_cast<std::int16_t>(one + other + 2) >> 2);
    }
  }
};

/// Bytes between more pixels.
struct ByteRule {
  using Source = std::uint8_t;
  using Row = std::int32_t;
  using Weight = std::int16_t;

  static Weight weight(float value) { return LinearByteRule::weight(value); }
  static Row row(std::int32_t sum) { return sum; }

  void finish(const Row* const* rows, const Weight* weights, std::int64_t count,
              std::int64_t length, std::int32_t* sums, Source* target) const {
    const std::int64_t begin = count == 4 ? length / 8 * 8 : 0;
    if (begin) round_to_even(rows, weights, begin, target);
    std::fill(sums + begin, sums + length, 1 << 21);
    for (std::int64_t tap = 0; tap < count; ++tap) {
      const Row* const row = rows[tap];
      const std::int32_t weight = weights[tap];
      for (std::int64_t i = begin; i < length; ++i) sums[i] += row[i] * weight;
    }
    for (std::int64_t i = begin; i < length; ++i) target[i] = saturated(sums[i] >> 22);
  }

 private:
  /// OpenCV adds four rows up in vectors of eight floats, which round halves to the even number;
  /// what is left of a row rounds them up.
  static void round_to_even(const Row* const* rows, const Weight* weights, std::int64_t length,
                            Source* target) {
    constexpr float scale = 1.0f / (unit_weight * unit_weight);
    const float first = static_cast<float>(weights[0]) * scale,
                second = static_cast<float>(weights[1]) * scale,
                third = static_cast<float>(weights[2]) * scale,
                fourth = static_cast<float>(weights[3]) * scale;
    const Row *const one = rows[0], *const two = rows[1], *const three = rows[2],
                     *const four = rows[3];
    for (std::int64_t i = 0; i < length; ++i) {
      const float sum = static_cast<float>(one[i]) * first + static_cast<float>(two[i]) * second +
                        static_cast<float>(three[i]) * third + static_cast<float>(four[i]) * fourth;
      target[i] = saturated(rounded(sum));
    }
  }
};

/// Averages of so many whole bytes: exact sums. Four are rounded up, others to the even number.
struct CountRule {
  using Source = std::uint8_t;
  using Row = std::int32_t;
  using Weight = std::int32_t;
  std::int64_t pixels;
  bool rounds_up;

  static Weight weight(float) { return 1; }
  static Row row(std::int32_t sum) { return sum; }

  void finish(const Row* const* rows, const Weight*, std::int64_t count, std::int64_t length,
              std::int32_t* sums, Source* target) const {
    std::copy_n(rows[0], length, sums);
    for (std::int64_t tap = 1; tap < count; ++tap) {
      const Row* const row = rows[tap];
      for (std::int64_t i = 0; i < length; ++i) sums[i] += row[i];
    }
    const float scale = 1.0f / static_cast<float>(pixels);
    for (std::int64_t i = 0; i < length; ++i)
      target[i] = static_cast<Source>(rounds_up ? (sums[i] + 2) >> 2
                                                : rounded(static_cast<float>(sums[i]) * scale));
  }
};

template <class Row>
using SumOf = std::conditional_t<std::is_integral_v<Row>, std::int32_t, Row>;

/// A row of the source with its columns taken together. Loops have so many channels and taps; with
/// 0 as many as there are.
template <class Rule, int channels, int taps_each>
void take_columns(const typename Rule::Source* source, const Taps& taps,
                  const typename Rule::Weight* weights, std::int64_t all_channels,
                  typename Rule::Row* row) {
  using Sum = SumOf<typename Rule::Row>;
  const std::int64_t count = channels ? channels : all_channels,
                     results = std::ssize(taps.begins) - 1;
  const std::int64_t* places = taps.places.data();
  for (std::int64_t result = 0; result < results; ++result, row += count) {
    const auto begin = static_cast<std::size_t>(result);
    const std::int64_t used = taps_each ? taps_each : taps.begins[begin + 1] - taps.begins[begin];
    for (std::int64_t channel = 0; channel < count; ++channel) {
      Sum sum = 0;
      for (std::int64_t tap = 0; tap < used; ++tap)
        sum += static_cast<Sum>(source[places[tap] * count + channel]) * weights[tap];
      row[channel] = Rule::row(sum);
    }
    places += used;
    weights += used;
  }
}

/// The loop for so many channels, and taps if all results have as many.
template <class Rule>
auto column_loop(std::int64_t channels, const Taps& taps) {
  const std::int64_t most = taps.most();
  const bool all = std::ssize(taps.places) == most * (std::ssize(taps.begins) - 1);
  const auto with_taps = [&]<int count>(std::integral_constant<int, count>) {
    if (all && most == 2) return take_columns<Rule, count, 2>;
    if (all && most == 4) return take_columns<Rule, count, 4>;
    return take_columns<Rule, count, 0>;
  };
  if (channels == 1) return with_taps(std::integral_constant<int, 1>{});
  if (channels == 3) return with_taps(std::integral_constant<int, 3>{});
  return with_taps(std::integral_constant<int, 0>{});
}

}  // namespace

std::int64_t Taps::most() const {
  std::int64_t found = 0;
  for (std::size_t i = 1; i < begins.size(); ++i)
    found = std::max(found, begins[i] - begins[i - 1]);
  return found;
}

RescalePass::RescalePass(const Rescaling& rescaling, DType dtype, const void* source, void* target)
    : rescaling_(rescaling), dtype_(dtype), source_(source), target_(target) {
  const Rescaling& r = rescaling_;
  const std::int64_t rows = r.images * r.result_height;
  shares_ =
      static_cast<int>(std::min(rows, divide_up(rows * r.result_width * r.channels, share_size)));
  if (!shares_) return;
  const std::int64_t down = whole_factor(r.height, r.result_height),
                     across = whole_factor(r.width, r.result_width);
  const bool halves = r.interpolation == Interpolation::linear && down == 2 && across == 2;
  const bool is_area = r.interpolation == Interpolation::area || halves;
  averages_ = is_area && r.height >= r.result_height && r.width >= r.result_width;
  counts_pixels_ = averages_ && down && across;
  if (r.interpolation == Interpolation::nearest) {
    rows_ = nearest_taps(r.height, r.result_height);
    columns_ = nearest_taps(r.width, r.result_width);
  } else if (averages_) {
    rows_ = taps_over(r.height, r.result_height);
    columns_ = taps_over(r.width, r.result_width);
  } else {
    rows_ = taps_between(r.height, r.result_height, r.interpolation, false);
    columns_ = taps_between(r.width, r.result_width, r.interpolation, true);
  }
}

void RescalePass::run(int share) const {
  const Rescaling& r = rescaling_;
  const auto [begin, end] = range_of(r.images * r.result_height, shares_, share);
  if (r.interpolation == Interpolation::nearest) {
    with_word(size_of(dtype_), [&](auto word) { take_nearest<decltype(word)>(begin, end); });
  } else if (dtype_ == DType::float32) {
    run_as(RealRule<float, float>{}, begin, end);
  } else if (dtype_ == DType::float64) {
    run_as(RealRule<double, double>{}, begin, end);
  } else if (counts_pixels_) {
    const std::int64_t pixels = r.height / r.result_height * (r.width / r.result_width);
    const bool is_square = pixels == 4 && r.height == 2 * r.result_height,
               has_usual_channels = r.channels == 1 || r.channels == 3 || r.channels == 4;
    run_as(CountRule{pixels, is_square && has_usual_channels}, begin, end);
  } else if (averages_) {
    run_as(RealRule<std::uint8_t, float>{}, begin, end);
  } else if (rows_.most() == 2) {
    run_as(LinearByteRule{}, begin, end);
  } else {
    run_as(ByteRule{}, begin, end);
  }
}

template <class Word>
void RescalePass::take_nearest(std::int64_t begin, std::int64_t end) const {
  const Rescaling& r = rescaling_;
  for (std::int64_t number = begin; number < end; ++number) {
    const std::int64_t image = number / r.result_height, y = number % r.result_height;
    const Word* const source =
        static_cast<const Word*>(source_) +
        (image * r.height + rows_.places[static_cast<std::size_t>(y)]) * r.width * r.channels;
    Word* target = static_cast<Word*>(target_) + number * r.result_width * r.channels;
    for (const std::int64_t place : columns_.places)
      for (std::int64_t channel = 0; channel < r.channels; ++channel)
        *target++ = source[place * r.channels + channel];
  }
}

template <class Rule>
void RescalePass::run_as(const Rule& rule, std::int64_t begin, std::int64_t end) const {
  using Source = typename Rule::Source;
  using Row = typename Rule::Row;
  using Weight = typename Rule::Weight;
  const Rescaling& r = rescaling_;
  const std::int64_t length = r.result_width * r.channels, kept = rows_.most();
  std::vector<Weight> row_weights(rows_.weights.size()), column_weights(columns_.weights.size());
  std::ranges::transform(rows_.weights, row_weights.begin(), Rule::weight);
  std::ranges::transform(columns_.weights, column_weights.begin(), Rule::weight);
  // Row n of the source is kept in place n % kept until another one needs it.
  std::vector<Row> memory(static_cast<std::size_t>(kept * length));
  std::vector<std::int64_t> holds(static_cast<std::size_t>(kept), -1);
  std::vector<const Row*> rows(static_cast<std::size_t>(kept));
  std::vector<SumOf<Row>> sums(static_cast<std::size_t>(length));
  const auto take = column_loop<Rule>(r.channels, columns_);
  for (std::int64_t number = begin; number < end; ++number) {
    const std::int64_t image = number / r.result_height;
    const auto y = static_cast<std::size_t>(number % r.result_height);
    const std::int64_t first = rows_.begins[y], count = rows_.begins[y + 1] - first;
    for (std::int64_t tap = 0; tap < count; ++tap) {
      const std::int64_t place =
          image * r.height + rows_.places[static_cast<std::size_t>(first + tap)];
      const auto slot = static_cast<std::size_t>(place % kept);
      Row* const row = memory.data() + static_cast<std::int64_t>(slot) * length;
      if (holds[slot] != place) {
        take(static_cast<const Source*>(source_) + place * r.width * r.channels, columns_,
             column_weights.data(), r.channels, row);
        holds[slot] = place;
      }
      rows[static_cast<std::size_t>(tap)] = row;
    }
    rule.finish(rows.data(), row_weights.data() + first, count, length, sums.data(),
                static_cast<Source*>(target_) + number * length);
  }
}

}  // namespace afterglow::kernels
