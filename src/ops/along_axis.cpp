// SPDX-License-Identifier: Apache-2.0
// Softmax, sequences and norms along an axis, made of other ops: along the last axis they run as
// one pass over memory.
#include <cmath>
#include <limits>

#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

// --- types ---

/// In the type to compute a result of some type in: float16 is widened.
Value widened(const Value& x, DType result) {
  const DType own = x.array.dtype;
  const bool is_double = own == DType::float64 || result == DType::float64;
  const DType wanted = is_double ? DType::float64 : DType::float32;
  return own == wanted ? x : copy(x, wanted);
}

// --- steps along an axis ---

/// Lengths in a type that can count the steps of any axis.
Value countable(const Value& lengths) {
  switch (lengths.array.dtype) {
    case DType::float32:
    case DType::float64:
    case DType::int32:
    case DType::int64:
      return lengths;
    case DType::float16:
      return copy(lengths, DType::float32);
    default:
      return copy(lengths, DType::int32);
  }
}

/// 0, 1, ... along an axis of a shape, in the type and place of an array; 1 along the others.
Value steps_like(const Value& array, const Shape& shape, std::int64_t axis) {
  const auto position = static_cast<std::size_t>(axis);
  Shape along(shape.size(), 1);
  along[position] = shape[position];
  return shaped(count_up(shape[position], array.array.dtype, array.array.context()), along);
}

// --- softmax ---

struct Softmax {
  std::int64_t axis = -1;
  std::optional<double> temperature = {};
  std::optional<DType> dtype = {};
  bool use_length = false;
  static constexpr auto fields =
      std::tuple{field("axis", &Softmax::axis, "along which the results add up to 1"),
                 field("temperature", &Softmax::temperature, "what elements are divided by first"),
                 field("dtype", &Softmax::dtype, "of the result"),
                 field("use_length", &Softmax::use_length, "whether only some elements count")};
};

/// Where an element counts: the first ones along the axis.
Value length_mask(const Composition& c, const Value& length, const Shape& shape,
                  std::int64_t axis) {
  Shape expected = shape;
  expected.erase(expected.begin() + axis);
  if (shape_of(length) != expected)
    c.refuse("along axis " + std::to_string(axis) + " of " + to_string(shape) +
             " length must have shape " + to_string(expected));
  if (is_floating(length.array.dtype)) c.refuse("length must hold integers", ErrorKind::type);
  expected.insert(expected.begin() + axis, 1);
  const Value lengths = shaped(countable(length), expected);
  return steps_like(lengths, shape, axis) < lengths;
}

template <bool logarithm>
const lazy::Op& rows_op() {
  return logarithm ? the_op<"log_softmax_of_rows">() : the_op<"softmax_of_rows">();
}

template <bool logarithm>
const lazy::Op* rows_op_for(std::span<const Array* const> data) {
  return has_rows(*data[0]) ? &rows_op<logarithm>() : nullptr;
}

Value softmax_of_rows(const Value& x, bool logarithm) {
  return apply(logarithm ? rows_op<true>() : rows_op<false>(), {}, x);
}

Value softmax_along(const Value& x, std::int64_t axis, bool logarithm) {
  Value greatest;
  {
    const autograd::Unrecorded pause;  // what is subtracted everywhere does not matter
    greatest = max(x, {axis}, true);
  }
  const Value centred = x - greatest;
  const Value powers = exp(centred);
  const Value total = sum(powers, {axis}, true);
  return logarithm ? centred - log(total) : powers / total;
}

enum class Form { softmax, logarithm, negative };

/// Whether the kernel of rows does it all, which is most often so.
bool is_plain(const Value& x, const Value& length, const Softmax& given, DType dtype) {
  return dtype == x.array.dtype && !length && !given.temperature &&
         (given.axis == -1 || given.axis == rank_of(x) - 1) && has_rows(x.array);
}

