// SPDX-License-Identifier: Apache-2.0
// Boxes around things in images. Each public op takes any floating type, and calls one with a
// kernel, which goes sample by sample.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/boxes.h"
#include "ops/common.h"
#include "ops/completing.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

using kernels::BoxForm;

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

}  // namespace
}  // namespace afterglow::ops

namespace afterglow::kernels {

constexpr auto choices(BoxForm) {
  using lazy::Choice;
  return std::array{Choice{"center", BoxForm::center}, Choice{"corner", BoxForm::corner}};
}

}  // namespace afterglow::kernels

namespace afterglow::ops {
namespace {

struct BoxNms {
  double overlap_thresh = 0.5, valid_thresh = 0;
  std::int64_t topk = -1, coord_start = 2, score_index = 1, id_index = -1, background_id = -1;
  bool force_suppress = false;
  BoxForm in_format = BoxForm::corner, out_format = BoxForm::corner;
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

struct NoParameters {
  static constexpr std::tuple<> fields = {};
};

struct BoxIou {
  BoxForm format = BoxForm::corner;
  static constexpr auto fields =
      std::tuple{field("format", &BoxIou::format, "what coordinates are given")};
};

struct BoxDecode {
  double std0 = 1, std1 = 1, std2 = 1, std3 = 1, clip = -1;
  BoxForm format = BoxForm::center;
  static constexpr auto fields =
      std::tuple{field("std0", &BoxDecode::std0, "times which the way to the right is taken"),
                 field("std1", &BoxDecode::std1, "times which the way down is taken"),
                 field("std2", &BoxDecode::std2, "times which the logarithm of widths is taken"),
                 field("std3", &BoxDecode::std3, "times which the logarithm of heights is taken"),
                 field("clip", &BoxDecode::clip, "the greatest of these logarithms; -1: any"),
                 field("format", &BoxDecode::format, "what coordinates anchors have")};
};

struct BipartiteMatching {
  bool is_ascend = false;
  double threshold = 0;
  std::int64_t topk = -1;
  static constexpr auto fields = std::tuple{
      field("is_ascend", &BipartiteMatching::is_ascend, "whether the least score is the best"),
      required("threshold", &BipartiteMatching::threshold, "the score that a match must be beyond"),
      field("topk", &BipartiteMatching::topk, "the number of matches; -1: any")};
};

struct Proposal {
  std::int64_t rpn_pre_nms_top_n = 6000, rpn_post_nms_top_n = 300;
  double threshold = 0.7;
  std::int64_t rpn_min_size = 16;
  Numbers scales = {4, 8, 16, 32}, ratios = {0.5, 1, 2};
  std::int64_t feature_stride = 16;
  bool output_score = false, iou_loss = false;
  static constexpr auto fields = std::tuple{
      field("rpn_pre_nms_top_n", &Proposal::rpn_pre_nms_top_n,
            "boxes that are looked at, the best first; 0: all"),
      field("rpn_post_nms_top_n", &Proposal::rpn_post_nms_top_n, "boxes that come"),
      field("threshold", &Proposal::threshold, "the overlap from which on the lesser box goes"),
      field("rpn_min_size", &Proposal::rpn_min_size, "the least width and height"),
      field("scales", &Proposal::scales, "of anchors"),
      field("ratios", &Proposal::ratios, "of height and width of anchors"),
      field("feature_stride", &Proposal::feature_stride, "from anchor to anchor, in the image"),
      field("output_score", &Proposal::output_score, "whether the scores come too"),
      field("iou_loss", &Proposal::iou_loss, "whether edges are moved, not centres and sizes")};
};

// --- what they have in common ---

/// A pass that goes sample by sample; no sample knows of the others.
template <class Function>
class SamplesPass : public lazy::Pass {
 public:
  SamplesPass(std::int64_t samples, Function function)
      : samples_(samples),
        shares_(static_cast<int>(std::min<std::int64_t>(samples, 256))),
        function_(std::move(function)) {}
  int shares() const override { return shares_; }
  void run(int share) override {
    const std::int64_t begin = samples_ * share / shares_, end = samples_ * (share + 1) / shares_;
    for (std::int64_t sample = begin; sample < end; ++sample) function_(sample);
  }

