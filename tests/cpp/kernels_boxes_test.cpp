// SPDX-License-Identifier: Apache-2.0
// Boxes around things in images, against plain loops.
#include "kernels/boxes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "check.h"
#include "kernels_support.h"

using namespace afterglow::kernels;
using namespace kernels_test;

namespace {

/// Edges on a coarse grid, so that many boxes are alike.
template <class T>
std::vector<T> random_boxes(std::int64_t count) {
  std::vector<T> result;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t x[] = {random_integer(0, 8), random_integer(0, 8)},
                 y[] = {random_integer(0, 8), random_integer(0, 8)};
    std::sort(x, x + 2);
    std::sort(y, y + 2);
    for (const std::int64_t edge : {x[0], y[0], x[1], y[1]})
      result.push_back(static_cast<T>(edge) / 8);
  }
  return result;
}

template <class T>
T overlap(const T* a, const T* b) {
  const T width = std::max(T{0}, std::min(a[2], b[2]) - std::max(a[0], b[0])),
          height = std::max(T{0}, std::min(a[3], b[3]) - std::max(a[1], b[1]));
  const T common = width * height,
          both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - common;
  return both > 0 ? common / both : T{0};
}

/// Centre, width and height out of edges.
template <class T>
std::vector<T> centered(const std::vector<T>& edges) {
  std::vector<T> result(edges.size());
  for (std::size_t i = 0; i < edges.size(); i += 4) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      result[i + axis] = (edges[i + axis] + edges[i + 2 + axis]) / 2;
      result[i + 2 + axis] = edges[i + 2 + axis] - edges[i + axis];
    }
  }
  return result;
}

template <class T>
void check_overlaps() {
  for (int round = 0; round < 40; ++round) {
    const std::int64_t lefts = random_integer(1, 9), rights = random_integer(1, 40);
    const std::vector<T> a = random_boxes<T>(lefts), b = random_boxes<T>(rights);
    const std::vector<T> a_centers = centered(a), b_centers = centered(b);
    std::vector<T> found(static_cast<std::size_t>(lefts * rights)), by_centers = found;
    box_overlaps(a.data(), lefts, b.data(), rights, BoxForm::corner, found.data());
    box_overlaps(a_centers.data(), lefts, b_centers.data(), rights, BoxForm::center,
                 by_centers.data());
    for (std::int64_t i = 0; i < lefts * rights; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const T wanted = overlap(&a[static_cast<std::size_t>(i / rights * 4)],
                               &b[static_cast<std::size_t>(i % rights * 4)]);
      CHECK(std::abs(found[at] - wanted) < 1e-6);
      CHECK(std::abs(by_centers[at] - wanted) < 1e-6);
    }
  }
}

/// Rows of class, score and edges; a better box of the class, or of any, hides those it overlaps.
template <class T>
void check_suppression(bool across_classes, std::int64_t topk) {
  constexpr std::int64_t width = 6;
  for (int round = 0; round < 40; ++round) {
    const std::int64_t count = random_integer(1, 30);
    const std::vector<T> edges = random_boxes<T>(count);
    std::vector<T> boxes;
    for (std::int64_t i = 0; i < count; ++i) {
      boxes.push_back(static_cast<T>(random_integer(0, 2)));
      boxes.push_back(static_cast<T>(random_integer(0, 5)) / 5);
      boxes.insert(boxes.end(), edges.begin() + i * 4, edges.begin() + i * 4 + 4);
    }
    const SuppressionRule rule{
        topk, 2, 1, 0, -1, 0.4F, 0.1F, across_classes, BoxForm::corner, BoxForm::corner};
    std::vector<T> found(boxes.size(), T{5});
    std::vector<std::int64_t> places(static_cast<std::size_t>(count));
    suppress_boxes(rule, boxes.data(), count, width, found.data(), places.data());

    const auto row = [&](std::int64_t i) { return &boxes[static_cast<std::size_t>(i * width)]; };
    std::vector<std::int64_t> order;
    for (std::int64_t i = 0; i < count; ++i)
      if (row(i)[1] > T{0.1F}) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return row(a)[1] > row(b)[1]; });
    if (topk > 0 && std::ssize(order) > topk) order.resize(static_cast<std::size_t>(topk));
    std::vector<std::int64_t> kept;
    for (const std::int64_t i : order) {
      const bool is_hidden = std::ranges::any_of(kept, [&](std::int64_t better) {
        return (across_classes || row(better)[0] == row(i)[0]) &&
               overlap(row(better) + 2, row(i) + 2) > T{0.4F};
      });
      if (!is_hidden) kept.push_back(i);
    }
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t column = 0; column < width; ++column) {
        const bool is_box = i < std::ssize(kept);
        const T wanted = is_box ? row(kept[static_cast<std::size_t>(i)])[column] : T{-1};
        CHECK_EQUAL(found[static_cast<std::size_t>(i * width + column)], wanted);
      }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = std::ranges::find(kept, i);
      CHECK_EQUAL(places[static_cast<std::size_t>(i)], at == kept.end() ? -1 : at - kept.begin());
    }
  }
}

