// SPDX-License-Identifier: Apache-2.0
#include "kernels/samplers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "kernels/table.h"

namespace afterglow::kernels {
namespace {

__extension__ typedef unsigned __int128 Product;

constexpr std::int64_t share_size = 16 * block_size;
constexpr std::int64_t lanes = philox_blocks_per_group;
/// Elements per group when each takes 64 bits.
constexpr std::int64_t pairs_per_group = 2 * lanes;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::int64_t shares_of(std::int64_t count, std::int64_t size) {
  return std::max<std::int64_t>(1, (count + size - 1) / size);
}

std::uint64_t counters_of_pairs(std::int64_t count) {
  return static_cast<std::uint64_t>((count + pairs_per_group - 1) / pairs_per_group * lanes);
}

struct Block {
  std::uint32_t words[4];
};

/// One generator block. Fills use those of number 0, repetitions of an element the others.
Block generate(RandomStart position, std::uint32_t number) {
  std::uint32_t w0 = static_cast<std::uint32_t>(position.counter);
  std::uint32_t w1 = static_cast<std::uint32_t>(position.counter >> 32);
  std::uint32_t w2 = number, w3 = 0;
  std::uint32_t key0 = static_cast<std::uint32_t>(position.key);
  std::uint32_t key1 = static_cast<std::uint32_t>(position.key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{w0} * 0xD2511F53u;
    const std::uint64_t product1 = std::uint64_t{w2} * 0xCD9E8D57u;
    w0 = static_cast<std::uint32_t>(product1 >> 32) ^ w1 ^ key0;
    w1 = static_cast<std::uint32_t>(product1);
    w2 = static_cast<std::uint32_t>(product0 >> 32) ^ w3 ^ key1;
    w3 = static_cast<std::uint32_t>(product0);
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return {{w0, w1, w2, w3}};
}

std::uint64_t joined(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

/// In [0, 1).
double unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}
/// In (0, 1].
double positive_unit(std::uint64_t bits) {
  return static_cast<double>((bits >> 11) + 1) * 0x1p-53;
}

/// The generator blocks of one element: the first is at hand, others are made when needed.
class ElementStream {
 public:
  ElementStream(RandomStart position, const Block& first) : position_(position), block_(first) {}
  const Block& next() {
    if (number_) block_ = generate(position_, number_);
    ++number_;
    return block_;
  }

 private:
  RandomStart position_;
  Block block_;
  std::uint32_t number_ = 0;
};

/// 64 bits for each element of a fill.
class PairStream {
 public:
  explicit PairStream(RandomStart start) : start_(start) {}

  std::uint64_t bits(std::int64_t element) {
    // Without signs the divisions are shifts.
    const auto number = static_cast<std::uint64_t>(element);
    constexpr auto together = static_cast<std::uint64_t>(pairs_together);
    constexpr auto apart = static_cast<std::uint64_t>(lanes);
    const auto first = static_cast<std::int64_t>(number / together * together);
    if (first != first_) load(first);
    const std::uint64_t place = number % together;
    const std::uint32_t* pair = words_ + place / apart * 2 * apart + place % apart;
    return joined(pair[0], pair[apart]);
  }

  /// A number below `range`, all equally likely (Lemire, 2019).
  std::uint64_t below(std::uint64_t range, std::int64_t element) {
    Product product = Product{bits(element)} * range;
    if (static_cast<std::uint64_t>(product) < range) {
      const std::uint64_t unfair = -range % range;
      for (std::uint32_t number = 1; static_cast<std::uint64_t>(product) < unfair; ++number) {
        product = Product{repeated(element, number)} * range;
      }
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

 private:
  static constexpr std::int64_t groups_together = 8;
  static constexpr std::int64_t pairs_together = groups_together * pairs_per_group;

  void load(std::int64_t first) {
    first_ = first;
    const auto counter = static_cast<std::uint64_t>(first / pairs_per_group * lanes);
    kernel_table().random_words({start_.key, start_.counter + counter}, groups_together, words_);
  }
  std::uint64_t repeated(std::int64_t element, std::uint32_t number) const {
    const std::int64_t place = element % pairs_per_group;
    const std::int64_t counter = element / pairs_per_group * lanes + place % lanes;
    const Block block =
        generate({start_.key, start_.counter + static_cast<std::uint64_t>(counter)}, number);
    const std::int64_t first = place / lanes * 2;
    return joined(block.words[first], block.words[first + 1]);
  }

  RandomStart start_;
  std::int64_t first_ = -1;
  std::uint32_t words_[groups_together * floats_per_group];
};

/// Marsaglia and Tsang (2000): a transformed normal number is nearly gamma distributed.
double gamma(double shape, ElementStream stream) {
  if (!(shape >= 0)) return nan;
  if (shape == 0 || std::isinf(shape)) return shape;
  double boost = 1;
  if (shape < 1) {
    const Block& block = stream.next();
    boost = std::pow(positive_unit(joined(block.words[0], block.words[1])), 1 / shape);
    shape += 1;
  }
  const double size = shape - 1.0 / 3, spread = 1 / std::sqrt(9 * size);
  while (true) {
    const Block& block = stream.next();
    const double radius = std::sqrt(-2 * std::log((block.words[0] + 0.5) * 0x1p-32));
    const double normal = radius * std::cos(block.words[1] * (6.283185307179586477 * 0x1p-32));
    const double root = 1 + spread * normal;
    if (root <= 0) continue;
    const double cube = root * root * root, square = normal * normal;
    const double chance = positive_unit(joined(block.words[2], block.words[3]));
    if (chance < 1 - 0.0331 * square * square ||
        std::log(chance) < 0.5 * square + size * (1 - cube + std::log(cube))) {
      return boost * size * cube;
    }
  }
}

/// Adds up probabilities until they pass a uniform number.
double small_poisson(double mean, const Block& block) {
  double rest = unit(joined(block.words[0], block.words[1]));
  double probability = std::exp(-mean), count = 0;
  // Rounding may leave a rest that no probability of the upper tail reaches.
  while (rest >= probability && probability > 1e-18) {
    rest -= probability;
    probability *= mean / ++count;
  }
  return count;
}

/// Transformed rejection (Hoermann, 1993, PTRS).
double large_poisson(double mean, ElementStream stream) {
  const double b = 0.931 + 2.53 * std::sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double surely = 0.9277 - 3.6224 / (b - 2);
  const double log_mean = std::log(mean);
  while (true) {
    const Block& block = stream.next();
    const double u = unit(joined(block.words[0], block.words[1])) - 0.5;
    const double v = positive_unit(joined(block.words[2], block.words[3]));
    const double edge = 0.5 - std::abs(u);
    const double count = std::floor((2 * a / edge + b) * u + mean + 0.43);
    if (edge >= 0.07 && v <= surely) return count;
    if (count < 0 || (edge < 0.013 && v > edge)) continue;
    int sign;
    const double density = count * log_mean - mean - ::lgamma_r(count + 1, &sign);
    if (std::log(v * inverse_alpha / (a / (edge * edge) + b)) <= density) return count;
  }
}

double poisson(double mean, ElementStream stream) {
  if (!(mean >= 0) || std::isinf(mean)) return nan;
  return mean < 10 ? small_poisson(mean, stream.next()) : large_poisson(mean, stream);
}

/// How many samples make a share. Each share sums up the rows it touches, so that it should take as
/// many samples as a row has categories, at least.
std::int64_t samples_per_share(const CategoryFill& fill) {
  if (fill.categories <= 8 * fill.samples) return std::max<std::int64_t>(8192, fill.categories / 8);
  const std::int64_t row = fill.categories + 8 * fill.samples;
  return fill.samples * std::max<std::int64_t>(1, 65536 / row);
}

/// Finds categories by the running sums of their probabilities.
class Categories {
 public:
  explicit Categories(const CategoryFill& fill)
      : fill_(fill),
        probabilities_(static_cast<std::size_t>(fill.categories)),
        sums_(probabilities_.size()),
        guide_(4 * fill.samples >= fill.categories ? probabilities_.size() : 0) {}

  void load(std::int64_t row) {
    const auto row_bytes =
        fill_.categories * static_cast<std::int64_t>(size_of(fill_.probability_type));
    cast_function(fill_.probability_type, DType::float64)(
        static_cast<const char*>(fill_.probabilities) + row * row_bytes, probabilities_.data(),
        fill_.categories);
    std::partial_sum(probabilities_.begin(), probabilities_.end(), sums_.begin());
    const double step = sums_.back() / static_cast<double>(sums_.size());
    std::size_t found = 0;
    for (std::size_t entry = 0; entry < guide_.size(); ++entry) {
      while (found + 1 < sums_.size() && !(sums_[found] > step * static_cast<double>(entry)))
        ++found;
      guide_[entry] = found;
    }
  }

  /// The first category whose running sum is greater than this part of the total.
  std::size_t at(double part) const {
    const double position = part * sums_.back();
    if (guide_.empty()) {
      const auto found = std::ranges::upper_bound(sums_, position);
      return found == sums_.end() ? last() : static_cast<std::size_t>(found - sums_.begin());
    }
    // Few steps are left from where the guide leads.
    std::size_t found = guide_[static_cast<std::size_t>(part * static_cast<double>(sums_.size()))];
    while (!(sums_[found] > position)) {
      if (++found == sums_.size()) return last();
    }
    return found;
  }

 private:
  /// The last category that can be drawn at all: rounding may put a position at the very end.
  std::size_t last() const {
    return static_cast<std::size_t>(std::ranges::lower_bound(sums_, sums_.back()) - sums_.begin());
  }

  const CategoryFill& fill_;
  std::vector<double> probabilities_, sums_;
  /// Entry i: the category at i equal parts of the total. Empty where a row has few samples.
  std::vector<std::size_t> guide_;
};

/// What Stirling's formula leaves of the logarithm of n!.
double stirling_rest(double n) {
  constexpr double half_log_of_2_pi = 0.91893853320467274178;
  if (n < 16) {
    int sign;
    return ::lgamma_r(n + 1, &sign) - (n + 0.5) * std::log(n) + n - half_log_of_2_pi;
  }
  const double square = n * n;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / square) / square) / square) / n;
}

/// x log(x / mean) + mean - x, also where the two are so close that the terms cancel.
double deviance(double x, double mean) {
  const double distance = x - mean;
  if (std::abs(distance) >= 0.1 * (x + mean)) return x * std::log(x / mean) - distance;
  const double ratio = distance / (x + mean);
  double sum = distance * ratio, term = 2 * x * ratio;
  for (int i = 3; i < 1000; i += 2) {
    term *= ratio * ratio;
    const double next = sum + term / i;
    if (next == sum) break;
    sum = next;
  }
  return sum;
}

/// The logarithm of the chance of `count` successes, after Loader (2000): exact however many trials
/// there are.
double log_binomial(double count, double trials, double chance) {
  const double others = trials - count;
  if (count == 0) return trials * std::log1p(-chance);
  if (others == 0) return trials * std::log(chance);
  const double rests = stirling_rest(trials) - stirling_rest(count) - stirling_rest(others);
  const double deviances =
      deviance(count, trials * chance) + deviance(others, trials * (1 - chance));
  return rests - deviances - 0.5 * std::log(6.283185307179586477 * count * (others / trials));
}

/// Adds up chances until they pass a uniform number. The mean is small.
double few_successes(double trials, double chance, const Block& block) {
  double rest = unit(joined(block.words[0], block.words[1]));
  double probability = std::exp(trials * std::log1p(-chance)), count = 0;
  const double odds = chance / (1 - chance);
  while (rest >= probability && probability > 1e-18 && count < trials) {
    rest -= probability;
    probability *= odds * (trials - count) / (count + 1);
    ++count;
  }
  return count;
}

/// Transformed rejection (Hoermann, 1993, BTRS), for chances up to a half.
double many_successes(double trials, double chance, ElementStream stream) {
  const double mean = trials * chance, spread = std::sqrt(mean * (1 - chance));
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * chance;
  const double surely = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
  const double highest = log_binomial(std::floor((trials + 1) * chance), trials, chance);
  while (true) {
    const Block& block = stream.next();
    const double u = unit(joined(block.words[0], block.words[1])) - 0.5;
    const double v = positive_unit(joined(block.words[2], block.words[3]));
    const double edge = 0.5 - std::abs(u);
    const double count = std::floor((2 * a / edge + b) * u + mean + 0.5);
    if (edge >= 0.07 && v <= surely) return count;
    if (!(count >= 0 && count <= trials)) continue;
    const double density = log_binomial(count, trials, chance) - highest;
    if (std::log(v * alpha / (a / (edge * edge) + b)) <= density) return count;
  }
}

/// How many of the trials succeed.
std::int64_t binomial(std::int64_t trials, double chance, RandomStart position) {
  if (!trials || !(chance > 0)) return 0;
  if (chance >= 1) return trials;
  const double all = static_cast<double>(trials), smaller = std::min(chance, 1 - chance);
  ElementStream stream(position, generate(position, 0));
  const double count = all * smaller < 10 ? few_successes(all, smaller, stream.next())
                                          : many_successes(all, smaller, stream);
  const auto found = std::min(trials, static_cast<std::int64_t>(count));
  return smaller == chance ? found : trials - found;
}

std::int64_t rows_per_share(const CountFill& fill) {
  constexpr std::int64_t steps_of_a_binomial = 8;
  const std::int64_t steps =
      counts_trials(fill) ? fill.trials + fill.categories : fill.categories * steps_of_a_binomial;
  return std::max<std::int64_t>(1, 8192 / steps);
}

template <class Index>
std::vector<Index> shuffled(RandomStart start, std::int64_t size) {
  std::vector<Index> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), Index(0));
  PairStream stream(start);
  // The numbers are drawn some at a time: drawing and swapping in turns waits for both.
  constexpr std::int64_t together = 64;
  std::uint64_t others[together];
  for (std::int64_t last = size - 1; last > 0; last -= together) {
    const std::int64_t count = std::min(together, last);
    for (std::int64_t i = 0; i < count; ++i) {
      others[i] = stream.below(static_cast<std::uint64_t>(last - i) + 1, last - i);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      std::swap(order[static_cast<std::size_t>(last - i)], order[others[i]]);
    }
  }
  return order;
}

}  // namespace

