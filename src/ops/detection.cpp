// SPDX-License-Identifier: Apache-2.0
// Boxes around things in images: announced, without a kernel yet.
#include <array>
#include <string>
#include <vector>

#include "ops/completing.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Choice;
using lazy::Completion;
using lazy::field;
using lazy::NodeForm;
using lazy::required;

using Numbers = std::vector<double>;

struct MultiBoxPrior {
  Numbers sizes = {1}, ratios = {1};
  bool clip = false;
  Numbers steps = {-1, -1}, offsets = {0.5, 0.5};
  static constexpr auto fields = std::tuple{
      field("sizes", &MultiBoxPrior::sizes, "of boxes, by that of the image"),
      field("ratios", &MultiBoxPrior::ratios, "of width and height"),
      field("clip", &MultiBoxPrior::clip, "whether boxes end with the image"),
      field("steps", &MultiBoxPrior::steps, "from box to box, down and right; -1: evenly"),
      field("offsets", &MultiBoxPrior::offsets, "of centres within a step, down and right")};
};

struct MultiBoxTarget {
  double overlap_threshold = 0.5, ignore_label = -1, negative_mining_ratio = -1,
         negative_mining_thresh = 0.5;
  std::int64_t minimum_negative_samples = 0;
  Numbers variances = {0.1, 0.1, 0.2, 0.2};
  static constexpr auto fields = std::tuple{
      field("overlap_threshold", &MultiBoxTarget::overlap_threshold,
            "from which on an anchor matches a box"),
      field("ignore_label", &MultiBoxTarget::ignore_label, "of anchors that do not count"),
      field("negative_mining_ratio", &MultiBoxTarget::negative_mining_ratio,
            "the most negatives for each positive; -1: all"),
      field("negative_mining_thresh", &MultiBoxTarget::negative_mining_thresh,
            "the overlap up to which an anchor is negative"),
      field("minimum_negative_samples", &MultiBoxTarget::minimum_negative_samples,
            "the least number of negatives"),
      field("variances", &MultiBoxTarget::variances, "that places and sizes are divided by")};
};

struct MultiBoxDetection {
  bool clip = true;
  double threshold = 0.01;
  std::int64_t background_id = 0;
  double nms_threshold = 0.5;
  bool force_suppress = false;
  Numbers variances = {0.1, 0.1, 0.2, 0.2};
  std::int64_t nms_topk = -1;
  static constexpr auto fields = std::tuple{
      field("clip", &MultiBoxDetection::clip, "whether boxes end with the image"),
      field("threshold", &MultiBoxDetection::threshold, "the least probability of a detection"),
      field("background_id", &MultiBoxDetection::background_id, "the class of nothing"),
      field("nms_threshold", &MultiBoxDetection::nms_threshold,
            "the overlap from which on the less probable box goes"),
      field("force_suppress", &MultiBoxDetection::force_suppress,
            "whether it goes also if it is of another class"),
      field("variances", &MultiBoxDetection::variances, "times which places and sizes are taken"),
      field("nms_topk", &MultiBoxDetection::nms_topk, "boxes that are looked at; -1: all")};
};

enum class BoxFormat { center, corner };

constexpr auto choices(BoxFormat) {
  return std::array{Choice{"center", BoxFormat::center}, Choice{"corner", BoxFormat::corner}};
}

struct BoxNms {
  double overlap_thresh = 0.5, valid_thresh = 0;
  std::int64_t topk = -1, coord_start = 2, score_index = 1, id_index = -1, background_id = -1;
  bool force_suppress = false;
  BoxFormat in_format = BoxFormat::corner, out_format = BoxFormat::corner;
  static constexpr auto fields = std::tuple{
      field("overlap_thresh", &BoxNms::overlap_thresh, "from which on the lesser box goes"),
      field("valid_thresh", &BoxNms::valid_thresh, "above which a score counts"),
      field("topk", &BoxNms::topk, "boxes that are looked at; -1: all"),
      field("coord_start", &BoxNms::coord_start, "the first column of coordinates"),
      field("score_index", &BoxNms::score_index, "the column of scores"),
      field("id_index", &BoxNms::id_index, "the column of classes; -1: there is none"),
      field("background_id", &BoxNms::background_id, "the class of nothing; -1: there is none"),
      field("force_suppress", &BoxNms::force_suppress,
            "whether a box goes also if it is of another class"),
      field("in_format", &BoxNms::in_format, "what coordinates are given"),
      field("out_format", &BoxNms::out_format, "what coordinates come")};
};

}  // namespace

void declare_detection(Table& table) {
  table.announce<MultiBoxPrior>(
      {.name = "MultiBoxPrior",
       .mxnet_names = {"_contrib_MultiBoxPrior"},
       .inputs = {"data"},
       .complete = [](Completion& completion, const MultiBoxPrior& given) {
         const auto& data = completion.shapes[0];
         if (!data) return;
         if (data->size() < 4) completion.refuse("needs data of at least 4 dimensions");
         const auto boxes = static_cast<std::int64_t>(given.sizes.size() + given.ratios.size()) - 1;
         completion.results = {{1, product(product((*data)[2], (*data)[3]), boxes), 4}};
       }});
  table.announce<MultiBoxTarget>({.name = "MultiBoxTarget",
                                  .mxnet_names = {"_contrib_MultiBoxTarget"},
                                  .inputs = {"anchor", "label", "cls_pred"},
                                  .complete =
                                      [](Completion& completion, const MultiBoxTarget&) {
                                        need_rank(completion, 0, 3);
                                        need_rank(completion, 1, 3);
                                        if (!completion.shapes[0] || !completion.shapes[1]) return;
                                        const std::int64_t anchors = (*completion.shapes[0])[1],
                                                           batch = (*completion.shapes[1])[0];
                                        const Shape places = {batch, product(anchors, 4)};
                                        completion.results = {places, places, {batch, anchors}};
                                      },
                                  .node =
                                      [](NodeForm& node, const MultiBoxTarget&) {
                                        node.outputs = {"loc_target", "loc_mask", "cls_target"};
                                      }});
  table.announce<MultiBoxDetection>(
      {.name = "MultiBoxDetection",
       .mxnet_names = {"_contrib_MultiBoxDetection"},
       .inputs = {"cls_prob", "loc_pred", "anchor"},
       .complete = [](Completion& completion, const MultiBoxDetection&) {
         need_rank(completion, 0, 3);
         const auto& classes = completion.shapes[0];
         if (classes) completion.results = {{(*classes)[0], (*classes)[2], 6}};
       }});
  table.announce<BoxNms>({.name = "box_nms",
                          .mxnet_names = {"_contrib_box_nms"},
                          .inputs = {"data"},
                          .complete = complete_as_first,
                          .node = number_outputs<2>});
}

}  // namespace afterglow::ops