/// The best pair that is left, again and again.
template <class T>
void check_matching(bool is_ascend) {
  for (int round = 0; round < 40; ++round) {
    const std::int64_t rows = random_integer(1, 6), columns = random_integer(1, 7);
    std::vector<T> scores;
    for (std::int64_t i = 0; i < rows * columns; ++i)
      scores.push_back(static_cast<T>(random_integer(0, 8)) / 8);
    std::vector<T> of_rows(static_cast<std::size_t>(rows)),
        of_columns(static_cast<std::size_t>(columns));
    match_pairs({0.3F, -1, is_ascend}, scores.data(), rows, columns, of_rows.data(),
                of_columns.data());
    std::vector<T> wanted_rows(of_rows.size(), T{-1}), wanted_columns(of_columns.size(), T{-1});
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return is_ascend ? scores[a] < scores[b] : scores[a] > scores[b];
    });
    for (const std::size_t i : order) {
      const std::size_t row = i / static_cast<std::size_t>(columns),
                        column = i % static_cast<std::size_t>(columns);
      if (is_ascend ? scores[i] > T{0.3F} : scores[i] < T{0.3F}) break;
      if (wanted_rows[row] >= 0 || wanted_columns[column] >= 0) continue;
      wanted_rows[row] = static_cast<T>(column);
      wanted_columns[column] = static_cast<T>(row);
    }
    CHECK(of_rows == wanted_rows);
    CHECK(of_columns == wanted_columns);
  }
}

}  // namespace

TEST("what two boxes have in common") {
  check_overlaps<float>();
  check_overlaps<double>();
}

TEST("boxes that no better one overlaps") {
  for (const bool across_classes : {false, true})
    for (const std::int64_t topk : {-1, 4}) {
      check_suppression<float>(across_classes, topk);
      check_suppression<double>(across_classes, topk);
    }
}

TEST("pairs of rows and columns, best first") {
  for (const bool is_ascend : {false, true}) {
    check_matching<float>(is_ascend);
    check_matching<double>(is_ascend);
  }
}

TEST("decoding undoes encoding") {
  constexpr std::int64_t count = 9, references = 5;
  std::vector<double> anchors, boxes;
  for (std::int64_t i = 0; i < count; ++i)
    for (const double edge : {0.0, 0.1, random_real(0.2, 1), random_real(0.2, 1)})
      anchors.push_back(edge);
  for (std::int64_t i = 0; i < references; ++i)
    for (const double edge : {0.2, 0.0, random_real(0.3, 1), random_real(0.3, 1)})
      boxes.push_back(edge);
  std::vector<double> samples(count, 1), matches, targets(4 * count), masks(4 * count);
  for (std::int64_t i = 0; i < count; ++i)
    matches.push_back(static_cast<double>(random_integer(0, references - 1)));
  samples[2] = 0;
  const std::vector<double> means(4, 0), deviations(4, 1);
  CHECK(encode_boxes(samples.data(), matches.data(), anchors.data(), count, boxes.data(),
                     references, means.data(), deviations.data(), targets.data(),
                     masks.data()) == nullptr);
  std::vector<double> found(4 * count);
  decode_boxes({{1, 1, 1, 1}, -1, BoxForm::corner}, targets.data(), anchors.data(), count,
               found.data());
  for (std::size_t i = 0; i < 4 * count; ++i) {
    const std::size_t box = i / 4;
    CHECK_EQUAL(masks[i], box == 2 ? 0 : 1);
    if (box == 2) {
      CHECK_EQUAL(targets[i], 0);
    } else {
      const double wanted = boxes[static_cast<std::size_t>(matches[box]) * 4 + i % 4];
      CHECK(std::abs(found[i] - wanted) < 1e-12);
    }
  }
  matches[1] = references;
  CHECK(encode_boxes(samples.data(), matches.data(), anchors.data(), count, boxes.data(),
                     references, means.data(), deviations.data(), targets.data(),
                     masks.data()) != nullptr);
}

CHECK_MAIN