 private:
  const std::int64_t samples_;
  const int shares_;
  const Function function_;
};

template <class Function>
std::unique_ptr<lazy::Pass> each_sample(std::int64_t samples, Function function) {
  return std::make_unique<SamplesPass<Function>>(samples, std::move(function));
}

/// `make` is called with a number of the type of the first input, and returns the pass.
template <class Make>
std::unique_ptr<lazy::Pass> of_type(const Call& call, Make make) {
  return call.inputs[0].dtype == DType::float32 ? make(float{}) : make(double{});
}

template <class T>
const T* data_of(const Operand& input) {
  return reinterpret_cast<const T*>(input.data());
}
template <class T>
T* result_of(const Operand& output) {
  return reinterpret_cast<T*>(output.data());
}

/// Fails with what a kernel has to say of its data, if it has.
void check_data(const Call& call, const char* what) {
  if (what) throw Error(ErrorKind::value, "[" + std::string(call.op->name) + "] " + what);
}

void check_factors(const Inference& inference) {
  const auto& inputs = inference.call.inputs;
  for (const Operand& input : inputs) {
    if (input.is_immediate() || !input.layout->is_contiguous())
      inference.refuse("needs contiguous arrays");
    if (input.dtype != inputs[0].dtype)
      inference.refuse("needs arrays of one type", ErrorKind::type);
  }
  if (inputs[0].dtype != DType::float32 && inputs[0].dtype != DType::float64)
    inference.refuse("needs float32 or float64", ErrorKind::type);
}

/// Refuses an input that does not have these extents; -1 stands for any.
void need_extents(const Inference& inference, std::size_t input, const Shape& extents,
                  const char* words) {
  const auto shape = inference.call.inputs[input].shape();
  bool fits = shape.size() == extents.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = extents[i] < 0 || shape[i] == extents[i];
  if (!fits)
    inference.refuse(std::string(inference.op.inputs[input]) + " has shape " +
                     to_string(Shape(shape.begin(), shape.end())) + "; it must be " + words);
}

void set_cost(Inference& inference, double nanoseconds) {
  inference.call.cost = 300 + nanoseconds;
}

/// The results of an op with a kernel, in the type of the inputs; the first `usable` of them are
/// results of the composition.
Value compute(Composition& c, const lazy::Op& op, std::span<const Value> inputs,
              std::span<const lazy::Argument> arguments, std::size_t usable) {
  const DType dtype = c[0].array.dtype;
  for (const Value& input : c.inputs()) {
    if (!is_floating(input.array.dtype)) c.refuse("needs floating data", ErrorKind::type);
    if (input.array.dtype != dtype) c.refuse("needs arrays of one type", ErrorKind::type);
  }
  autograd::CallBuilder builder(op, false);
  std::vector<Value> taken;
  for (const Value& input : inputs) {
    const bool as_it_is =
        input.array.dtype != DType::float16 && input.array.layout->is_contiguous();
    taken.push_back(as_it_is ? input : copy(input, compute_type(input.array.dtype)));
  }
  for (const Value& input : taken) builder.add(input);
  std::vector<autograd::Handle> others;
  const Value result = builder.issue({arguments, {}, nullptr}, &others);
  for (std::size_t i = 1; i < usable; ++i) c.add_output(in_type(Value(others[i - 1]), dtype));
  return in_type(result, dtype);
}

/// The op of that name, of the inputs and parameters of the composition.
template <Name name, class Parameters, std::size_t usable = 1>
Value computed(Composition& c, const Parameters& given) {
  return compute(c, the_op<name>(), c.inputs(), lazy::write_arguments(given), usable);
}

/// A few numbers as an array.
struct Literal {
  Numbers values;
  static constexpr auto fields = std::tuple{required("values", &Literal::values, "the elements")};

  struct Settled {
    static constexpr std::size_t most = 23;
    std::int32_t count;
    std::array<float, most> values;
  };
};

void literal_infer(Inference& inference, const Literal& given) {
  Literal::Settled settled = {static_cast<std::int32_t>(given.values.size()), {}};
  if (given.values.size() > settled.most) inference.refuse("got too many values");
  std::ranges::transform(given.values, settled.values.begin(),
                         [](double value) { return static_cast<float>(value); });
  inference.add_output(Shape{settled.count}, DType::float32);
  inference.call.settled.set(settled);
  inference.call.cost = 100;
}

class LiteralPass : public lazy::Pass {
 public:
  explicit LiteralPass(const Call& call)
      : settled_(call.settled.get<Literal::Settled>()),
        result_(result_of<float>(call.outputs[0])) {}
  void run(int) override { std::copy_n(settled_.values.begin(), settled_.count, result_); }

