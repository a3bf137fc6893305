// SPDX-License-Identifier: Apache-2.0
// Outputs of networks that bring their loss with them: their value is the prediction, and their
// gradient that of a loss, whatever gradient they are given. And copies whose gradient is another
// than that of a copy.
#include <algorithm>
#include <span>
#include <string>

#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

std::int64_t size_of_axes(const Shape& shape, std::size_t first) {
  const auto extents = std::span(shape).subspan(std::min(first, shape.size()));
  return std::ranges::find(extents, -1) == extents.end() ? element_count(extents) : -1;
}

/// In any type, also that of truth values.
Value one_hot(const Value& indices, std::int64_t depth, DType dtype) {
  const DType made = dtype == DType::boolean ? DType::float32 : dtype;
  const lazy::Argument arguments[] = {depth, 1.0, 0.0, static_cast<std::int64_t>(made)};
  return in_type(apply(op_named("one_hot"), arguments, indices), dtype);
}

Value softmax(const Value& x, std::int64_t axis) {
  const lazy::Argument arguments[] = {axis, {}, {}, false};
  Value inputs[] = {x, {}};
  return call(op_named("softmax"), inputs, {arguments, {}, nullptr}, false);
}

/// How many elements are true, at least 1.
Value count_of(const Value& condition, DType dtype) {
  Shape axes(shape_of(condition).size());
  for (std::size_t axis = 0; axis < axes.size(); ++axis) axes[axis] = static_cast<int>(axis);
  return maximum(sum(copy(condition, dtype), axes, false), 1);
}

/// Labels have no gradient of their own.
Value nothing_for_label(Gradient& c) {
  return zeros(c, 1);
}

enum class Normalization { none, batch, valid };

constexpr auto choices(Normalization) {
  return in_order<Normalization>("null", "batch", "valid");
}

// --- softmax ---

struct SoftmaxOutput {
  double grad_scale = 1, ignore_label = -1;
  bool multi_output = false, use_ignore = false, preserve_shape = false;
  Normalization normalization = Normalization::none;
  bool out_grad = false;
  double smooth_alpha = 0;
  static constexpr auto fields = std::tuple{
      field("grad_scale", &SoftmaxOutput::grad_scale, "times which the gradient is taken"),
      field("ignore_label", &SoftmaxOutput::ignore_label, "has no gradient with use_ignore"),
      field("multi_output", &SoftmaxOutput::multi_output, "whether classes lie along axis 1"),
      field("use_ignore", &SoftmaxOutput::use_ignore, "whether ignore_label counts"),
      field("preserve_shape", &SoftmaxOutput::preserve_shape, "whether classes are the last axis"),
      field("normalization", &SoftmaxOutput::normalization, "what the gradient is divided by"),
      field("out_grad", &SoftmaxOutput::out_grad, "whether the gradient given counts"),
      field("smooth_alpha", &SoftmaxOutput::smooth_alpha, "the share of all other classes")};

  /// The shape in which classes lie along axis 1.
  Shape rows(const Shape& shape) const {
    if (shape.empty()) return {1, 1};
    if (multi_output) {
      Shape result(shape.begin(), shape.begin() + std::min<std::ptrdiff_t>(2, std::ssize(shape)));
      result.push_back(size_of_axes(shape, 2));
      return result;
    }
    if (preserve_shape)
      return {element_count(std::span(shape).first(shape.size() - 1)), shape.back()};
    return shape.size() > 1 ? Shape{shape[0], size_of_axes(shape, 1)} : Shape{1, shape[0]};
  }
};

/// Several shapes will do, so one that is known stays.
void complete_class_label(Completion& completion, const SoftmaxOutput& given) {
  const auto& data = completion.shapes[0];
  auto& label = completion.shapes[1];
  if (!data || data->empty() || label == data) return;
  if (label && std::ranges::find(*label, -1) == label->end()) return;
  label = given.multi_output ? Shape{(*data)[0], size_of_axes(*data, 2)}
                             : Shape(data->begin(), data->end() - 1);
}