std::uint64_t counters_used(const SampleFill& fill) {
  return static_cast<std::uint64_t>((fill.size + lanes - 1) / lanes * lanes);
}

int share_count(const SampleFill& fill) {
  return static_cast<int>(shares_of(fill.size, share_size));
}

void run_share(const SampleFill& fill, int share) {
  const CastFunction store = cast_function(DType::float64, fill.dtype);
  const std::int64_t begin = share * share_size, end = std::min(fill.size, begin + share_size);
  alignas(64) std::uint32_t words[floats_per_group];
  double values[lanes];
  for (std::int64_t first = begin; first < end; first += lanes) {
    RandomStart position{fill.start.key, fill.start.counter + static_cast<std::uint64_t>(first)};
    kernel_table().random_words({position.key, position.counter}, 1, words);
    const std::int64_t count = std::min(lanes, end - first);
    for (std::int64_t lane = 0; lane < count; ++lane, ++position.counter) {
      const Block block{
          {words[lane], words[lanes + lane], words[2 * lanes + lane], words[3 * lanes + lane]}};
      const double parameter = fill.parameters ? fill.parameters[first + lane] : fill.parameter;
      const ElementStream stream(position, block);
      values[lane] =
          fill.sampler == Sampler::gamma ? gamma(parameter, stream) : poisson(parameter, stream);
    }
    const auto offset = first * static_cast<std::int64_t>(size_of(fill.dtype));
    store(values, static_cast<char*>(fill.output) + offset, count);
  }
}

