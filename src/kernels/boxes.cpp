// SPDX-License-Identifier: Apache-2.0
#include "kernels/boxes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace afterglow::kernels {

namespace {

/// The edges and areas of several boxes, each in a row of its own, where loops find them.
template <class T>
struct Edges {
  std::vector<T> left, top, right, bottom, area;

  explicit Edges(std::int64_t count) {
    for (std::vector<T>* each : {&left, &top, &right, &bottom, &area})
      each->resize(static_cast<std::size_t>(count));
  }

  void set(std::int64_t i, const T* box, BoxForm form) {
    T width = box[2], height = box[3];
    if (form == BoxForm::corner) {
      set_edges(i, box[0], box[1], box[2], box[3]);
      width = box[2] - box[0];
      height = box[3] - box[1];
    } else {
      set_edges(i, box[0] - width / 2, box[1] - height / 2, box[0] + width / 2,
                box[1] + height / 2);
    }
    area[i] = width < 0 || height < 0 ? T(0) : width * height;
  }

  void set_edges(std::int64_t i, T left_edge, T top_edge, T right_edge, T bottom_edge) {
    left[i] = left_edge;
    top[i] = top_edge;
    right[i] = right_edge;
    bottom[i] = bottom_edge;
  }
};

/// Indices of `scores` in order; equal ones keep theirs, and what is not a number comes last.
template <class T>
std::vector<std::int64_t> in_order(const std::vector<T>& scores, bool is_ascend = false) {
  std::vector<std::int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int64_t one, std::int64_t other) {
    const T a = scores[one], b = scores[other];
    return (is_ascend ? a < b : a > b) || (a == a && b != b);
  });
  return order;
}

/// For each of several boxes, whether it has enough in common with one: `is_enough` is given what
/// both cover, and what they cover together. `margin` belongs to widths as well. The loop has plain
/// pointers and one type, so that compilers make vectors of it.
template <class T, class Enough, class Found>
void compare(const Edges<T>& boxes, std::int64_t one, std::int64_t begin, std::int64_t end,
             T margin, Enough is_enough, Found found) {
  const T* __restrict left = boxes.left.data();
  const T* __restrict top = boxes.top.data();
  const T* __restrict right = boxes.right.data();
  const T* __restrict bottom = boxes.bottom.data();
  const T* __restrict area = boxes.area.data();
  const T own_left = left[one], own_top = top[one], own_right = right[one],
          own_bottom = bottom[one], own_area = area[one];
  for (std::int64_t j = begin; j < end; ++j) {
    const T width = std::min(own_right, right[j]) - std::max(own_left, left[j]) + margin;
    const T height = std::min(own_bottom, bottom[j]) - std::max(own_top, top[j]) + margin;
    const T common = std::max(T(0), width) * std::max(T(0), height);
    found(j, is_enough(common, own_area + area[j] - common));
  }
}

/// Goes through boxes in order: each that is left puts out those of its class behind it with which
/// it has enough in common. Returns the first `most` that are left.
template <class T, class Enough>
std::vector<std::int64_t> left_of(const Edges<T>& boxes, const std::vector<T>& classes, T margin,
                                  std::int64_t most, Enough is_enough) {
  const auto count = static_cast<std::int64_t>(boxes.area.size());
  std::vector<std::int64_t> left;
  std::vector<T> out(boxes.area.size());
  for (std::int64_t i = 0; i < count && std::ssize(left) < most; ++i) {
    if (out[i] != 0) continue;
    left.push_back(i);
    T* __restrict is_out = out.data();
    const T* __restrict others = classes.data();
    const T own = others[i];
    compare(boxes, i, i + 1, count, margin, is_enough, [=](std::int64_t j, bool enough) {
      is_out[j] = enough & (own == others[j]) ? T(1) : is_out[j];
    });
  }
  return left;
}

template <class T>
void change_form(BoxForm wanted, T* box) {
  if (box[0] < 0) return;  // as MXNet does: those might be missing
  if (wanted == BoxForm::center) {
    const T width = box[2] - box[0], height = box[3] - box[1];
    box[0] = (box[0] + box[2]) / 2;
    box[1] = (box[1] + box[3]) / 2;
    box[2] = width;
    box[3] = height;
  } else {
    const T x = box[0], y = box[1], width = box[2] / 2, height = box[3] / 2;
    box[0] = x - width;
    box[1] = y - height;
    box[2] = x + width;
    box[3] = y + height;
  }
}

}  // namespace