Value softmax_output(Composition& c, const SoftmaxOutput& given) {
  const Shape shape = shape_of(c[0]), rows = given.rows(shape);
  const std::int64_t labels = element_count(rows) / std::max<std::int64_t>(1, rows[1]);
  const bool fits = shape_of(c[1]) == shape || c[1].array.size() == labels;
  if (!fits && c.is_recorded())  // it matters for the gradient only
    c.refuse("the label needs " + std::to_string(labels) +
             " classes, or the shape of the data: it does not fit");
  return shaped(softmax(shaped(c[0], rows), 1), shape);
}

/// Probabilities minus those that indices of classes stand for.
Value from_classes(const SoftmaxOutput& given, const Value& probabilities, const Value& label) {
  const Shape rows = shape_of(probabilities);
  const DType dtype = probabilities.array.dtype;
  Shape places = rows;  // a label per row, or with several outputs one per row and place
  places.erase(places.begin() + 1);
  const Value indices = in_type(shaped(label, places), dtype);
  Value wanted = one_hot(indices, rows[1], dtype);
  if (given.multi_output) {
    wanted = reordered(wanted, {0, 2, 1});
  } else if (given.smooth_alpha != 0) {
    const double share =
        given.smooth_alpha / static_cast<double>(std::max<std::int64_t>(1, rows[1] - 1));
    wanted = wanted * (1 - given.smooth_alpha - share) + share;
  }
  Value result = (probabilities - wanted) * given.grad_scale;
  // Among the valid ones ignored labels do not count in any case.
  const Value counted = not_equal(indices, given.ignore_label);
  if (given.use_ignore) {
    Shape kept = places;
    kept.insert(kept.begin() + 1, 1);
    result = result * shaped(counted, kept);
  }
  if (given.normalization == Normalization::valid) return result / count_of(counted, dtype);
  std::int64_t divisor = size_of_axes(places, 1);
  if (given.normalization == Normalization::batch) divisor *= places[0];
  return divisor == 1 ? result : result / divisor;
}

Value through_softmax_output(Gradient& c) {
  const autograd::Unrecorded pause;
  const auto given = c.parameters<SoftmaxOutput>();
  const Shape shape = c.shape(0), rows = given.rows(shape);
  const Value probabilities = shaped(c.output(), rows);
  Value result;
  if (shape_of(c[1]) == shape) {
    const Value wanted = shaped(in_type(c[1], probabilities.array.dtype), rows);
    result = (probabilities - wanted) * given.grad_scale;
  } else {
    result = from_classes(given, probabilities, c[1]);
  }
  if (given.out_grad) result = result * shaped(c.g, rows);
  return fit(c, 0, shaped(result, shape));
}

// --- regression ---

struct Regression {
  double grad_scale = 1;
  static constexpr auto fields =
      std::tuple{field("grad_scale", &Regression::grad_scale, "times which the gradient is taken")};
};

/// As the data, where a single column may be left out.
void complete_same_label(Completion& completion, const Regression&) {
  const auto& data = completion.shapes[0];
  if (!data || data->empty() || completion.shapes[1]) return;
  const bool is_column = data->size() == 2 && (*data)[1] == 1;
  completion.shapes[1] = is_column ? Shape{(*data)[0]} : *data;
}

template <auto predict>
Value regression(Composition& c, const Regression&) {
  if (c[0].array.size() != c[1].array.size())
    c.refuse("the label needs as many elements as the data");
  return predict(c[0]);
}

Value unchanged(const Value& x) {
  return copy(x);
}

/// A function of prediction and label, by the number of outputs.
template <Value (*difference)(const Value&, const Value&)>
Value through_regression(Gradient& c) {
  const autograd::Unrecorded pause;
  const Shape label = c.shape(1);
  const std::int64_t outputs = label.empty() ? 1 : size_of_axes(label, 1);
  const Value wanted = in_type(shaped(c[1], c.shape(0)), c.output().array.dtype);
  const double scale = c.parameters<Regression>().grad_scale;
  return fit(c, 0,
             difference(c.output(), wanted) *
                 (scale / static_cast<double>(std::max<std::int64_t>(1, outputs))));
}

Value distance(const Value& x, const Value& y) {
  return x - y;
}

/// Where both are equal MXNet goes down.
Value side(const Value& x, const Value& y) {
  return sign(x - y) - equal(x, y);
}

// --- margins ---

struct SVMOutput {
  double margin = 1, regularization_coefficient = 1;
  bool use_linear = false;
  static constexpr auto fields =
      std::tuple{field("margin", &SVMOutput::margin, "by which classes shall be apart"),
                 field("regularization_coefficient", &SVMOutput::regularization_coefficient,
                       "times which the gradient is taken"),
                 field("use_linear", &SVMOutput::use_linear, "whether the loss is not squared")};
};