std::uint64_t counters_used(const IntegerFill& fill) {
  return counters_of_pairs(fill.size);
}

int share_count(const IntegerFill& fill) {
  return static_cast<int>(shares_of(fill.size, share_size));
}

void run_share(const IntegerFill& fill, int share) {
  const CastFunction store = cast_function(DType::int64, fill.dtype);
  const std::int64_t begin = share * share_size, end = std::min(fill.size, begin + share_size);
  PairStream stream(fill.start);
  std::int64_t values[block_size];
  for (std::int64_t first = begin; first < end; first += block_size) {
    const std::int64_t count = std::min(block_size, end - first);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t drawn = stream.below(fill.range, first + i);
      values[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(fill.low) + drawn);
    }
    const auto offset = first * static_cast<std::int64_t>(size_of(fill.dtype));
    store(values, static_cast<char*>(fill.output) + offset, count);
  }
}

std::uint64_t counters_used(const CategoryFill& fill) {
  return counters_of_pairs(fill.rows * fill.samples);
}

int share_count(const CategoryFill& fill) {
  return static_cast<int>(shares_of(fill.rows * fill.samples, samples_per_share(fill)));
}

void run_share(const CategoryFill& fill, int share) {
  const CastFunction store = cast_function(DType::int64, fill.dtype);
  const auto item_size = static_cast<std::int64_t>(size_of(fill.dtype));
  const std::int64_t begin = share * samples_per_share(fill);
  const std::int64_t end = std::min(fill.rows * fill.samples, begin + samples_per_share(fill));
  PairStream stream(fill.start);
  Categories categories(fill);
  std::int64_t row = -1;
  for (std::int64_t i = begin; i < end; ++i) {
    if (i / fill.samples != row) categories.load(row = i / fill.samples);
    const auto category = static_cast<std::int64_t>(categories.at(unit(stream.bits(i))));
    store(&category, static_cast<char*>(fill.output) + i * item_size, 1);
  }
}