template <class T>
void box_overlaps(const T* lefts, std::int64_t left_count, const T* rights,
                  std::int64_t right_count, BoxForm form, T* result) {
  Edges<T> boxes(right_count + 1);
  for (std::int64_t j = 0; j < right_count; ++j) boxes.set(j, rights + 4 * j, form);
  for (std::int64_t i = 0; i < left_count; ++i, result += right_count) {
    boxes.set(right_count, lefts + 4 * i, form);
    T* __restrict found = result;
    compare(
        boxes, right_count, 0, right_count, T(0),
        [](T common, T all) { return common <= 0 ? T(0) : common / all; },
        [=](std::int64_t j, T overlap) { found[j] = overlap; });
  }
}

template <class T>
void suppress_boxes(const SuppressionRule& rule, const T* boxes, std::int64_t count,
                    std::int64_t width, T* result, std::int64_t* places) {
  if (rule.topk == 0) {
    std::copy_n(boxes, count * width, result);
    std::iota(places, places + count, 0);
    return;
  }
  std::fill_n(result, count * width, T(-1));
  std::fill_n(places, count, std::int64_t{-1});
  std::vector<std::int64_t> valid;
  std::vector<T> scores;
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const box = boxes + i * width;
    if (!(box[rule.score] > static_cast<T>(rule.valid))) continue;
    if (rule.id >= 0 && box[rule.id] == static_cast<T>(rule.background)) continue;
    valid.push_back(i);
    scores.push_back(box[rule.score]);
  }
  const std::vector<std::int64_t> order = in_order(scores);
  std::int64_t considered = std::ssize(valid);
  if (rule.topk > 0) considered = std::min(considered, rule.topk);
  Edges<T> edges(considered);
  std::vector<T> classes(static_cast<std::size_t>(considered));
  const bool by_class = !rule.across_classes && rule.id >= 0;
  for (std::int64_t i = 0; i < considered; ++i) {
    const T* const box = boxes + valid[order[i]] * width;
    edges.set(i, box + rule.coordinates, rule.given);
    if (by_class) classes[i] = std::trunc(box[rule.id]);
  }
  const T overlap = rule.overlap;
  const std::vector<std::int64_t> left = left_of(
      edges, classes, T(0), considered, [=](T common, T all) { return common / all > overlap; });
  for (std::int64_t row = 0; row < std::ssize(left); ++row) {
    const std::int64_t box = valid[order[left[row]]];
    T* const target = result + row * width;
    std::copy_n(boxes + box * width, width, target);
    if (rule.given != rule.wanted) change_form(rule.wanted, target + rule.coordinates);
    places[box] = row;
  }
}

template <class T>
void match_pairs(const MatchingRule& rule, const T* scores, std::int64_t rows, std::int64_t columns,
                 T* of_rows, T* of_columns) {
  std::fill_n(of_rows, rows, T(-1));
  std::fill_n(of_columns, columns, T(-1));
  const std::vector<T> all(scores, scores + rows * columns);
  std::int64_t matched = 0;
  for (const std::int64_t pair : in_order(all, rule.is_ascend)) {
    const std::int64_t row = pair / columns, column = pair % columns;
    if (of_rows[row] != -1 || of_columns[column] != -1) continue;
    if (!(rule.is_ascend ? all[pair] < rule.threshold : all[pair] > rule.threshold)) break;
    of_rows[row] = static_cast<T>(column);
    of_columns[column] = static_cast<T>(row);
    // One more than topk, as in MXNet.
    if (++matched > rule.topk && rule.topk > 0) break;
  }
}

template <class T>
const char* encode_boxes(const T* samples, const T* matches, const T* anchors, std::int64_t count,
                         const T* references, std::int64_t reference_count, const T* means,
                         const T* deviations, T* targets, T* masks) {
  for (std::int64_t i = 0; i < count; ++i, anchors += 4, targets += 4, masks += 4) {
    const bool is_sample = samples[i] > T(0.5);
    std::fill_n(masks, 4, T(is_sample));
    std::fill_n(targets, 4, T(0));
    if (!is_sample) continue;
    if (!(matches[i] > -1 && matches[i] < static_cast<T>(reference_count)))
      return "a match is not the index of a box";
    const T* const box = references + 4 * static_cast<std::int64_t>(matches[i]);
    for (int axis = 0; axis < 2; ++axis) {
      const T width = box[axis + 2] - box[axis], own = anchors[axis + 2] - anchors[axis];
      const T centre = box[axis] + width * T(0.5), own_centre = anchors[axis] + own * T(0.5);
      targets[axis] = ((centre - own_centre) / own - means[axis]) / deviations[axis];
      const double logarithm = std::log(static_cast<double>(width / own));
      targets[axis + 2] = static_cast<T>((logarithm - means[axis + 2]) / deviations[axis + 2]);
    }
  }
  return nullptr;
}