 private:
  const Literal::Settled settled_;
  float* const result_;
};

Value literal(std::span<const double> numbers, Context context) {
  std::vector<Value> parts;
  while (!numbers.empty()) {
    const auto part = numbers.first(std::min(numbers.size(), Literal::Settled::most));
    const lazy::Argument arguments[] = {Numbers(part.begin(), part.end())};
    autograd::CallBuilder builder(the_op<"literal">(), false);
    parts.push_back(builder.issue({arguments, context, nullptr}));
    numbers = numbers.subspan(part.size());
  }
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

std::array<float, 4> four(const Inference& inference, const char* name, const Numbers& numbers) {
  if (numbers.size() != 4) inference.refuse(std::string(name) + " must be four numbers");
  std::array<float, 4> result;
  std::ranges::transform(numbers, result.begin(),
                         [](double number) { return static_cast<float>(number); });
  return result;
}

// --- anchors ---

/// Around the middle of each place of a map all sizes with the first ratio, then the first size
/// with all others. Computed in float32, as in MXNet.
Value multibox_prior(Composition& c, const MultiBoxPrior& given) {
  const Shape shape = shape_of(c[0]);
  if (shape.size() < 4 || shape[2] < 1 || shape[3] < 1)
    c.refuse("needs data of at least 4 dimensions, of which axes 2 and 3 have elements");
  if (!is_floating(c[0].array.dtype)) c.refuse("needs floating data", ErrorKind::type);
  if (given.sizes.empty() || given.ratios.empty()) c.refuse("needs sizes and ratios");
  if (given.steps.size() != 2 || given.offsets.size() != 2)
    c.refuse("steps and offsets must be two numbers each, down and right");
  if (given.steps[0] * given.steps[1] < 0) c.refuse("needs both steps, or none");
  for (const double offset : given.offsets) {
    if (!(offset >= 0 && offset <= 1)) c.refuse("offsets must lie between 0 and 1");
  }
  const std::int64_t extents[] = {shape[2], shape[3]};
  const bool is_stepped = given.steps[0] > 0 && given.steps[1] > 0;
  const Context context = c[0].array.context();
  Value centres[2];
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const float step = is_stepped ? static_cast<float>(given.steps[axis])
                                  : 1.0f / static_cast<float>(extents[axis]);
    const Value middles = (count_up(extents[axis], DType::float32, context) + given.offsets[axis]) *
                          static_cast<double>(step);
    const Shape along = axis ? Shape{1, extents[1], 1, 1} : Shape{extents[0], 1, 1, 1};
    centres[axis] = stretch(shaped(middles, along), {extents[0], extents[1], 1, 1});
  }
  Numbers corners;
  const auto add = [&](double given_size, double given_ratio) {
    const auto size = static_cast<float>(given_size);
    const float ratio = std::sqrt(static_cast<float>(given_ratio));
    const float width = size * static_cast<float>(extents[0]) / static_cast<float>(extents[1]) *
                        ratio / 2,
                height = size / ratio / 2;
    corners.insert(corners.end(), {-width, -height, width, height});
  };
  for (const double size : given.sizes) add(size, given.ratios[0]);
  for (std::size_t i = 1; i < given.ratios.size(); ++i) add(given.sizes[0], given.ratios[i]);
  const auto boxes = static_cast<std::int64_t>(corners.size()) / 4;
  const Value around[] = {centres[1], centres[0], centres[1], centres[0]};
  Value result = concat(around, 3) + shaped(literal(corners, context), {1, 1, boxes, 4});
  if (given.clip) result = minimum(maximum(result, 0), 1);
  return in_type(shaped(result, {1, extents[0] * extents[1] * boxes, 4}), c[0].array.dtype);
}

// --- what is to be learned ---

void target_infer(Inference& inference, const MultiBoxTarget& given) {
  check_factors(inference);
  Call& call = inference.call;
  need_extents(inference, 0, {1, -1, 4}, "(1, anchors, 4)");
  need_extents(inference, 1, {-1, -1, -1}, "(batch, labels, 5 or more)");
  const auto anchors = call.inputs[0].shape()[1];
  const auto labels = call.inputs[1].shape();
  if (anchors < 1 || labels[1] < 1 || labels[2] < 5)
    inference.refuse("needs anchors, and labels of at least 5 numbers");
  need_extents(inference, 2, {labels[0], -1, anchors}, "(batch, classes, anchors)");
  if (given.negative_mining_ratio > 0) {
    if (!(given.negative_mining_thresh > 0))
      inference.refuse("negative_mining_thresh must be positive");
    if (call.inputs[2].shape()[1] < 1) inference.refuse("needs classes in cls_pred");
  }
  kernels::TargetRule rule = {static_cast<float>(given.overlap_threshold),
                              static_cast<float>(given.ignore_label),
                              static_cast<float>(given.negative_mining_ratio),
                              static_cast<float>(given.negative_mining_thresh),
                              {}};
  std::ranges::copy(four(inference, "variances", given.variances), rule.variances);
  const std::int64_t batch = labels[0], boxes = labels[1];
  const DType dtype = call.inputs[0].dtype;
  inference.add_output(Shape{batch, 4 * anchors}, dtype);
  inference.add_output(Shape{batch, 4 * anchors}, dtype);
  inference.add_output(Shape{batch, anchors}, dtype);
  call.settled.set(rule);
  set_cost(inference, 4.0 * static_cast<double>(batch * anchors * (boxes + 4)));
}

std::unique_ptr<lazy::Pass> target_kernel(const Call& call) {
  return of_type(call, [&]<class T>(T) {
    const auto labels = call.inputs[1].shape();
    return each_sample(labels[0], [&call](std::int64_t sample) {
      const auto rule = call.settled.get<kernels::TargetRule>();
      const auto extents = call.inputs[1].shape();
      const std::int64_t anchors = call.inputs[0].shape()[1], classes = call.inputs[2].shape()[1];
      check_data(call,
                 kernels::box_targets(rule, data_of<T>(call.inputs[0]), anchors,
                                      data_of<T>(call.inputs[1]) + sample * extents[1] * extents[2],
                                      extents[1], extents[2],
                                      data_of<T>(call.inputs[2]) + sample * classes * anchors,
                                      classes, result_of<T>(call.outputs[0]) + 4 * sample * anchors,
                                      result_of<T>(call.outputs[1]) + 4 * sample * anchors,
                                      result_of<T>(call.outputs[2]) + sample * anchors));
    });
  });
}

void encode_infer(Inference& inference) {
  check_factors(inference);
  Call& call = inference.call;
  need_extents(inference, 2, {-1, -1, 4}, "(batch, anchors, 4)");
  const std::int64_t batch = call.inputs[2].shape()[0], anchors = call.inputs[2].shape()[1];
  for (const std::size_t input : {0, 1})
    need_extents(inference, input, {batch, anchors}, "(batch, anchors)");
  need_extents(inference, 3, {batch, -1, 4}, "(batch, boxes, 4)");
  for (const std::size_t input : {4, 5}) need_extents(inference, input, {4}, "four numbers");
  for (int i = 0; i < 2; ++i) inference.add_output(call.inputs[2].shape(), call.inputs[2].dtype);
  set_cost(inference, 40.0 * static_cast<double>(batch * anchors));
}

std::unique_ptr<lazy::Pass> encode_kernel(const Call& call) {
  return of_type(call, [&]<class T>(T) {
    const auto extents = call.inputs[2].shape();
    return each_sample(extents[0], [&call, anchors = extents[1]](std::int64_t sample) {
      const std::int64_t boxes = call.inputs[3].shape()[1], place = sample * anchors;
      check_data(call, kernels::encode_boxes(data_of<T>(call.inputs[0]) + place,
                                             data_of<T>(call.inputs[1]) + place,
                                             data_of<T>(call.inputs[2]) + 4 * place, anchors,
                                             data_of<T>(call.inputs[3]) + 4 * sample * boxes, boxes,
                                             data_of<T>(call.inputs[4]), data_of<T>(call.inputs[5]),
                                             result_of<T>(call.outputs[0]) + 4 * place,
                                             result_of<T>(call.outputs[1]) + 4 * place));
    });
  });
}

void decode_infer(Inference& inference, const BoxDecode& given) {
  check_factors(inference);
  Call& call = inference.call;
  need_extents(inference, 0, {-1, -1, 4}, "(batch, anchors, 4)");
  need_extents(inference, 1, {1, call.inputs[0].shape()[1], 4}, "(1, anchors, 4)");
  inference.add_output(call.inputs[0].shape(), call.inputs[0].dtype);
  call.settled.set(
      kernels::DecodingRule{{static_cast<float>(given.std0), static_cast<float>(given.std1),
                             static_cast<float>(given.std2), static_cast<float>(given.std3)},
                            static_cast<float>(given.clip),
                            given.format});
  set_cost(inference, 10.0 * static_cast<double>(call.inputs[0].size()));
}

std::unique_ptr<lazy::Pass> decode_kernel(const Call& call) {
  return of_type(call, [&]<class T>(T) {
    const auto extents = call.inputs[0].shape();
    return each_sample(extents[0], [&call, anchors = extents[1]](std::int64_t sample) {
      kernels::decode_boxes(call.settled.get<kernels::DecodingRule>(),
                            data_of<T>(call.inputs[0]) + 4 * sample * anchors,
                            data_of<T>(call.inputs[1]), anchors,
                            result_of<T>(call.outputs[0]) + 4 * sample * anchors);
    });
  });
}

// --- what is found ---

void detection_infer(Inference& inference, const MultiBoxDetection& given) {
  check_factors(inference);
  Call& call = inference.call;
  need_extents(inference, 0, {-1, -1, -1}, "(batch, classes, anchors)");
  const auto scores = call.inputs[0].shape();
  const std::int64_t batch = scores[0], anchors = scores[2];
  if (anchors < 1) inference.refuse("needs anchors");
  need_extents(inference, 1, {batch, 4 * anchors}, "(batch, 4 times anchors)");
  need_extents(inference, 2, {1, anchors, 4}, "(1, anchors, 4)");
  kernels::DetectionRule rule = {static_cast<float>(given.threshold),
                                 static_cast<float>(given.nms_threshold),
                                 {},
                                 given.nms_topk,
                                 given.clip,
                                 given.force_suppress};
  std::ranges::copy(four(inference, "variances", given.variances), rule.variances);
  set_cost(inference, 10.0 * static_cast<double>(call.inputs[0].size() + batch * anchors * 20));
  inference.add_output(Shape{batch, anchors, 6}, call.inputs[0].dtype);
  call.settled.set(rule);
}

std::unique_ptr<lazy::Pass> detection_kernel(const Call& call) {
  return of_type(call, [&]<class T>(T) {
    return each_sample(call.inputs[0].shape()[0], [&call](std::int64_t sample) {
      const std::int64_t classes = call.inputs[0].shape()[1], anchors = call.inputs[0].shape()[2];
      kernels::detect_boxes(call.settled.get<kernels::DetectionRule>(),
                            data_of<T>(call.inputs[0]) + sample * classes * anchors, classes,
                            data_of<T>(call.inputs[1]) + 4 * sample * anchors,
                            data_of<T>(call.inputs[2]), anchors,
                            result_of<T>(call.outputs[0]) + 6 * sample * anchors);
    });
  });
}

/// Refuses a column that is not there.
void check_columns(const Inference& inference, const BoxNms& given, std::int64_t width) {
  const auto refuse = [&](const char* what) {
    inference.refuse("score_index is " + std::to_string(given.score_index) + ", coord_start " +
                     std::to_string(given.coord_start) + " and id_index " +
                     std::to_string(given.id_index) + "; " + what);
  };
  const auto is_column = [&](std::int64_t index) { return index >= 0 && index < width; };
  const auto is_coordinate = [&](std::int64_t index) {
    return index >= given.coord_start && index < given.coord_start + 4;
  };
  if (!is_column(given.score_index) || !is_column(given.coord_start) ||
      !is_column(given.coord_start + 3) || given.id_index >= width)
    refuse("each must be a column of the data");
  if (is_coordinate(given.score_index) || given.id_index == given.score_index ||
      (given.id_index >= 0 && is_coordinate(given.id_index)))
    refuse("these must be columns of their own, of which coordinates are four");
}

void suppress_infer(Inference& inference, const BoxNms& given) {
  check_factors(inference);
  Call& call = inference.call;
  const auto shape = call.inputs[0].shape();
  const std::int64_t least = given.id_index >= 0 ? 6 : 5;
  if (shape.size() < 2 || shape.back() < least)
    inference.refuse("needs data of at least 2 dimensions, the last of at least " +
                     std::to_string(least));
  check_columns(inference, given, shape.back());
  Shape places(shape.begin(), shape.end() - 1);
  const double boxes = static_cast<double>(element_count(places));
  set_cost(inference, boxes * (30 + 0.5 * static_cast<double>(places.back())));
  inference.add_output(call.inputs[0].shape(), call.inputs[0].dtype);
  inference.add_output(places, DType::int64);
  call.settled.set(kernels::SuppressionRule{
      given.topk, given.coord_start, given.score_index, given.id_index, given.background_id,
      static_cast<float>(given.overlap_thresh), static_cast<float>(given.valid_thresh),
      given.force_suppress, given.in_format, given.out_format});
}

std::unique_ptr<lazy::Pass> suppress_kernel(const Call& call) {
  return of_type(call, [&]<class T>(T) {
    const auto places = call.outputs[1].shape();
    const std::int64_t boxes = places.back(),
                       samples = boxes ? element_count(places) / boxes : std::int64_t{0};
    return each_sample(samples, [&call, boxes](std::int64_t sample) {
      const std::int64_t width = call.inputs[0].shape().back(), begin = sample * boxes;
      auto* const rows = result_of<std::int64_t>(call.outputs[1]) + begin;
      kernels::suppress_boxes(call.settled.get<kernels::SuppressionRule>(),
                              data_of<T>(call.inputs[0]) + begin * width, boxes, width,
                              result_of<T>(call.outputs[0]) + begin * width, rows);
      for (std::int64_t i = 0; i < boxes; ++i) rows[i] += rows[i] < 0 ? 0 : begin;
    });
  });
}

/// Each box has the gradient of the row that it became; its numbers count as copied, also where
/// another form was wanted, as in MXNet.
Value through_suppression(Gradient& c) {
  const Shape shape = c.shape(0);
  if (!element_count(shape)) return zeros(c, 0);
  const std::int64_t width = shape.back(), boxes = element_count(shape) / width;
  const Value places = shaped(c.output(1), {boxes});
  const Value rows[] = {maximum(places, 0)};
  const Value moved = gather(shaped(c.g, {boxes, width}), rows);
  return shaped(where(shaped(places, {boxes, 1}) >= 0, moved, 0), shape);
}

// --- proposals ---

/// Boxes around the first place of a map, of several ratios and scales.
Numbers anchors_of(const Proposal& given) {
  Numbers result;
  const auto side = static_cast<float>(given.feature_stride);
  const auto centre = static_cast<float>(0.5 * (side - 1.0f));
  for (const double ratio : given.ratios) {
    for (const double each : given.scales) {
      const auto scale = static_cast<float>(each);
      const float area = std::floor(side * side / static_cast<float>(ratio));
      const float width = std::floor(std::sqrt(area) + 0.5f) * scale;
      const float height = std::floor(width / scale * static_cast<float>(ratio) + 0.5f) * scale;
      const float right = 0.5f * (width - 1.0f), down = 0.5f * (height - 1.0f);
      result.insert(result.end(), {centre - right, centre - down, centre + right, centre + down});
    }
  }
  return result;
}

void proposal_infer(Inference& inference, const Proposal& given) {
  check_factors(inference);
  Call& call = inference.call;
  need_extents(inference, 0, {-1, -1, -1, -1}, "(batch, 2 times anchors, height, width)");
  const auto scores = call.inputs[0].shape();
  const std::int64_t batch = scores[0], anchors = call.inputs[3].shape()[0],
                     count = anchors * scores[2] * scores[3];
  need_extents(inference, 0, {-1, 2 * anchors, -1, -1},
               "(batch, 2 times anchors, height, width), with an anchor for each ratio and scale");
  need_extents(inference, 1, {batch, 4 * anchors, scores[2], scores[3]},
               "(batch, 4 times anchors, height, width)");
  need_extents(inference, 2, {batch, 3}, "(batch, 3)");
  if (!count) inference.refuse("needs anchors");
  if (given.rpn_post_nms_top_n < 1) inference.refuse("rpn_post_nms_top_n must be positive");
  if (given.feature_stride < 1) inference.refuse("feature_stride must be positive");
  const std::int64_t candidates =
      given.rpn_pre_nms_top_n > 0 ? std::min(given.rpn_pre_nms_top_n, count) : count;
  set_cost(inference, static_cast<double>(batch * count) * 100 +
                          static_cast<double>(batch * candidates * candidates) / 4);
  const std::int64_t results = batch * given.rpn_post_nms_top_n;
  inference.add_output(Shape{results, 5}, DType::float32);
  inference.add_output(Shape{results, 1}, DType::float32);
  call.settled.set(kernels::ProposalRule{candidates, given.rpn_post_nms_top_n,
                                         static_cast<float>(given.threshold), given.rpn_min_size,
                                         given.feature_stride, given.iou_loss});
}

std::unique_ptr<lazy::Pass> proposal_kernel(const Call& call) {
  return each_sample(call.inputs[0].shape()[0], [&call](std::int64_t sample) {
    const auto rule = call.settled.get<kernels::ProposalRule>();
    const auto scores = call.inputs[0].shape();
    const std::int64_t anchors = scores[1] / 2, map = scores[2] * scores[3];
    check_data(call, kernels::propose_boxes(
                         rule, data_of<float>(call.inputs[0]) + (2 * sample + 1) * anchors * map,
                         data_of<float>(call.inputs[1]) + 4 * sample * anchors * map,
                         data_of<float>(call.inputs[2]) + 3 * sample,
                         data_of<float>(call.inputs[3]), anchors, scores[2], scores[3], sample,
                         result_of<float>(call.outputs[0]) + 5 * sample * rule.proposals,
                         result_of<float>(call.outputs[1]) + sample * rule.proposals));
  });
}

Value propose(Composition& c, const Proposal& given) {
  if (c[0].array.dtype != DType::float32) c.refuse("needs float32", ErrorKind::type);
  if (given.ratios.empty() || given.scales.empty()) c.refuse("needs ratios and scales");
  std::vector<Value> inputs(c.inputs().begin(), c.inputs().end());
  const Numbers anchors = anchors_of(given);
  inputs.push_back(shaped(literal(anchors, c[0].array.context()),
                          {static_cast<std::int64_t>(anchors.size()) / 4, 4}));
  return compute(c, the_op<"propose_boxes">(), inputs, lazy::write_arguments(given),
                 given.output_score ? 2 : 1);
}

Value proposal(Composition& c, const Proposal& given) {
  if (rank_of(c[0]) && c[0].array.shape()[0] != 1)
    c.refuse("takes one image; MultiProposal takes several");
  return propose(c, given);
}

void complete_proposal(Completion& completion, const Proposal& given) {
  need_rank(completion, 0, 4);
  const auto& scores = completion.shapes[0];
  if (!scores) return;
  const std::int64_t batch = (*scores)[0];
  completion.shapes[1] = Shape{batch, product((*scores)[1], 2), (*scores)[2], (*scores)[3]};
  completion.shapes[2] = Shape{batch, 3};
  const std::int64_t results = product(batch, given.rpn_post_nms_top_n);
  completion.results = {{results, 5}, {results, 1}};
}

void form_with_score(NodeForm& node, const Proposal& given) {
  node.outputs = {"output", "score"};
  node.usable = given.output_score ? 2 : 1;
}

// --- pairs ---

void overlaps_infer(Inference& inference, const BoxIou& given) {
  check_factors(inference);
  Call& call = inference.call;
  Shape result;
  for (const Operand& input : call.inputs) {
    const auto shape = input.shape();
    if (shape.size() < 2 || shape.back() != 4)
      inference.refuse("needs arrays of at least 2 dimensions, the last of 4");
    result.insert(result.end(), shape.begin(), shape.end() - 1);
  }
  set_cost(inference, 3.0 * static_cast<double>(element_count(result)));
  inference.add_output(result, call.inputs[0].dtype);
  call.settled.set(given);
}

/// A share has some of the boxes on the left.
std::unique_ptr<lazy::Pass> overlaps_kernel(const Call& call) {
  return of_type(call, [&]<class T>(T) {
    const std::int64_t lefts = call.inputs[0].size() / 4, rights = call.inputs[1].size() / 4;
    const std::int64_t each = std::max<std::int64_t>(16, 65536 / std::max<std::int64_t>(1, rights));
    return each_sample((lefts + each - 1) / each, [&call, lefts, rights, each](std::int64_t part) {
      const std::int64_t begin = part * each;
      kernels::box_overlaps(data_of<T>(call.inputs[0]) + 4 * begin, std::min(each, lefts - begin),
                            data_of<T>(call.inputs[1]), rights, call.settled.get<BoxIou>().format,
                            result_of<T>(call.outputs[0]) + begin * rights);
    });
  });
}

void matching_infer(Inference& inference, const BipartiteMatching& given) {
  check_factors(inference);
  Call& call = inference.call;
  const auto shape = call.inputs[0].shape();
  if (shape.size() < 2) inference.refuse("needs a matrix of scores, or a stack of them");
  set_cost(inference, 60.0 * static_cast<double>(call.inputs[0].size()));
  Shape rows(shape.begin(), shape.end() - 1), columns(shape.begin(), shape.end() - 1);
  columns.back() = shape.back();
  const DType dtype = call.inputs[0].dtype;
  inference.add_output(rows, dtype);
  inference.add_output(columns, dtype);
  call.settled.set(
      kernels::MatchingRule{static_cast<float>(given.threshold), given.topk, given.is_ascend});
}

std::unique_ptr<lazy::Pass> matching_kernel(const Call& call) {
  return of_type(call, [&]<class T>(T) {
    const auto shape = call.inputs[0].shape();
    const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
    return each_sample(
        element_count(shape.first(shape.size() - 2)), [&call, rows, columns](std::int64_t sample) {
          kernels::match_pairs(call.settled.get<kernels::MatchingRule>(),
                               data_of<T>(call.inputs[0]) + sample * rows * columns, rows, columns,
                               result_of<T>(call.outputs[0]) + sample * rows,
                               result_of<T>(call.outputs[1]) + sample * columns);
        });
  });
}

void declare_kernels(Table& table) {
  table.add<Literal>({.name = "literal",
                      .infer = literal_infer,
                      .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
                        return std::make_unique<LiteralPass>(call);
                      }});
  table.add<MultiBoxTarget>({.name = "box_targets",
                             .inputs = {"anchor", "label", "cls_pred"},
                             .infer = target_infer,
                             .kernel = target_kernel,
                             .may_fail = true,
                             .gradients = {no_gradient}});
  table.add<MultiBoxDetection>({.name = "detect_boxes",
                                .inputs = {"cls_prob", "loc_pred", "anchor"},
                                .infer = detection_infer,
                                .kernel = detection_kernel,
                                .gradients = {no_gradient}});
  table.add<BoxNms>({.name = "suppress_boxes",
                     .inputs = {"data"},
                     .infer = suppress_infer,
                     .kernel = suppress_kernel,
                     .gradients = {reading_output(through_suppression)}});
  table.add<BoxIou>({.name = "box_overlaps",
                     .inputs = {"lhs", "rhs"},
                     .infer = overlaps_infer,
                     .kernel = overlaps_kernel,
                     .gradients = {no_gradient}});
  table.add({.name = "encode_boxes",
             .inputs = {"samples", "matches", "anchors", "refs", "means", "stds"},
             .infer = encode_infer,
             .kernel = encode_kernel,
             .may_fail = true,
             .gradients = {no_gradient}});
  table.add<BoxDecode>({.name = "decode_boxes",
                        .inputs = {"data", "anchors"},
                        .infer = decode_infer,
                        .kernel = decode_kernel,
                        .gradients = {no_gradient}});
  table.add<BipartiteMatching>({.name = "match_pairs",
                                .inputs = {"data"},
                                .infer = matching_infer,
                                .kernel = matching_kernel,
                                .gradients = {no_gradient}});
  table.add<Proposal>({.name = "propose_boxes",
                       .inputs = {"cls_prob", "bbox_pred", "im_info", "anchors"},
                       .infer = proposal_infer,
                       .kernel = proposal_kernel,
                       .may_fail = true,
                       .gradients = {no_gradient}});
}

}  // namespace

void declare_detection(Table& table) {
  declare_kernels(table);
  table.compose<MultiBoxPrior>(
      {.name = "MultiBoxPrior",
       .mxnet_names = {"_contrib_MultiBoxPrior", "_npx_multibox_prior"},
       .doc = R"(Return boxes around the middle of each place of a map, as parts of the image.

The map is that of axes 2 and 3 of ``data``. There is a box of the first ratio for each of
``sizes``, and one of the first size for each further one of ``ratios``. A box is its left, top,
right and bottom edge.

>>> from afterglow import nd
>>> nd.contrib.MultiBoxPrior(nd.zeros((1, 3, 1, 2)), sizes=(0.5,)).asnumpy()
array([[[0.125, 0.25 , 0.375, 0.75 ],
        [0.625, 0.25 , 0.875, 0.75 ]]], dtype=float32)

>>> from afterglow import np, npx
>>> npx.multibox_prior(np.zeros((1, 3, 4, 5)), sizes=(0.5, 0.2), ratios=(1, 2)).shape
(1, 60, 4))",
       .inputs = {"data"},
       .gradients = {flat},
       .compose = multibox_prior,
       .complete = [](Completion& completion, const MultiBoxPrior& given) {
         const auto& data = completion.shapes[0];
         if (!data) return;
         if (data->size() < 4) completion.refuse("needs data of at least 4 dimensions");
         const auto boxes = static_cast<std::int64_t>(given.sizes.size() + given.ratios.size()) - 1;
         completion.results = {{1, product(product((*data)[2], (*data)[3]), boxes), 4}};
       }});
  table.compose<MultiBoxTarget>(
      {.name = "MultiBoxTarget",
       .mxnet_names = {"_contrib_MultiBoxTarget", "_npx_multibox_target"},
       .doc =
           R"(Return what is to be learned for each anchor: the way to its box, a mask, its class.

``label`` has rows of class, left, top, right and bottom edge; a class of -1 ends them. An anchor
has the box that it overlaps best among all, or by more than ``overlap_threshold``. The class of
nothing is 0, so those of boxes are one higher; anchors that do not count have ``ignore_label``.

>>> from afterglow import nd
>>> anchors = nd.array([[[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]]])
>>> label = nd.array([[[2, 0, 0, 0.5, 0.5]]])
>>> way, mask, found = nd.contrib.MultiBoxTarget(anchors, label, nd.zeros((1, 4, 2)))
>>> found.asnumpy(), mask.asnumpy().tolist()
(array([[3., 0.]], dtype=float32), [[1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]]))",
       .inputs = {"anchor", "label", "cls_pred"},
       .gradients = {flat, flat, flat},
       .compose = computed<"box_targets", MultiBoxTarget, 3>,
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
  table.compose<MultiBoxDetection>(
      {.name = "MultiBoxDetection",
       .mxnet_names = {"_contrib_MultiBoxDetection", "_npx_multibox_detection"},
       .doc = R"(Return rows of class, probability and edges of what was found, the best first.

Each anchor has its most probable class but that of nothing, which is the first and is not
counted. Rows that are not probable enough come last and are -1; of those that a better one of
the same class overlaps the class is -1.

>>> from afterglow import nd
>>> anchors = nd.array([[[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]]])
>>> probabilities = nd.array([[[0.4, 0.1], [0.6, 0.9]]])
>>> print(nd.contrib.MultiBoxDetection(probabilities, nd.zeros((1, 8)), anchors).asnumpy()[0])
[[0.  0.9 0.5 0.5 1.  1. ]
 [0.  0.6 0.  0.  0.5 0.5]])",
       .inputs = {"cls_prob", "loc_pred", "anchor"},
       .gradients = {flat, flat, flat},
       .compose = computed<"detect_boxes", MultiBoxDetection>,
       .complete = [](Completion& completion, const MultiBoxDetection&) {
         need_rank(completion, 0, 3);
         const auto& classes = completion.shapes[0];
         if (classes) completion.results = {{(*classes)[0], (*classes)[2], 6}};
       }});
  table.compose<BoxNms>(
      {.name = "box_nms",
       .mxnet_names = {"_contrib_box_nms", "_contrib_box_non_maximum_suppression"},
       .doc = R"(Return the boxes that no better one overlaps, the best first, then rows of -1.

The last axis of ``data`` has score and coordinates of a box, and where ``id_index`` is given its
class: only boxes of one class count then, unless ``force_suppress``. Boxes keep their gradients.

>>> from afterglow import nd
>>> boxes = nd.array([[0.5, 0, 0, 1, 1], [0.7, 0, 0, 1, 0.9], [0.1, 2, 2, 3, 3]])
>>> print(nd.contrib.box_nms(boxes, coord_start=1, score_index=0).asnumpy())
[[ 0.7  0.   0.   1.   0.9]
 [ 0.1  2.   2.   3.   3. ]
 [-1.  -1.  -1.  -1.  -1. ]])",
       .inputs = {"data"},
       .compose = computed<"suppress_boxes", BoxNms>,
       .complete = complete_as_first,
       .node = number_outputs<2>});
  table.compose<BoxIou>(
      {.name = "box_iou",
       .mxnet_names = {"_contrib_box_iou"},
       .doc = R"(Return how much of what two boxes cover they have in common, for all pairs.

>>> from afterglow import nd
>>> nd.contrib.box_iou(nd.array([[0, 0, 1, 1]]), nd.array([[0, 0, 1, 2], [3, 3, 4, 4]])).asnumpy()
array([[0.5, 0. ]], dtype=float32))",
       .inputs = {"lhs", "rhs"},
       .gradients = {flat, flat},
       .compose = computed<"box_overlaps", BoxIou>,
       .complete = [](Completion& completion, const BoxIou&) {
         Shape result;
         for (const auto& shape : completion.shapes) {
           if (!shape) return;
           if (shape->size() < 2) completion.refuse("needs arrays of at least 2 dimensions");
           result.insert(result.end(), shape->begin(), shape->end() - 1);
         }
         completion.results = {result};
       }});
  table.compose<BipartiteMatching>(
      {.name = "bipartite_matching",
       .mxnet_names = {"_contrib_bipartite_matching"},
       .doc = R"(Return the column that each row is matched with, and the row of each column.

The last two axes of ``data`` are a matrix of scores, of which the best come first; -1 is what
nothing is left for.

>>> from afterglow import nd
>>> scores = nd.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]])
>>> rows, columns = nd.contrib.bipartite_matching(scores, threshold=1e-12)
>>> rows.asnumpy().tolist(), columns.asnumpy().tolist()
([1.0, -1.0, 0.0], [2.0, 0.0]))",
       .inputs = {"data"},
       .gradients = {flat},
       .compose = computed<"match_pairs", BipartiteMatching, 2>,
       .complete =
           [](Completion& completion, const BipartiteMatching&) {
             const auto& data = completion.shapes[0];
             if (!data) return;
             if (data->size() < 2) completion.refuse("needs a matrix of scores");
             Shape rows(data->begin(), data->end() - 1), columns = rows;
             columns.back() = data->back();
             completion.results = {rows, columns};
           },
       .node = [](NodeForm& node,
                  const BipartiteMatching&) { node.outputs = lazy::numbered_outputs(2); }});
  table.compose<NoParameters>(
      {.name = "box_encode",
       .mxnet_names = {"_contrib_box_encode"},
       .doc = R"(Return the ways from anchors to the boxes that they match, and a mask of those.

``samples`` is 1 for anchors that count, ``matches`` the index of a box of ``refs`` for each. Boxes
are given by their edges. The ways, in centres and logarithms of sizes, are taken minus ``means``,
by ``stds``.

>>> from afterglow import nd
>>> anchors, boxes = nd.array([[[0, 0, 1, 1]]]), nd.array([[[1, 0, 2, 1]]])
>>> one, zero = nd.ones((1, 1)), nd.zeros((1, 1))
>>> way, mask = nd.contrib.box_encode(one, zero, anchors, boxes, nd.zeros((4,)), nd.ones((4,)))
>>> way.asnumpy()
array([[[1., 0., 0., 0.]]], dtype=float32))",
       .inputs = {"samples", "matches", "anchors", "refs", "means", "stds"},
       .gradients = {flat, flat, flat, flat, flat, flat},
       .compose = computed<"encode_boxes", NoParameters, 2>,
       .complete =
           [](Completion& completion, const NoParameters&) {
             completion.shapes[4] = completion.shapes[5] = Shape{4};
             const auto& anchors = completion.shapes[2];
             if (anchors) completion.results = {*anchors, *anchors};
           },
       .node = [](NodeForm& node,
                  const NoParameters&) { node.outputs = lazy::numbered_outputs(2); }});
  table.compose<BoxDecode>(
      {.name = "box_decode",
       .mxnet_names = {"_contrib_box_decode"},
       .doc = R"(Return the edges of the boxes that lie at some ways from anchors.

>>> from afterglow import nd
>>> anchors = nd.array([[[0.5, 0.5, 1, 1]]])
>>> nd.contrib.box_decode(nd.array([[[1, 0, 0, 0]]]), anchors).asnumpy()
array([[[1., 0., 2., 1.]]], dtype=float32))",
       .inputs = {"data", "anchors"},
       .gradients = {flat, flat},
       .compose = computed<"decode_boxes", BoxDecode>,
       .complete = complete_as_first});
  constexpr std::string_view doc =
      R"(Return boxes where something may be, the best first: the number of the image and edges.