bool counts_trials(const CountFill& fill) {
  constexpr std::int64_t few = 8192;
  return fill.trials <= few;
}

std::uint64_t counters_used(const CountFill& fill) {
  const auto rows = static_cast<std::uint64_t>(fill.rows);
  if (!counts_trials(fill)) return rows * static_cast<std::uint64_t>(fill.categories);
  return counters_of_pairs(
      static_cast<std::int64_t>(rows * static_cast<std::uint64_t>(fill.trials)));
}

int share_count(const CountFill& fill) {
  return static_cast<int>(shares_of(fill.rows, rows_per_share(fill)));
}

void run_share(const CountFill& fill, int share) {
  const std::int64_t begin = share * rows_per_share(fill);
  const std::int64_t end = std::min(fill.rows, begin + rows_per_share(fill));
  const std::int64_t last = fill.categories - 1;
  PairStream stream(fill.start);
  for (std::int64_t row = begin; row < end; ++row) {
    std::int64_t* counts = fill.output + row * fill.categories;
    if (counts_trials(fill)) {
      std::fill_n(counts, fill.categories, 0);
      for (std::int64_t trial = 0; trial < fill.trials; ++trial) {
        const double position = unit(stream.bits(row * fill.trials + trial));
        ++counts[std::ranges::upper_bound(fill.sums, position) - fill.sums.begin()];
      }
      continue;
    }
    std::int64_t left = fill.trials;
    double before = 0;
    for (std::int64_t category = 0; category < last; ++category) {
      const double sum = fill.sums[static_cast<std::size_t>(category)];
      const auto place = static_cast<std::uint64_t>(row * fill.categories + category);
      counts[category] = binomial(left, (sum - before) / (1 - before),
                                  {fill.start.key, fill.start.counter + place});
      left -= counts[category];
      before = sum;
    }
    counts[last] = left;
  }
}