template <class T>
void decode_boxes(const DecodingRule& rule, const T* data, const T* anchors, std::int64_t count,
                  T* result) {
  for (std::int64_t i = 0; i < count; ++i, data += 4, anchors += 4, result += 4) {
    for (int axis = 0; axis < 2; ++axis) {
      T centre = anchors[axis], width = anchors[axis + 2];
      if (rule.form == BoxForm::corner) {
        width = width - centre;
        centre = centre + width * T(0.5);
      }
      const T moved = data[axis] * static_cast<T>(rule.deviations[axis]) * width + centre;
      T power = data[axis + 2] * static_cast<T>(rule.deviations[axis + 2]);
      if (rule.clip > 0)
        power = power < static_cast<T>(rule.clip) ? power : static_cast<T>(rule.clip);
      const T half = static_cast<T>(std::exp(static_cast<double>(power))) * width * T(0.5);
      result[axis] = moved - half;
      result[axis + 2] = moved + half;
    }
  }
}

namespace {

/// The overlaps of anchors with the boxes of labels, and which of them belong together.
template <class T>
class Matches {
 public:
  enum Kind : signed char { unknown = -1, negative, positive };

  Matches(const T* anchors, std::int64_t count, const T* labels, std::int64_t boxes,
          std::int64_t label_width)
      : count_(count), boxes_(boxes), overlaps_(static_cast<std::size_t>(count * boxes)) {
    kinds.resize(static_cast<std::size_t>(count), unknown);
    box_of.resize(static_cast<std::size_t>(count), -1);
    overlap_of.resize(static_cast<std::size_t>(count), -1.0f);
    for (std::int64_t k = 0; k < boxes; ++k) {
      const T* const box = labels + k * label_width + 1;
      const T area = (box[2] - box[0]) * (box[3] - box[1]);
      T* const overlaps = overlaps_.data() + k * count;
      for (std::int64_t j = 0; j < count; ++j) {
        const T* const anchor = anchors + 4 * j;
        const T width = std::min(anchor[2], box[2]) - std::max(anchor[0], box[0]);
        const T height = std::min(anchor[3], box[3]) - std::max(anchor[1], box[1]);
        const T common = std::max(T(0), width) * std::max(T(0), height);
        const T all = (anchor[2] - anchor[0]) * (anchor[3] - anchor[1]) + area - common;
        overlaps[j] = all == 0 ? T(0) : common / all;
      }
    }
  }

  /// The best pairs first, until nothing overlaps: of equal ones that of the first anchor, and then
  /// of the first box.
  void pair_up() {
    struct Best {
      std::int64_t anchor = -1;
      float overlap = 0;
    };
    const auto search = [&](std::int64_t k) {
      Best best{-1, 1e-6f};
      for (std::int64_t j = 0; j < count_; ++j) {
        const float overlap = at(j, k);
        if (overlap > best.overlap && kinds[j] != positive) best = {j, overlap};
      }
      return best;
    };
    std::vector<Best> best(static_cast<std::size_t>(boxes_));
    std::vector<bool> is_open(static_cast<std::size_t>(boxes_), true);
    for (std::int64_t k = 0; k < boxes_; ++k) best[k] = search(k);
    while (true) {
      std::int64_t chosen = -1;
      for (std::int64_t k = 0; k < boxes_; ++k) {
        if (!is_open[k] || best[k].anchor < 0) continue;
        if (chosen < 0 || best[k].overlap > best[chosen].overlap ||
            (best[k].overlap == best[chosen].overlap && best[k].anchor < best[chosen].anchor))
          chosen = k;
      }
      if (chosen < 0) return;
      const Best pair = best[chosen];
      is_open[chosen] = false;
      join(pair.anchor, chosen, pair.overlap);
      for (std::int64_t k = 0; k < boxes_; ++k) {
        if (is_open[k] && best[k].anchor == pair.anchor) best[k] = search(k);
      }
    }
  }