Value svm_output(Composition& c, const SVMOutput&) {
  const Shape shape = shape_of(c[0]);
  if (shape.empty()) c.refuse("needs data of at least one dimension");
  if (c[1].array.size() != c[0].array.size() / std::max<std::int64_t>(1, shape.back()))
    c.refuse("the label needs shape " + to_string(Shape(shape.begin(), shape.end() - 1)));
  return copy(c[0]);
}

Value through_svm_output(Gradient& c) {
  const autograd::Unrecorded pause;
  const auto given = c.parameters<SVMOutput>();
  const Shape shape = c.shape(0);
  const std::int64_t classes = shape.back(),
                     rows = element_count(std::span(shape).first(shape.size() - 1));
  const Value scores = shaped(c.output(), {rows, classes});
  const Value chosen = one_hot(shaped(c[1], {rows}), classes, scores.array.dtype);
  const Value signs = 1 - 2 * chosen;  // -1 at the label, 1 elsewhere
  const Value distance = given.margin + signs * scores;
  const Value inside = in_type(distance > 0, scores.array.dtype);
  const Value size = given.use_linear ? inside : 2 * distance * inside;
  return fit(c, 0, shaped(given.regularization_coefficient * signs * size, shape));
}

// --- any value ---

struct MakeLoss {
  double grad_scale = 1, valid_thresh = 0;
  Normalization normalization = Normalization::none;
  static constexpr auto fields = std::tuple{
      field("grad_scale", &MakeLoss::grad_scale, "at which gradients start"),
      field("valid_thresh", &MakeLoss::valid_thresh, "above which elements are valid"),
      field("normalization", &MakeLoss::normalization, "what the gradient is divided by")};
};

Value start(Gradient& c, double scale) {
  const autograd::Saved& like = c.saved(0);
  return full(scale, c.shape(0), like.dtype, like.context);
}

Value through_make_loss(Gradient& c) {
  const autograd::Unrecorded pause;
  const auto given = c.parameters<MakeLoss>();
  if (given.normalization == Normalization::valid)
    return start(c, given.grad_scale) / count_of(c.output() > given.valid_thresh, c.saved(0).dtype);
  const bool by_rows = given.normalization == Normalization::batch && !c.shape(0).empty();
  return start(c,
               by_rows ? given.grad_scale / static_cast<double>(c.shape(0)[0]) : given.grad_scale);
}

Value copied(Composition& c) {
  return copy(c[0]);
}

/// Of an op whose gradient reads the parameters: they are looked at here.
template <class Parameters>
Value copied(Composition& c, const Parameters&) {
  return copied(c);
}

struct Multiplier {
  double scalar = 1;
  static constexpr auto fields =
      std::tuple{field("scalar", &Multiplier::scalar, "times which the gradient is taken")};
};

lazy::Op regression_op(std::string_view name, std::string_view doc,
                       Value (*compose)(Composition&, const Regression&), RuleFunction rule) {
  return {.name = name,
          .mxnet_names = {name},
          .doc = doc,
          .inputs = {"data", "label"},
          .gradients = {reading_output_and({1}, rule), reading_nothing(nothing_for_label)},
          .compose = compose,
          .complete = complete_same_label,
          .in_graphs = {.is_loss = true}};
}

// --- sparseness ---

struct KLSparseReg {
  double sparseness_target = 0.1, penalty = 0.001, momentum = 0.9;
  static constexpr auto fields = std::tuple{
      field("sparseness_target", &KLSparseReg::sparseness_target, "the mean that is wanted"),
      field("penalty", &KLSparseReg::penalty, "times which the gradient is taken"),
      field("momentum", &KLSparseReg::momentum, "the weight of the average of earlier batches")};
};