Value softmax(const Composition& c, const Value& x, const Value& length, const Softmax& given,
              Form form = Form::softmax) {
  const DType dtype = given.dtype.value_or(x.array.dtype);
  for (const DType one : {x.array.dtype, dtype}) {
    if (!is_floating(one))
      c.refuse("needs a floating type, not " + std::string(name_of(one)), ErrorKind::type);
  }
  if (given.use_length != static_cast<bool>(length))
    c.refuse("an array of lengths and use_length go together");
  const bool logarithm = form == Form::logarithm;
  if (is_plain(x, length, given, dtype) && form != Form::negative)
    return softmax_of_rows(x, logarithm);
  Value values = widened(x, dtype);
  if (form == Form::negative) values = -values;
  if (given.temperature && *given.temperature != 1) values = values / *given.temperature;
  if (!x.array.size()) return in_type(values, dtype);
  const bool is_single = !rank_of(x);
  if (is_single) values = shaped(values, {1});
  const std::int64_t axis = normal_axis(c, given.axis, rank_of(values));
  Value result;
  if (length) {
    const Value mask = length_mask(c, length, shape_of(values), axis);
    values = where(mask, values, -std::numeric_limits<double>::infinity());
    result = where(mask, softmax_along(values, axis, logarithm), 0);
  } else if (axis == rank_of(values) - 1 && has_rows(values.array)) {
    result = softmax_of_rows(values, logarithm);
  } else {
    result = softmax_along(values, axis, logarithm);
  }
  return in_type(is_single ? shaped(result, {}) : result, dtype);
}

enum class ActivationMode { instance, channel };

constexpr auto choices(ActivationMode) {
  return in_order<ActivationMode>("instance", "channel");
}

struct SoftmaxActivation {
  ActivationMode mode = ActivationMode::instance;
  static constexpr auto fields =
      std::tuple{field("mode", &SoftmaxActivation::mode, "along the last axis, or along axis 1")};
};

Value softmax_activation(Composition& c, const SoftmaxActivation& given) {
  const bool channel = given.mode == ActivationMode::channel;
  return softmax(c, c[0], {}, {.axis = channel ? 1 : -1});
}

/// A label too great for its row takes the last entry, one below 0 none, which counts as 1e-8.
Value softmax_cross_entropy(Composition& c) {
  const Value &x = c[0], &label = c[1];
  const Shape shape = shape_of(x);
  if (shape.size() != 2 || shape_of(label) != Shape{shape[0]})
    c.refuse("data must be a matrix and label have an entry for each row");
  const Value probabilities = softmax(c, x, {}, {});
  const Value places = minimum(shaped(copy(label, DType::int64), {shape[0], 1}), shape[1] - 1);
  const Value chosen = equal(steps_like(places, shape, 1), places);
  const Value picked = sum(where(chosen, probabilities, 0), {1}, false);
  return shaped(-sum(log(maximum(picked, 1e-8)), {0}, false), {1});
}

// --- sequences ---

struct SequenceMask {
  bool use_sequence_length = false;
  double value = 0;
  std::int64_t axis = 0;
  static constexpr auto fields =
      std::tuple{field("use_sequence_length", &SequenceMask::use_sequence_length,
                       "whether sequences have lengths of their own"),
                 field("value", &SequenceMask::value, "behind the end of a sequence"),
                 field("axis", &SequenceMask::axis, "of time, 0 or 1")};
};

struct Sequence {
  bool use_sequence_length = false;
  std::int64_t axis = 0;
  static constexpr auto fields =
      std::tuple{field("use_sequence_length", &Sequence::use_sequence_length,
                       "whether sequences have lengths of their own"),
                 field("axis", &Sequence::axis, "of time, 0 or 1")};
};

/// The second input, in the shape to compare with steps along the axis of time; none where
/// sequences are as long as the data.
Value lengths_along(const Composition& c, bool is_used, std::int64_t axis) {
  const Value &x = c[0], &lengths = c[1];
  if (rank_of(x) < 2 || axis < 0 || axis > 1)
    c.refuse("needs two dimensions or more and time along axis 0 or 1, but the axis is " +
             std::to_string(axis));
  if (!is_used) return {};
  if (!lengths) c.refuse("use_sequence_length=True needs sequence_length");
  const std::int64_t count = x.array.shape()[static_cast<std::size_t>(1 - axis)];
  if (shape_of(lengths) != Shape{count})
    c.refuse("sequence_length must have shape " + to_string(Shape{count}));
  Shape shape(static_cast<std::size_t>(rank_of(x)), 1);
  shape[static_cast<std::size_t>(1 - axis)] = count;
  return shaped(countable(lengths), shape);
}