  /// Finds the box that an anchor overlaps most.
  void find(std::int64_t anchor) {
    for (std::int64_t k = 0; k < boxes_; ++k) {
      if (at(anchor, k) > overlap_of[anchor]) {
        overlap_of[anchor] = at(anchor, k);
        box_of[anchor] = k;
      }
    }
  }

  void join(std::int64_t anchor, std::int64_t box, float overlap) {
    box_of[anchor] = box;
    overlap_of[anchor] = overlap;
    kinds[anchor] = positive;
    ++positives;
  }

  std::vector<Kind> kinds;
  std::vector<std::int64_t> box_of;
  std::vector<float> overlap_of;
  std::int64_t positives = 0;

 private:
  float at(std::int64_t anchor, std::int64_t box) const {
    return static_cast<float>(overlaps_[box * count_ + anchor]);
  }

  const std::int64_t count_, boxes_;
  std::vector<T> overlaps_;  ///< those with one box in a row
};

/// How sure the scores of an anchor are that there is nothing.
template <class T>
float share_of_nothing(const T* scores, std::int64_t classes, std::int64_t step) {
  T greatest = scores[0], sum = 0;
  for (std::int64_t k = 1; k < classes; ++k) greatest = std::max(greatest, scores[k * step]);
  for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(scores[k * step] - greatest);
  return static_cast<float>(std::exp(scores[0] - greatest) / sum);
}

}  // namespace

template <class T>
const char* box_targets(const TargetRule& rule, const T* anchors, std::int64_t count,
                        const T* labels, std::int64_t label_count, std::int64_t label_width,
                        const T* scores, std::int64_t classes, T* places, T* mask, T* found) {
  using Found = Matches<T>;
  std::fill_n(places, 4 * count, T(0));
  std::fill_n(mask, 4 * count, T(0));
  std::fill_n(found, count, static_cast<T>(rule.ignored));
  std::int64_t boxes = 0;
  while (boxes < label_count && static_cast<float>(labels[boxes * label_width]) != -1.0f) ++boxes;
  if (boxes < label_count) {
    const T* const end = labels + boxes * label_width;
    if (!std::all_of(end, end + 5, [](T number) { return static_cast<float>(number) == -1.0f; }))
      return "a label of class -1 has a box";
  }
  if (boxes == 0) return nullptr;
  Found matches(anchors, count, labels, boxes, label_width);
  matches.pair_up();
  for (std::int64_t j = 0; j < count && rule.overlap > 0; ++j) {
    if (matches.kinds[j] == Found::positive) continue;
    matches.find(j);
    if (matches.overlap_of[j] > rule.overlap)
      matches.join(j, matches.box_of[j], matches.overlap_of[j]);
  }
  if (rule.negatives_per_positive > 0) {
    const float negatives = static_cast<float>(matches.positives) * rule.negatives_per_positive;
    const auto wanted =
        std::min(static_cast<std::int64_t>(std::min(negatives, static_cast<float>(count))),
                 count - matches.positives);
    std::vector<std::int64_t> candidates;
    std::vector<float> shares;
    for (std::int64_t j = 0; j < count && wanted > 0; ++j) {
      if (matches.kinds[j] == Found::positive) continue;
      matches.find(j);
      if (!(matches.overlap_of[j] < rule.negative_overlap)) continue;
      candidates.push_back(j);
      shares.push_back(-share_of_nothing(scores + j, classes, count));
    }
    if (std::ssize(candidates) < wanted) return "there are too few anchors for so many negatives";
    const std::vector<std::int64_t> order = in_order(shares);
    for (std::int64_t i = 0; i < wanted; ++i) matches.kinds[candidates[order[i]]] = Found::negative;
  } else {
    for (auto& kind : matches.kinds) kind = kind == Found::positive ? kind : Found::negative;
  }
  for (std::int64_t j = 0; j < count; ++j) {
    if (matches.kinds[j] == Found::unknown) continue;
    found[j] = 0;
    if (matches.kinds[j] == Found::negative) continue;
    const T* const label = labels + matches.box_of[j] * label_width;
    found[j] = label[0] + 1;
    for (int axis = 0; axis < 2; ++axis) {
      const auto low = static_cast<float>(anchors[4 * j + axis]),
                 high = static_cast<float>(anchors[4 * j + axis + 2]),
                 box_low = static_cast<float>(label[1 + axis]),
                 box_high = static_cast<float>(label[3 + axis]);
      const float width = high - low, box_width = box_high - box_low;
      const float centre = (low + high) * 0.5f, box_centre = (box_low + box_high) * 0.5f;
      places[4 * j + axis] = T((box_centre - centre) / width / rule.variances[axis]);
      places[4 * j + axis + 2] = T(std::log(box_width / width) / rule.variances[axis + 2]);
    }
    std::fill_n(mask + 4 * j, 4, T(1));
  }
  return nullptr;
}