``cls_prob`` has the scores of all anchors, first those of nothing, ``bbox_pred`` how far they are
to be moved, ``im_info`` height, width and scale of each image. Where fewer than
``rpn_post_nms_top_n`` are left they are repeated. With ``output_score`` the scores come too.
)";
  static const std::string one = std::string(doc) + R"(
>>> from afterglow import nd
>>> image = nd.array([[32, 32, 1]])
>>> scores, moves = nd.ones((1, 2, 2, 2)), nd.zeros((1, 4, 2, 2))
>>> kwargs = {"scales": (1,), "ratios": (1,), "rpn_post_nms_top_n": 2}
>>> nd.contrib.Proposal(scores, moves, image, **kwargs).asnumpy()
array([[ 0.,  0.,  0., 15., 15.],
       [ 0., 16.,  0., 31., 15.]], dtype=float32))",
                           several = std::string(doc) + R"(
>>> from afterglow import nd
>>> images = nd.array([[32, 32, 1], [32, 32, 1]])
>>> scores, moves = nd.ones((2, 24, 2, 2)), nd.zeros((2, 48, 2, 2))
>>> nd.contrib.MultiProposal(scores, moves, images).shape
(600, 5))";
  table.compose<Proposal>({.name = "Proposal",
                           .mxnet_names = {"_contrib_Proposal"},
                           .doc = one,
                           .inputs = {"cls_prob", "bbox_pred", "im_info"},
                           .gradients = {flat, flat, flat},
                           .compose = proposal,
                           .complete = complete_proposal,
                           .node = form_with_score});
  table.compose<Proposal>({.name = "MultiProposal",
                           .mxnet_names = {"_contrib_MultiProposal"},
                           .doc = several,
                           .inputs = {"cls_prob", "bbox_pred", "im_info"},
                           .gradients = {flat, flat, flat},
                           .compose = propose,
                           .complete = complete_proposal,
                           .node = form_with_score});
}

}  // namespace afterglow::ops