Value sequence_mask(Composition& c, const SequenceMask& given) {
  const Value& x = c[0];
  const Value lengths = lengths_along(c, given.use_sequence_length, given.axis);
  if (!lengths) return copy(x);
  const Value mask = steps_like(lengths, shape_of(x), given.axis) < lengths;
  return in_type(where(mask, x, given.value), x.array.dtype);
}

/// Zeros for a sequence without steps.
Value sequence_last(Composition& c, const Sequence& given) {
  const Value& x = c[0];
  const Value lengths = lengths_along(c, given.use_sequence_length, given.axis);
  if (lengths) {
    const Value mask = equal(steps_like(lengths, shape_of(x), given.axis), lengths - 1);
    return in_type(sum(where(mask, x, 0), {given.axis}, false), x.array.dtype);
  }
  if (!shape_of(x)[static_cast<std::size_t>(given.axis)]) c.refuse("needs at least one step");
  Part last = whole(x.array);
  last.offset = (last.shape[static_cast<std::size_t>(given.axis)] - 1) *
                last.strides[static_cast<std::size_t>(given.axis)];
  last.shape.erase(last.shape.begin() + given.axis);
  last.strides.erase(last.strides.begin() + given.axis);
  return copy(view(x, last));
}

Value sequence_reverse(Composition& c, const Sequence& given) {
  const Value& x = c[0];
  const Value lengths = lengths_along(c, given.use_sequence_length, given.axis);
  if (given.axis) c.refuse("axis must be 0, but is " + std::to_string(given.axis));
  if (lengths) return apply(op_named("reverse_sequences"), {}, x, c[1]);
  return copy(reversed(x, {0}));
}

// --- norms ---

enum class NormMode { instance, channel, spatial };

constexpr auto choices(NormMode) {
  return in_order<NormMode>("instance", "channel", "spatial");
}

struct L2Normalization {
  double eps = 1e-10;
  NormMode mode = NormMode::instance;
  static constexpr auto fields =
      std::tuple{field("eps", &L2Normalization::eps, "is added to the square of the norm"),
                 field("mode", &L2Normalization::mode,
                       "the norm of everything but the first axis, along axis 1, or behind that")};
};

Value l2_normalization(Composition& c, const L2Normalization& given) {
  const int rank = rank_of(c[0]);
  if (given.mode != NormMode::instance && rank < 3)
    c.refuse("modes 'channel' and 'spatial' need three dimensions or more");
  Shape axes;
  const std::int64_t first = given.mode == NormMode::spatial ? 2 : 1;
  const std::int64_t end = given.mode == NormMode::channel ? 2 : rank;
  for (std::int64_t axis = first; axis < end; ++axis) axes.push_back(axis);
  const DType dtype = c[0].array.dtype;
  const Value values = widened(c[0], dtype);
  const Value squares = square(values);
  const Value total = axes.empty() ? squares : sum(squares, axes, true);
  return in_type(values / sqrt(total + given.eps), dtype);
}

}  // namespace