template <class T>
void detect_boxes(const DetectionRule& rule, const T* scores, std::int64_t classes, const T* moves,
                  const T* anchors, std::int64_t count, T* result) {
  using Row = std::array<T, 6>;
  std::fill_n(result, 6 * count, T(-1));
  std::vector<T> greatest(static_cast<std::size_t>(count), T(-1)),
      of_class(static_cast<std::size_t>(count), T(-1));
  for (std::int64_t k = 1; k < classes; ++k) {
    T* __restrict share = greatest.data();
    T* __restrict found = of_class.data();
    for (std::int64_t i = 0; i < count; ++i) {
      const T one = scores[k * count + i];
      found[i] = one > share[i] ? static_cast<T>(k - 1) : found[i];
      share[i] = one > share[i] ? one : share[i];
    }
  }
  std::vector<Row> rows;
  std::vector<T> shares;
  for (std::int64_t i = 0; i < count; ++i) {
    const T share = greatest[i];
    if (of_class[i] < 0 || share < rule.threshold) continue;
    Row row = {of_class[i], share};
    for (int axis = 0; axis < 2; ++axis) {
      const T low = anchors[4 * i + axis], high = anchors[4 * i + axis + 2];
      const T width = high - low, centre = (low + high) / 2;
      const T moved = moves[4 * i + axis] * rule.variances[axis] * width + centre;
      const T half = std::exp(moves[4 * i + axis + 2] * rule.variances[axis + 2]) * width / 2;
      row[2 + axis] = moved - half;
      row[4 + axis] = moved + half;
    }
    if (rule.clip) {
      for (int edge = 2; edge < 6; ++edge) row[edge] = std::max(T(0), std::min(T(1), row[edge]));
    }
    rows.push_back(row);
    shares.push_back(share);
  }
  const auto write = [&](std::int64_t place, const Row& row) {
    std::ranges::copy(row, result + 6 * place);
  };
  for (std::int64_t i = 0; i < std::ssize(rows); ++i) write(i, rows[i]);
  if (rows.empty() || rule.overlap <= 0 || rule.overlap > 1) return;
  const std::vector<std::int64_t> order = in_order(shares);
  std::int64_t considered = std::ssize(rows);
  if (rule.topk > 0) considered = std::min(considered, rule.topk);
  // The others stay where they were, without a class.
  for (std::int64_t i = considered; i < std::ssize(rows); ++i) result[6 * i] = -1;
  Edges<T> edges(considered);
  std::vector<T> found(static_cast<std::size_t>(considered));
  for (std::int64_t i = 0; i < considered; ++i) {
    const Row& row = rows[order[i]];
    write(i, row);
    result[6 * i] = -1;
    edges.set_edges(i, row[2], row[3], row[4], row[5]);
    edges.area[i] = (row[4] - row[2]) * (row[5] - row[3]);
    found[i] = rule.across_classes ? T(0) : row[0];
  }
  const T overlap = rule.overlap;
  const auto is_enough = [=](T common, T all) {
    return (all <= 0 ? T(0) : common / all) >= overlap;
  };
  for (const std::int64_t i : left_of(edges, found, T(0), considered, is_enough))
    result[6 * i] = rows[order[i]][0];
}

