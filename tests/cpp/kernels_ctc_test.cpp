// SPDX-License-Identifier: Apache-2.0
// Losses of unaligned labels, against the sum over every way through the letters.
#include "kernels/ctc.h"

#include <cmath>
#include <vector>

#include "check.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

using Letters = std::vector<std::int64_t>;

/// What is left of a way through the letters without repetitions, then without blanks.
Letters collapsed(const Letters& way, std::int64_t blank) {
  Letters result;
  for (std::size_t i = 0; i < way.size(); ++i) {
    if (way[i] != blank && (i == 0 || way[i] != way[i - 1])) result.push_back(way[i]);
  }
  return result;
}

struct Expected {
  double loss = 0;
  std::vector<double> shares;  ///< [steps][alphabet]
};

Expected reference(const std::vector<double>& logarithms, std::int64_t steps, std::int64_t alphabet,
                   const Letters& label, std::int64_t blank) {
  Expected result{0, std::vector<double>(static_cast<std::size_t>(steps * alphabet))};
  double all = 0;
  Letters way(static_cast<std::size_t>(steps));
  while (true) {
    if (collapsed(way, blank) == label) {
      double sum = 0;
      for (std::int64_t t = 0; t < steps; ++t)
        sum +=
            logarithms[static_cast<std::size_t>(t * alphabet + way[static_cast<std::size_t>(t)])];
      all += std::exp(sum);
      for (std::int64_t t = 0; t < steps; ++t)
        result.shares[static_cast<std::size_t>(t * alphabet + way[static_cast<std::size_t>(t)])] +=
            std::exp(sum);
    }
    std::size_t place = 0;
    while (place < way.size() && ++way[place] == alphabet) way[place++] = 0;
    if (place == way.size()) break;
  }
  for (double& share : result.shares) share /= all;
  result.loss = -std::log(all);
  return result;
}

void check_sample(DType dtype, std::int64_t steps, std::int64_t used, const Letters& label,
                  bool is_blank_first) {
  constexpr std::int64_t alphabet = 4, batch = 2, items = 4;
  const std::int64_t blank = is_blank_first ? 0 : alphabet - 1;
  Buffer logarithms(dtype, steps * batch * alphabet);
  std::vector<double> own;  // of the second sample, the first is there to be passed over
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t sample = 0; sample < batch; ++sample) {
      std::vector<double> chances;
      double sum = 0;
      for (std::int64_t letter = 0; letter < alphabet; ++letter) {
        chances.push_back(random_real(0.1, 1));
        sum += chances.back();
      }
      for (std::int64_t letter = 0; letter < alphabet; ++letter) {
        const std::int64_t at = (t * batch + sample) * alphabet + letter;
        logarithms.set(at, std::log(chances[static_cast<std::size_t>(letter)] / sum));
        if (sample == 1 && t < used) own.push_back(static_cast<double>(logarithms[at]));
      }
    }
  const std::int64_t padding = is_blank_first ? 0 : -1;
  Letters labels(static_cast<std::size_t>(batch * items), padding);
  labels[0] = 1;
  std::copy(label.begin(), label.end(), labels.begin() + items);
  for (const std::int64_t length : {std::int64_t{-1}, static_cast<std::int64_t>(label.size())}) {
    const Letters times = {steps, used}, lengths = {-1, length};
    Buffer losses(dtype, batch), shares(dtype, steps * batch * alphabet);
    const CtcPass pass({logarithms.data(), dtype, steps, batch, alphabet, labels.data(), items,
                        times.data(), lengths.data(), is_blank_first, losses.data(),
                        shares.data()});
    for (int share = 0; share < pass.shares(); ++share) CHECK(pass.run(share) == nullptr);
    const Expected wanted = reference(own, used, alphabet, label, blank);
    const double bound = dtype == DType::float32 ? 1e-5 : 1e-12;
    CHECK(std::abs(static_cast<double>(losses[1]) - wanted.loss) < bound * (1 + wanted.loss));
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::int64_t letter = 0; letter < alphabet; ++letter) {
        const double share = static_cast<double>(shares[(t * batch + 1) * alphabet + letter]);
        const double one =
            t < used ? wanted.shares[static_cast<std::size_t>(t * alphabet + letter)] : 0;
        CHECK(std::abs(share - one) < bound * 10);
      }
  }
}

}  // namespace

TEST("losses and expected letters are those of all ways together") {
  for (const DType dtype : {DType::float32, DType::float64})
    for (const std::int64_t steps : {4, 6})
      for (const std::int64_t used : {std::int64_t{4}, steps}) {
        for (const Letters& label : {Letters{1}, Letters{1, 2}, Letters{2, 2}, Letters{3, 1, 2}})
          check_sample(dtype, steps, used, label, true);
        for (const Letters& label : {Letters{0}, Letters{0, 2}, Letters{1, 1}, Letters{2, 0, 1}})
          check_sample(dtype, steps, used, label, false);
      }
}

TEST("letters that are not in the alphabet are told") {
  const std::vector<float> logarithms(6, -1);
  std::vector<float> losses(1);
  const Letters times = {2}, lengths = {1};
  for (const std::int64_t letter : {3, 99}) {
    const Letters labels = {letter};
    const CtcPass pass({logarithms.data(), DType::float32, 2, 1, 3, labels.data(), 1, times.data(),
                        lengths.data(), true, losses.data(), nullptr});
    CHECK(pass.run(0) != nullptr);
  }
}

CHECK_MAIN