void declare_along_axis(Table& table) {
  table.compose<Softmax>(
      {.name = "softmax",
       .mxnet_names = {"softmax", "_npx_softmax"},
       .doc =
           R"(Return e to the power of the elements, divided by the sum of these along an axis.

The elements are divided by ``temperature`` first. With ``use_length`` only as many along the axis
count as ``length`` says, and the others become 0.

>>> nd.softmax(nd.array([[1, 1], [0, 200]])).asnumpy()
array([[0.5, 0.5],
       [0. , 1. ]], dtype=float32)

>>> npx.softmax(np.array([[1, 1], [0, 200]]))
array([[0.5, 0.5],
       [0. , 1. ]]))",
       .inputs = {"data", "length"},
       .optional_inputs = 1,
       .compose = [](Composition& c,
                     const Softmax& given) { return softmax(c, c[0], c[1], given); },
       .instead = rows_op_for<false>,
       .in_graphs = {.alike = true}});
  table.compose<Softmax>(
      {.name = "log_softmax",
       .mxnet_names = {"log_softmax", "_npx_log_softmax"},
       .doc = R"(Return the logarithm of the softmax along an axis.

>>> nd.log_softmax(nd.array([0, 1000])).asnumpy()
array([-1000.,     0.], dtype=float32)

>>> npx.log_softmax(np.array([0, 1000]))
array([-1000.,     0.]))",
       .inputs = {"data"},
       .compose = [](Composition& c,
                     const Softmax& given) { return softmax(c, c[0], {}, given, Form::logarithm); },
       .instead = rows_op_for<true>,
       .in_graphs = {.alike = true}});
  table.compose<Softmax>(
      {.name = "softmin",
       .mxnet_names = {"softmin"},
       .doc = R"(Return the softmax of the negative elements.

>>> nd.softmin(nd.array([0, 200])).asnumpy()
array([1., 0.], dtype=float32))",
       .inputs = {"data"},
       .compose = [](Composition& c,
                     const Softmax& given) { return softmax(c, c[0], {}, given, Form::negative); },
       .in_graphs = {.alike = true}});
  table.compose<SoftmaxActivation>(
      {.name = "SoftmaxActivation",
       .mxnet_names = {"SoftmaxActivation"},
       .doc = R"(Return the softmax along the last axis, or along axis 1 with mode "channel".

>>> nd.SoftmaxActivation(nd.zeros((1, 2))).asnumpy()
array([[0.5, 0.5]], dtype=float32))",
       .inputs = {"data"},
       .compose = softmax_activation,
       .in_graphs = {.alike = true}});
  table.add(
      {.name = "softmax_cross_entropy",
       .mxnet_names = {"softmax_cross_entropy"},
       .doc = R"(Return the sum over all rows of minus the logarithm of the softmax at the label.

>>> nd.softmax_cross_entropy(nd.array([[1, 2, 3], [11, 7, 5]]), nd.array([2, 0])).asnumpy()
array([0.4281872], dtype=float32))",
       .inputs = {"data", "label"},
       .compose = softmax_cross_entropy});
  table.compose<SequenceMask>({.name = "SequenceMask",
                               .mxnet_names = {"SequenceMask", "_npx_sequence_mask"},
                               .doc = R"(Return the sequences with ``value`` behind their lengths.

Time goes along the axis, 0 or 1, and the sequences lie side by side along the other.

>>> nd.SequenceMask(nd.ones((2, 3)), nd.array([1, 2]), True, axis=1).asnumpy()
array([[1., 0., 0.],
       [1., 1., 0.]], dtype=float32)

>>> npx.sequence_mask(np.ones((2, 3)), np.array([1, 2]), True, axis=1)
array([[1., 0., 0.],
       [1., 1., 0.]]))",
                               .inputs = {"data", "sequence_length"},
                               .optional_inputs = 1,
                               .compose = sequence_mask});
  table.compose<Sequence>({.name = "SequenceLast",
                           .mxnet_names = {"SequenceLast"},
                           .doc = R"(Return the last step of each sequence.

>>> nd.SequenceLast(nd.array([[1, 2], [3, 4]]), nd.array([1, 2]), True).asnumpy()
array([1., 4.], dtype=float32))",
                           .inputs = {"data", "sequence_length"},
                           .optional_inputs = 1,
                           .compose = sequence_last});
  table.compose<Sequence>(
      {.name = "SequenceReverse",
       .mxnet_names = {"SequenceReverse"},
       .doc = R"(Return each sequence from its last step to its first; what lies behind stays.

>>> nd.SequenceReverse(nd.array([[1, 2], [3, 4]]), nd.array([2, 1]), True).asnumpy()
array([[3., 2.],
       [1., 4.]], dtype=float32))",
       .inputs = {"data", "sequence_length"},
       .optional_inputs = 1,
       .compose = sequence_reverse});
  table.compose<L2Normalization>({.name = "L2Normalization",
                                  .mxnet_names = {"L2Normalization"},
                                  .doc = R"(Return the elements divided by their 2-norm.

That is the norm of everything but the first axis, with mode "channel" that along axis 1, with
"spatial" that over all axes behind it.

>>> nd.L2Normalization(nd.array([[3, 4]])).asnumpy()
array([[0.6, 0.8]], dtype=float32))",
                                  .inputs = {"data"},
                                  .compose = l2_normalization,
                                  .in_graphs = {.alike = true},
                                  .node = [](lazy::NodeForm& node, const L2Normalization&) {
                                    node.outputs = {"output", "norm"};
                                    node.usable = 1;
                                  }});
}

}  // namespace afterglow::ops