const char* propose_boxes(const ProposalRule& rule, const float* scores, const float* moves,
                          const float* image, const float* anchors, std::int64_t anchor_count,
                          std::int64_t height, std::int64_t width, std::int64_t sample,
                          float* result, float* result_scores) {
  const std::int64_t map = height * width, count = anchor_count * map;
  const auto stride = static_cast<float>(rule.stride);
  const auto rows = static_cast<std::int64_t>(image[0] / stride),
             columns = static_cast<std::int64_t>(image[1] / stride);
  if (rows > height || columns > width) return "an image is larger than the map by its stride";
  const float least = static_cast<float>(rule.least_size) * image[2];
  using Row = std::array<float, 4>;
  std::vector<Row> boxes(static_cast<std::size_t>(count));
  std::vector<float> shares(static_cast<std::size_t>(count));
  for (std::int64_t place = 0; place < map; ++place) {
    const std::int64_t row = place / width, column = place % width;
    for (std::int64_t a = 0; a < anchor_count; ++a) {
      Row& box = boxes[place * anchor_count + a];
      float& share = shares[place * anchor_count + a];
      share = row < rows && column < columns ? scores[a * map + place] : -1.0f;
      for (int axis = 0; axis < 2; ++axis) {
        const auto shift = static_cast<float>((axis ? row : column) * rule.stride);
        const float low = anchors[4 * a + axis] + shift, high = anchors[4 * a + axis + 2] + shift;
        const float by = moves[(4 * a + axis) * map + place],
                    and_by = moves[(4 * a + axis + 2) * map + place];
        if (rule.moves_edges) {
          box[axis] = low + by;
          box[axis + 2] = high + and_by;
        } else {
          const auto size = static_cast<float>(high - low + 1.0);
          const auto centre = static_cast<float>(low + 0.5 * (size - 1.0));
          const float moved = by * size + centre, stretched = std::exp(and_by) * size;
          box[axis] = static_cast<float>(moved - 0.5 * (stretched - 1.0));
          box[axis + 2] = static_cast<float>(moved + 0.5 * (stretched - 1.0));
        }
        const float last = image[axis ? 0 : 1] - 1.0f;
        for (float* edge : {&box[axis], &box[axis + 2]})
          *edge = std::max(std::min(*edge, last), 0.0f);
      }
      if (box[2] - box[0] + 1.0f < least || box[3] - box[1] + 1.0f < least) {
        for (int edge = 0; edge < 4; ++edge) box[edge] += (edge < 2 ? -least : least) / 2;
        share = -1.0f;
      }
    }
  }
  const std::vector<std::int64_t> order = in_order(shares);
  const std::int64_t considered = std::min(rule.candidates, count);
  Edges<float> edges(considered);
  for (std::int64_t i = 0; i < considered; ++i) {
    const Row& box = boxes[order[i]];
    edges.set_edges(i, box[0], box[1], box[2], box[3]);
    edges.area[i] = (box[2] - box[0] + 1) * (box[3] - box[1] + 1);
  }
  const float threshold = rule.threshold;
  const std::vector<std::int64_t> left =
      left_of(edges, std::vector<float>(static_cast<std::size_t>(considered)), 1.0f,
              std::min(rule.proposals, considered),
              [=](float common, float all) { return common / all > threshold; });
  for (std::int64_t i = 0; i < rule.proposals; ++i) {
    const std::int64_t box = order[left[i % std::ssize(left)]];
    result[5 * i] = static_cast<float>(sample);
    std::ranges::copy(boxes[box], result + 5 * i + 1);
    result_scores[i] = shares[box];
  }
  return nullptr;
}

#define FOR_TYPE(T)                                                                              \
  template void box_overlaps(const T*, std::int64_t, const T*, std::int64_t, BoxForm, T*);       \
  template void suppress_boxes(const SuppressionRule&, const T*, std::int64_t, std::int64_t, T*, \
                               std::int64_t*);                                                   \
  template void match_pairs(const MatchingRule&, const T*, std::int64_t, std::int64_t, T*, T*);  \
  template const char* encode_boxes(const T*, const T*, const T*, std::int64_t, const T*,        \
                                    std::int64_t, const T*, const T*, T*, T*);                   \
  template void decode_boxes(const DecodingRule&, const T*, const T*, std::int64_t, T*);         \
  template const char* box_targets(const TargetRule&, const T*, std::int64_t, const T*,          \
                                   std::int64_t, std::int64_t, const T*, std::int64_t, T*, T*,   \
                                   T*);                                                          \
  template void detect_boxes(const DetectionRule&, const T*, std::int64_t, const T*, const T*,   \
                             std::int64_t, T*);
FOR_TYPE(float)
FOR_TYPE(double)
#undef FOR_TYPE

}  // namespace afterglow::kernels