std::uint64_t counters_of_permutation(std::int64_t size) {
  return counters_of_pairs(size);
}

std::uint64_t counters_used(const UniqueFill& fill) {
  return static_cast<std::uint64_t>(fill.rows);
}

int share_count(const UniqueFill& fill) {
  return static_cast<int>(fill.rows);
}

void run_share(const UniqueFill& fill, int share) {
  const RandomStart position{fill.start.key,
                             fill.start.counter + static_cast<std::uint64_t>(share)};
  ElementStream stream(position, generate(position, 0));
  std::unordered_set<std::int64_t> seen;
  std::int64_t* next = fill.output + share * fill.samples;
  std::int64_t tries = 0;
  const double logarithm = std::log(static_cast<double>(fill.range));
  while (static_cast<std::int64_t>(seen.size()) < fill.samples) {
    const Block& block = stream.next();
    const double chance = unit(joined(block.words[0], block.words[1]));
    const std::int64_t value = std::lround(std::exp(chance * logarithm)) - 1;
    if (seen.insert(value).second) *next++ = value;
    ++tries;
  }
  fill.tries[share] = tries;
}

std::vector<std::uint32_t> permutation(RandomStart start, std::uint32_t size) {
  return shuffled<std::uint32_t>(start, size);
}

std::vector<std::int64_t> long_permutation(RandomStart start, std::int64_t size) {
  return shuffled<std::int64_t>(start, size);
}

}  // namespace afterglow::kernels
