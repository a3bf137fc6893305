// SPDX-License-Identifier: Apache-2.0
// Boxes around things in images: overlaps, matching, targets of training, detections, proposals.
// What two boxes have in common decides, and ties are broken by order, so arithmetic and order are
// those of MXNet. All functions are for one sample; T is float or double. Those that find their
// data wanting say why, and nullptr otherwise.
#pragma once

#include <cstdint>
#include <vector>

namespace afterglow::kernels {

/// What the four numbers of a box are: its edges (left, top, right, bottom), or its centre, width
/// and height.
enum class BoxForm : std::uint8_t { center, corner };

/// How much of what two boxes cover they have in common: for each of `lefts` and each of `rights`.
template <class T>
void box_overlaps(const T* lefts, std::int64_t left_count, const T* rights,
                  std::int64_t right_count, BoxForm form, T* result);

struct SuppressionRule {
  std::int64_t topk, coordinates, score, id, background;  ///< columns; -1: there is none
  float overlap, valid;
  bool across_classes;
  BoxForm given, wanted;
};

/// The boxes (rows of `width` numbers) that no better one overlaps, best first; rows of -1 behind
/// them. `places` tells of each box which row of the result it is, or -1.
template <class T>
void suppress_boxes(const SuppressionRule& rule, const T* boxes, std::int64_t count,
                    std::int64_t width, T* result, std::int64_t* places);

struct MatchingRule {
  float threshold;
  std::int64_t topk;
  bool is_ascend;
};

/// The column of each row of a matrix of scores, and the row of each column, best pairs first; -1
/// for those that are left.
template <class T>
void match_pairs(const MatchingRule& rule, const T* scores, std::int64_t rows, std::int64_t columns,
                 T* of_rows, T* of_columns);

/// From the anchors to the boxes that they match, in their centres and sizes; 0 for anchors that
/// are no samples. And a mask of those that are.
template <class T>
const char* encode_boxes(const T* samples, const T* matches, const T* anchors, std::int64_t count,
                         const T* references, std::int64_t reference_count, const T* means,
                         const T* deviations, T* targets, T* masks);

struct DecodingRule {
  float deviations[4];
  float clip;  ///< of what is exponentiated; none if it is not positive
  BoxForm form;
};

/// The other way round: the edges of boxes.
template <class T>
void decode_boxes(const DecodingRule& rule, const T* data, const T* anchors, std::int64_t count,
                  T* result);

struct TargetRule {
  float overlap, ignored, negatives_per_positive, negative_overlap;
  float variances[4];
};

/// What is to be learned for each anchor: the way to its box, a mask, and the class plus 1. Labels
/// are rows of `label_width` numbers, class and edges first; a class of -1 ends them. `scores` are
/// those of all classes for each anchor, that of nothing first.
template <class T>
const char* box_targets(const TargetRule& rule, const T* anchors, std::int64_t count,
                        const T* labels, std::int64_t label_count, std::int64_t label_width,
                        const T* scores, std::int64_t classes, T* places, T* mask, T* found);

struct DetectionRule {
  float threshold, overlap;
  float variances[4];
  std::int64_t topk;
  bool clip, across_classes;
};

/// Rows of class, score and edges: best first, -1 for the class of those that a better one
/// overlaps.
template <class T>
void detect_boxes(const DetectionRule& rule, const T* scores, std::int64_t classes, const T* moves,
                  const T* anchors, std::int64_t count, T* result);

struct ProposalRule {
  std::int64_t candidates, proposals;  ///< looked at, and wanted
  float threshold;
  std::int64_t least_size, stride;
  bool moves_edges;  ///< `moves` are of edges, and not of centres and sizes
};

/// Anchors, shifted to each place of a map of `height` times `width`, moved, and those that no
/// better one overlaps: rows of `sample` and edges. Where there are too few they are repeated.
/// `image` has height, width and scale.
const char* propose_boxes(const ProposalRule& rule, const float* scores, const float* moves,
                          const float* image, const float* anchors, std::int64_t anchor_count,
                          std::int64_t height, std::int64_t width, std::int64_t sample,
                          float* result, float* result_scores);

}  // namespace afterglow::kernels