/// The average moves when a pass is recorded, as those of BatchNorm do.
Value sparse_copy(Composition& c, const KLSparseReg& given) {
  const Shape shape = shape_of(c[0]);
  if (shape.size() != 2) c.refuse("needs a matrix");
  if (shape_of(c[1]) != Shape{shape[1]})
    c.refuse("moving_avg needs shape " + to_string(Shape{shape[1]}));
  const double target = given.sparseness_target, momentum = given.momentum;
  for (const double share : {target, momentum}) {
    if (!(share >= 0 && share <= 1))
      c.refuse("sparseness_target and momentum must lie between 0 and 1");
  }
  if (!c.is_recorded()) return copied(c);
  Value pull;
  {
    const autograd::Unrecorded pause;
    const Value average = c[1] * momentum + mean(c[0], {0}, false) * (1 - momentum);
    assign(c.written(1), average);
    pull = given.penalty * ((1 - target) / (1 - average) - target / average);
  }
  Value inputs[] = {c[0], pull};
  return call(the_op<"copy_and_pull">(), inputs, {{}, {}, nullptr}, false);
}

}  // namespace

void declare_outputs(Table& table) {
  table.compose<SoftmaxOutput>(
      {.name = "SoftmaxOutput",
       .mxnet_names = {"SoftmaxOutput", "Softmax"},
       .doc = R"(Return the softmax of each row: of everything but the first axis.

With ``multi_output`` it is that along axis 1, with ``preserve_shape`` along the last. The
gradient is that of the cross entropy with the label, an index per row or a probability per
element, times ``grad_scale``. Labels of ``ignore_label`` have none with ``use_ignore``.
``normalization`` "batch" divides by the number of rows, "valid" by that of rows not ignored.

>>> from afterglow import autograd, nd
>>> x = nd.zeros((1, 2))
>>> x.attach_grad()
>>> with autograd.record():
...     y = nd.SoftmaxOutput(x, nd.array([1]))
>>> y.backward()
>>> y.asnumpy(), x.grad.asnumpy()
(array([[0.5, 0.5]], dtype=float32), array([[ 0.5, -0.5]], dtype=float32)))",
       .inputs = {"data", "label"},
       .gradients = {reading_output_and({1}, through_softmax_output),
                     reading_nothing(nothing_for_label)},
       .compose = softmax_output,
       .complete = complete_class_label,
       .in_graphs = {.is_loss = true}});
  table.compose<Regression>(regression_op(
      "LinearRegressionOutput",
      R"(Return a copy; the gradient is that of half the squared difference from the label.

>>> nd.LinearRegressionOutput(nd.array([1, 2]), nd.array([0, 0])).asnumpy()
array([1., 2.], dtype=float32))",
      regression<unchanged>, through_regression<distance>));
  table.compose<Regression>(regression_op(
      "MAERegressionOutput",
      R"(Return a copy; the gradient is that of the absolute difference from the label.

>>> nd.MAERegressionOutput(nd.array([1, 2]), nd.array([0, 0])).asnumpy()
array([1., 2.], dtype=float32))",
      regression<unchanged>, through_regression<side>));
  table.compose<Regression>(regression_op(
      "LogisticRegressionOutput",
      R"(Return 1 / (1 + exp(-x)); the gradient is that of the cross entropy with the label.

>>> nd.LogisticRegressionOutput(nd.array([0, 100]), nd.array([0, 0])).asnumpy()
array([0.5, 1. ], dtype=float32))",
      regression<sigmoid>, through_regression<distance>));
  table.compose<SVMOutput>(
      {.name = "SVMOutput",
       .mxnet_names = {"SVMOutput"},
       .doc =
           R"(Return a copy; the gradient is that of the hinge loss, squared unless ``use_linear``.

>>> nd.SVMOutput(nd.array([[1, 2]]), nd.array([0])).asnumpy()
array([[1., 2.]], dtype=float32))",
       .inputs = {"data", "label"},
       .gradients = {reading_output_and({1}, through_svm_output),
                     reading_nothing(nothing_for_label)},
       .compose = svm_output,
       .complete =
           [](Completion& completion, const SVMOutput&) {
             const auto& data = completion.shapes[0];
             if (data && !data->empty())
               completion.shapes[1] = Shape(data->begin(), data->end() - 1);
           },
       .in_graphs = {.is_loss = true}});
  table.compose<MakeLoss>({.name = "MakeLoss",
                           .mxnet_names = {"MakeLoss"},
                           .doc = R"(Return a copy that gradients start from, at ``grad_scale``.

``normalization`` "batch" divides that by the number of rows, "valid" by how many elements are
larger than ``valid_thresh``.

>>> print(nd.MakeLoss(nd.array([1, 2])).asnumpy())
[1. 2.])",
                           .inputs = {"data"},
                           .gradients = {reading_output(through_make_loss)},
                           .compose = copied<MakeLoss>,
                           .in_graphs = {.is_loss = true, .alike = true}});
  table.add({.name = "make_loss",
             .mxnet_names = {"make_loss"},
             .doc = R"(Return a copy that gradients start from: its own is 1.

>>> print(nd.make_loss(nd.array([1, 2])).asnumpy())
[1. 2.])",
             .inputs = {"data"},
             .gradients = {reading_nothing([](Gradient& c) { return start(c, 1); })},
             .compose = copied,
             .in_graphs = {.is_loss = true, .alike = true},
             .node = [](lazy::NodeForm& node) { node.outputs = {"loss"}; }});
  table.add({.name = "BlockGrad",
             .mxnet_names = {"BlockGrad", "stop_gradient"},
             .doc = R"(Return a copy that takes no part in gradients.

>>> print(nd.stop_gradient(nd.array([1, 2])).asnumpy())
[1. 2.])",
             .inputs = {"data"},
             .gradients = {no_gradient},
             .compose = copied,
             .in_graphs = {.alike = true}});
  table.compose<Multiplier>(
      {.name = "gradientmultiplier",
       .mxnet_names = {"_contrib_gradientmultiplier"},
       .doc = R"(Return a copy whose gradient is multiplied by ``scalar``; -1 turns it around.

>>> nd.contrib.gradientmultiplier(nd.array([1, 2]), scalar=-1).asnumpy()
array([1., 2.], dtype=float32))",
       .inputs = {"data"},
       .gradients = {reading_nothing(
           [](Gradient& c) { return c.g * c.parameters<Multiplier>().scalar; })},
       .compose = copied<Multiplier>});
  table.add({.name = "copy_and_pull",
             .inputs = {"data", "pull"},
             .gradients = {reading({1}, [](Gradient& c) { return c.g + c[1]; }), no_gradient},
             .compose = copied});
  table.compose<KLSparseReg>(
      {.name = "IdentityAttachKLSparseReg",
       .mxnet_names = {"IdentityAttachKLSparseReg"},
       .doc =
           R"(Return a copy whose gradient pulls the mean of each column to ``sparseness_target``.

It is that of the Kullback-Leibler divergence, times ``penalty``, and is added to the gradient that
comes. The means are those of ``moving_avg``, which moves when a pass is recorded.

>>> from afterglow import nd
>>> nd.IdentityAttachKLSparseReg(nd.array([[0.5, 0.5]]), nd.zeros((2,))).asnumpy()
array([[0.5, 0.5]], dtype=float32))",
       .inputs = {"data", "moving_avg"},
       .compose = sparse_copy,
       .complete =
           [](Completion& completion, const KLSparseReg&) {
             const auto& data = completion.shapes[0];
             if (!data) return;
             if (data->size() < 2) completion.refuse("needs data of at least 2 dimensions");
             completion.shapes[1] = Shape{(*data)[1]};
             completion.results = {*data};
           },
       .in_graphs = {
           .auxiliary = 1, .beginnings = {{"moving_avg", R"(["zero", {}])"}}, .is_loss = true}});
  const lazy::GradientRule straight_through = reading_nothing([](Gradient& c) { return c.g; });
  table.add({.name = "round_ste",
             .mxnet_names = {"_contrib_round_ste"},
             .doc = R"(Round to the nearest integer, with the gradient of a copy.

>>> nd.contrib.round_ste(nd.array([1.2, 2.7])).asnumpy()
array([1., 3.], dtype=float32))",
             .inputs = {"data"},
             .gradients = {straight_through},
             .compose = [](Composition& c) { return apply(op_named("round"), {}, c[0]); }});
  table.add({.name = "sign_ste",
             .mxnet_names = {"_contrib_sign_ste"},
             .doc = R"(Return -1, 0 or 1 by the sign, with the gradient of a copy.

>>> nd.contrib.sign_ste(nd.array([-1.2, 0, 2.7])).asnumpy()
array([-1.,  0.,  1.], dtype=float32))",
             .inputs = {"data"},
             .gradients = {straight_through},
             .compose = [](Composition& c) { return sign(c[0]); }});
}

}  // namespace afterglow::ops
