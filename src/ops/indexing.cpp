// SPDX-License-Identifier: Apache-2.0
// Elements picked by index arrays.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "array/sparse.h"
#include "kernels/gather.h"
#include "lazy/immediate.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

using kernels::Axes;
using kernels::Indexed;
using kernels::IndexMode;

enum class TakeMode { clip, wrap, raise };

constexpr auto choices(TakeMode) {
  return in_order<TakeMode>("clip", "wrap", "raise");
}

constexpr std::string_view mode_doc =
    "what an index outside means; where none is given, negative ones count from the end";

struct Take {
  std::optional<std::int64_t> axis = 0;
  std::optional<TakeMode> mode;
  static constexpr auto fields = std::tuple{
      field("axis", &Take::axis, "the first axis that is indexed; none: of all elements"),
      field("mode", &Take::mode, mode_doc)};
};

struct Scatter {
  std::int64_t axis = 0;
  std::optional<TakeMode> mode;
  bool add = false;
  static constexpr auto fields =
      std::tuple{field("axis", &Scatter::axis, "the first axis that is indexed"),
                 field("mode", &Scatter::mode, mode_doc),
                 field("add", &Scatter::add, "whether values are added to the elements")};
};

enum class PickMode { clip, wrap };

constexpr auto choices(PickMode) {
  return std::array{Choice{"clip", PickMode::clip}, Choice{"wrap", PickMode::wrap}};
}

struct Pick {
  std::optional<std::int64_t> axis = -1;
  bool keepdims = false;
  PickMode mode = PickMode::clip;
  static constexpr auto fields =
      std::tuple{field("axis", &Pick::axis, "along which one element is picked"),
                 field("keepdims", &Pick::keepdims, "whether the axis stays, with one element"),
                 field("mode", &Pick::mode, "what an index outside means")};
};

struct PickLabels {
  std::int64_t axis = -1;
  static constexpr auto fields =
      std::tuple{field("axis", &PickLabels::axis, "along which one element is picked")};
};

struct TakeAlongAxis {
  std::optional<std::int64_t> axis;
  static constexpr auto fields =
      std::tuple{field("axis", &TakeAlongAxis::axis, "that is indexed; none: of all elements")};
};

struct OneHot {
  std::int64_t depth = 0;
  lazy::Number on_value = 1.0;
  lazy::Number off_value = 0.0;
  std::optional<DType> dtype = DType::float32;
  static constexpr auto fields =
      std::tuple{lazy::required("depth", &OneHot::depth, "the extent of the axis added at the end"),
                 field("on_value", &OneHot::on_value, "where the index points"),
                 field("off_value", &OneHot::off_value, "everywhere else"),
                 field("dtype", &OneHot::dtype, "of the result")};
};

/// What the index arrays of a call mean.
struct Indexing {
  int axis;  ///< the first one that is indexed
  IndexMode mode;
  bool add = false;  ///< of a scatter
};

IndexMode index_mode(const Inference& inference, std::optional<TakeMode> mode) {
  if (mode == TakeMode::clip) return IndexMode::clip;
  if (mode == TakeMode::wrap) return IndexMode::wrap;
  return mode && inference.legacy ? IndexMode::strict : IndexMode::from_end;
}

void need_arrays(const Inference& inference) {
  for (const Operand& input : inference.call.inputs) {
    if (input.is_immediate()) inference.refuse("needs arrays, not numbers", ErrorKind::type);
  }
}

void stretch(Operand& input, std::span<const std::int64_t> shape) {
  if (std::ranges::equal(input.shape(), shape)) return;
  input.given = std::exchange(input.layout, stretched(*input.layout, shape));
}

/// Gives all index arrays the shape that they have together, and returns it.
Shape broadcast_indices(Inference& inference, std::size_t first) {
  auto& inputs = inference.call.inputs;
  Shape shape;
  for (std::size_t i = first; i < inputs.size(); ++i) {
    const auto extents = inputs[i].shape();
    if (extents.size() > shape.size())
      shape.insert(shape.begin(), extents.size() - shape.size(), 1);
    const std::size_t missing = shape.size() - extents.size();
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
      std::int64_t& extent = shape[missing + axis];
      if (extents[axis] == extent || extents[axis] == 1) continue;
      if (extent != 1) {
        inference.refuse("the index arrays cannot be broadcast together", ErrorKind::index);
      }
      extent = extents[axis];
    }
  }
  for (std::size_t i = first; i < inputs.size(); ++i) stretch(inputs[i], shape);
  return shape;
}

void refuse_empty_axes(const Inference& inference, std::int64_t positions, int axis,
                       std::size_t indexed) {
  const auto shape = inference.call.inputs[0].shape();
  for (std::size_t i = 0; i < indexed && positions; ++i) {
    if (shape[static_cast<std::size_t>(axis) + i] == 0) {
      inference.refuse("there is nothing to index along axis " + std::to_string(axis + i) +
                           ", which has no elements",
                       ErrorKind::index);
    }
  }
}

/// Sees all elements of the first input in a row.
void flatten(const Inference& inference) {
  Operand& data = inference.call.inputs[0];
  if (data.layout->rank() == 1) return;
  if (!data.layout->is_contiguous()) inference.refuse("needs an array without gaps");
  const std::int64_t all[] = {data.size()};
  data.given = std::exchange(data.layout, Layout::contiguous(all));
}

/// The layout of the elements that the inputs from `first` on name in input 0, along the axes from
/// `given_axis` on. Settles what they mean.
Reference<Layout> infer_named(Inference& inference, std::size_t first, std::int64_t given_axis,
                              std::optional<TakeMode> mode, bool add = false) {
  Call& call = inference.call;
  const Operand& data = call.inputs[0];
  const int rank = data.layout->rank();
  const auto indexed = static_cast<int>(call.inputs.size() - first);
  const int axis = rank ? checked_axis(inference, given_axis, rank) : 0;
  if (axis + indexed > rank) {
    inference.refuse(std::to_string(indexed) + " index arrays are too many", ErrorKind::index);
  }
  call.settled.set(Indexing{axis, index_mode(inference, mode), add});
  if (rank == 1 && indexed == 1 && call.inputs[first].layout->is_contiguous()) {
    // Elements of a vector look like the array that names them.
    refuse_empty_axes(inference, call.inputs[first].size(), 0, 1);
    return call.inputs[first].layout;
  }
  const Shape positions = broadcast_indices(inference, first);
  const std::int64_t count = element_count(positions);
  refuse_empty_axes(inference, count, axis, static_cast<std::size_t>(indexed));
  const auto extents = data.shape();
  Shape shape;
  shape.reserve(extents.size() + positions.size());
  shape.insert(shape.end(), extents.begin(), extents.begin() + axis);
  shape.insert(shape.end(), positions.begin(), positions.end());
  shape.insert(shape.end(), extents.begin() + axis + indexed, extents.end());
  return Layout::contiguous(shape);
}

/// Nanoseconds: a jump in memory per position, then the bytes.
double cost_of(std::int64_t jumps, std::int64_t elements, DType dtype) {
  return 150 + 1.2 * static_cast<double>(jumps) +
         0.1 * static_cast<double>(elements) * static_cast<double>(size_of(dtype));
}

void gather_infer(Inference& inference, const Take& given) {
  need_arrays(inference);
  if (!given.axis) {
    if (inference.legacy) inference.refuse("axis must be an integer", ErrorKind::type);
    flatten(inference);
  }
  Reference<Layout> layout = infer_named(inference, 1, given.axis.value_or(0), given.mode);
  if (inference.legacy && !layout->rank()) layout = Layout::contiguous(Shape{1});
  const DType dtype = inference.call.inputs[0].dtype;
  inference.add_output(std::move(layout), dtype);
  const std::int64_t size = inference.call.outputs[0].size();
  const std::int64_t positions =
      inference.call.inputs.size() > 1 ? inference.call.inputs[1].size() : 1;
  inference.call.cost = cost_of(std::min(size, positions), size, dtype);
}

Axes axes_of(const Layout& layout, int begin, int end) {
  return {end - begin, layout.shape().data() + begin, layout.strides().data() + begin};
}

kernels::IndexArray index_array(const Operand& index, const Layout& data, int axis) {
  return {index.data(), index.dtype, index.layout->strides().data(), data.shape()[axis],
          data.strides()[axis]};
}

Indexed named_elements(const Call& call, std::size_t first) {
  const Layout& layout = *call.inputs[0].layout;
  const auto [axis, mode, add] = call.settled.get<Indexing>();
  const auto count = static_cast<int>(call.inputs.size() - first);
  Indexed indexed;
  indexed.data = call.inputs[0].data();
  indexed.dtype = call.inputs[0].dtype;
  indexed.mode = mode;
  indexed.before = axes_of(layout, 0, axis);
  indexed.after = axes_of(layout, axis + count, layout.rank());
  for (int i = 0; i < count; ++i) {
    indexed.indices.push_back(
        index_array(call.inputs[first + static_cast<std::size_t>(i)], layout, axis + i));
  }
  if (count) {
    const Layout& positions = *call.inputs[first].layout;
    indexed.positions = {positions.rank(), positions.shape().data(), nullptr};
  }
  return indexed;
}

/// A few elements of a vector, read or written: what a loop over single samples does. There is
/// nothing to plan, and a plan would take longer.
class FewElements : public lazy::Pass {
 public:
  static constexpr std::int64_t most = 256;

  /// `index`: which input holds the indices.
  static bool does(const Call& call, std::size_t index) {
    if (call.inputs.size() != index + 1) return false;
    const Operand &data = call.inputs[0], &places = call.inputs[index];
    const IndexMode mode = call.settled.get<Indexing>().mode;
    return data.layout->rank() == 1 && places.layout->is_contiguous() && places.size() <= most &&
           (places.dtype == DType::int32 || places.dtype == DType::int64) &&
           mode == IndexMode::from_end && size_of(data.dtype) >= 4;
  }

  FewElements(const Call& call, std::size_t index, const void* source, void* target)
      : data_(call.inputs[0]), places_(call.inputs[index]), source_(source), target_(target) {}

  int shares() const override { return places_.size() ? 1 : 0; }
  void run(int) override {
    std::int64_t offsets[most];
    if (places_.dtype == DType::int32) {
      find(reinterpret_cast<const std::int32_t*>(places_.data()), offsets);
    } else {
      find(reinterpret_cast<const std::int64_t*>(places_.data()), offsets);
    }
    if (size_of(data_.dtype) == 4) {
      move<std::uint32_t>(offsets);
    } else {
      move<std::uint64_t>(offsets);
    }
  }

 private:
  /// All places first: a wrong one leaves everything as it was.
  template <class Index>
  void find(const Index* places, std::int64_t* offsets) const {
    const std::int64_t extent = data_.shape()[0], stride = data_.layout->strides()[0];
    for (std::int64_t i = 0; i < places_.size(); ++i) {
      const std::int64_t place = places[i] < 0 ? places[i] + extent : places[i];
      if (place < 0 || place >= extent) {
        throw Error(ErrorKind::index, "index " + std::to_string(places[i]) +
                                          " is out of bounds for an axis of size " +
                                          std::to_string(extent));
      }
      offsets[i] = place * stride;
    }
  }

  template <class Word>
  void move(const std::int64_t* offsets) const {
    const std::int64_t count = places_.size();
    auto* data = reinterpret_cast<Word*>(data_.data());
    if (target_) {
      for (std::int64_t i = 0; i < count; ++i) static_cast<Word*>(target_)[i] = data[offsets[i]];
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        data[offsets[i]] = static_cast<const Word*>(source_)[i];
      }
    }
  }

  const Operand &data_, &places_;
  const void* source_;  ///< what is written
  void* target_;        ///< where to read to, or nullptr
};

std::unique_ptr<lazy::Pass> gather_kernel(const Call& call) {
  if (FewElements::does(call, 1)) {
    return std::make_unique<FewElements>(call, 1, nullptr, call.outputs[0].data());
  }
  return kernel_pass<kernels::GatherPass>(named_elements(call, 1), call.outputs[0].data());
}

/// One index per element of all axes but one: the index array has the rank of the data, or lacks
/// the axis. Without keepdims an axis of one element is left out of the result. NumPy's way to
/// count indices goes with its broadcasting and several indices per line.
void infer_picked(Inference& inference, std::int64_t given_axis, bool keepdims, IndexMode mode) {
  Call& call = inference.call;
  Operand &data = call.inputs[0], &index = call.inputs[1];
  const int rank = data.layout->rank();
  const int axis = checked_axis(inference, given_axis, rank);
  // MXNet answers one index into a vector with a vector.
  const bool keep = keepdims || (rank == 1 && index.layout->rank() == 1);
  if (index.layout->rank() == rank - 1) {
    const Layout& layout = *index.layout;
    Shape shape(layout.shape().begin(), layout.shape().end());
    Shape strides(layout.strides().begin(), layout.strides().end());
    shape.insert(shape.begin() + axis, 1);
    strides.insert(strides.begin() + axis, 0);
    index.given = std::exchange(index.layout, Layout::strided(shape, strides));
  }
  const bool broadcasts = mode == IndexMode::from_end;
  const auto refuse = [&] {
    Shape without(data.shape().begin(), data.shape().end()), one = without;
    without.erase(without.begin() + axis);
    one[static_cast<std::size_t>(axis)] = 1;
    inference.refuse("the index array must have the shape of the data without axis " +
                     std::to_string(axis) + ", " + to_string(without) + " or " + to_string(one));
  };
  if (index.layout->rank() != rank) refuse();
  if (index.shape()[axis] != 1 && !(keep && broadcasts)) refuse();
  Shape shape(index.shape().begin(), index.shape().end());
  for (int other = 0; other < rank; ++other) {
    const std::int64_t extent = data.shape()[other];
    if (other == axis || extent == shape[other]) continue;
    if (!broadcasts || (extent != 1 && shape[other] != 1)) refuse();
    if (shape[other] == 1) shape[other] = extent;
  }
  stretch(index, shape);
  const std::int64_t count = element_count(shape);
  refuse_empty_axes(inference, count, axis, 1);
  call.settled.set(Indexing{axis, mode});
  if (!keep) shape.erase(shape.begin() + axis);
  if (inference.legacy && shape.empty()) shape.push_back(1);
  inference.add_output(shape, data.dtype);
  call.cost = cost_of(count, count, data.dtype);
}

void pick_infer(Inference& inference, const Pick& given) {
  need_arrays(inference);
  if (!given.axis) inference.refuse("axis=None is not supported; name an axis");
  infer_picked(inference, *given.axis, given.keepdims,
               given.mode == PickMode::clip ? IndexMode::clip : IndexMode::wrap);
}

void pick_labels_infer(Inference& inference, const PickLabels& given) {
  need_arrays(inference);
  infer_picked(inference, given.axis, true, IndexMode::label);
}

void take_along_axis_infer(Inference& inference, const TakeAlongAxis& given) {
  need_arrays(inference);
  if (!given.axis) flatten(inference);
  const auto& inputs = inference.call.inputs;
  if (inputs[0].layout->rank() != inputs[1].layout->rank())
    inference.refuse("indices must have as many axes as the array");
  infer_picked(inference, given.axis.value_or(0), true, IndexMode::from_end);
}

/// A gather whose positions themselves move along all axes but one.
class PickPass : public lazy::Pass {
 public:
  explicit PickPass(const Call& call) : kernel_(named(call), call.outputs[0].data()) {}
  int shares() const override { return kernel_.shares(); }
  void run(int share) override { kernel_.run(share); }

 private:
  Indexed named(const Call& call) {
    const Layout &data = *call.inputs[0].layout, &positions = *call.inputs[1].layout;
    const auto [axis, mode, add] = call.settled.get<Indexing>();
    for (int other = 0; other < data.rank(); ++other) {
      const bool moves = other != axis && data.shape()[other] != 1;
      strides_.push_back(moves ? data.strides()[other] : 0);
    }
    Indexed indexed;
    indexed.data = call.inputs[0].data();
    indexed.dtype = call.inputs[0].dtype;
    indexed.mode = mode;
    indexed.positions = {data.rank(), positions.shape().data(), strides_.data()};
    indexed.indices.push_back(index_array(call.inputs[1], data, axis));
    return indexed;
  }

  std::vector<std::int64_t> strides_;
  kernels::GatherPass kernel_;
};

/// Inputs: the array to change, the values, the index arrays.
void scatter_infer(Inference& inference, const Scatter& given) {
  Call& call = inference.call;
  if (call.inputs.size() < 2) inference.refuse("needs an array and values");
  Operand& value = call.inputs[1];
  const Operand& data = call.inputs[0];
  for (const Operand& input : call.inputs) {
    if (input.is_immediate() && &input != &value) {
      inference.refuse("needs arrays, not numbers", ErrorKind::type);
    }
  }
  const Reference<Layout> named = infer_named(inference, 2, given.axis, given.mode, given.add);
  settle(inference, value, data.dtype);
  if (value.dtype != data.dtype) {
    inference.refuse("array and values must have the same type", ErrorKind::type);
  }
  if (!value.is_immediate() && !same_shape(*value.layout, *named)) {
    if (!stretched(*value.layout, named->shape())) {
      inference.refuse("values of shape " + to_string(value.shape()) +
                       " cannot be broadcast to the shape " + to_string(named->shape()) +
                       " of the elements named");
    }
    stretch(value, named->shape());
  }
  inference.add_output(data.layout, data.dtype);
  const std::int64_t positions = call.inputs.size() > 2 ? call.inputs[2].size() : 1;
  call.cost = cost_of(2 * positions, named->size(), data.dtype);
}

kernels::ScatterSource scatter_source(const Call& call) {
  static constexpr std::int64_t no_strides[2 * max_rank] = {};
  const Operand& value = call.inputs[1];
  if (value.is_immediate()) return {value.immediate.data(), no_strides, no_strides, no_strides};
  const std::int64_t* const strides = value.layout->strides().data();
  const std::int64_t* const indexed = strides + call.settled.get<Indexing>().axis;
  const int indexed_rank = call.inputs.size() > 2 ? call.inputs[2].layout->rank() : 0;
  return {value.data(), strides, indexed, indexed + indexed_rank};
}

/// A row for each index. The values are bits of the result's type.
struct Rows {
  std::int64_t depth;
  std::uint64_t on_value, off_value;
};

void one_hot_infer(Inference& inference, const OneHot& given) {
  need_arrays(inference);
  Call& call = inference.call;
  const std::int64_t depth = given.depth;
  if (depth < 0)
    inference.refuse("depth is " + std::to_string(depth) + "; it must not be negative");
  const DType dtype = given.dtype.value_or(DType::float32);
  if (dtype == DType::boolean)
    inference.refuse("dtype is bool; it must be a type of numbers", ErrorKind::type);
  Shape shape(call.inputs[0].shape().begin(), call.inputs[0].shape().end());
  shape.push_back(depth);
  inference.add_output(shape, dtype);
  const auto bits = [&](const lazy::Number& number) {
    Operand value;
    std::visit([&](auto one) { lazy::set_immediate(value, one); }, number);
    settle(inference, value, dtype);
    return std::bit_cast<std::uint64_t>(value.immediate);
  };
  call.settled.set(Rows{depth, bits(given.on_value), bits(given.off_value)});
  call.cost = cost_of(call.inputs[0].size(), call.outputs[0].size(), dtype);
}

std::unique_ptr<lazy::Pass> one_hot_kernel(const Call& call) {
  const Operand& index = call.inputs[0];
  const Layout& layout = *index.layout;
  const auto [depth, on_value, off_value] = call.settled.get<Rows>();
  kernels::IndexArray indices;
  indices.data = index.data();
  indices.dtype = index.dtype;
  indices.strides = layout.strides().data();
  return kernel_pass<kernels::OneHotPass>(indices, axes_of(layout, 0, layout.rank()),
                                          call.outputs[0].data(), call.outputs[0].dtype, depth,
                                          on_value, off_value);
}

std::unique_ptr<lazy::Pass> scatter_kernel(const Call& call) {
  const Operand& values = call.inputs[1];
  if (FewElements::does(call, 2) && !call.settled.get<Indexing>().add && !values.is_immediate() &&
      values.layout->is_contiguous() && values.size() == call.inputs[2].size()) {
    return std::make_unique<FewElements>(call, 2, values.data(), nullptr);
  }
  return kernel_pass<kernels::ScatterPass>(named_elements(call, 2), scatter_source(call),
                                           call.settled.get<Indexing>().add);
}

// --- gradients ---

/// The inputs from one on: index arrays.
std::vector<Value> indices_from(const Gradient& c, std::size_t first) {
  std::vector<Value> result;
  for (std::size_t input = first; input < c.input_count(); ++input) result.push_back(c[input]);
  return result;
}

/// Writes, or adds, `values` to the elements of `target` that the indices name.
Value scatter(const Value& target, const Value& values, std::span<const Value> indices,
              const Scatter& given) {
  autograd::CallBuilder builder(the_op<"scatter">(), false);
  builder.add(target);
  builder.add(values);
  for (const Value& index : indices) builder.add(index);
  return builder.issue({lazy::write_arguments(given), {}, nullptr});
}

Value gather(const Value& source, std::span<const Value> indices, const Take& given) {
  autograd::CallBuilder builder(the_op<"gather">(), false);
  builder.add(source);
  for (const Value& index : indices) builder.add(index);
  return builder.issue({lazy::write_arguments(given), {}, nullptr});
}

/// Zeros with the gradient added at the places that were read.
Value scattered(Gradient& c) {
  const auto given = c.parameters<Take>();
  const Shape shape = c.shape(0);
  Value target = zeros(c, 0);
  if (!given.axis) target = shaped(target, {element_count(shape)});
  const Value sums =
      scatter(target, c.g, indices_from(c, 1), {given.axis.value_or(0), given.mode, true});
  return shaped(sums, shape);
}

/// The same as a sparse array of the rows that were read. A gradient that is recorded is dense.
Value sums_of_rows(Gradient& c) {
  const auto given = c.parameters<Take>();
  const Shape shape = c.shape(0);
  if (autograd::state().recording) return scattered(c);
  const Value index =
      given.mode == TakeMode::clip ? clip(c[1], 0, shape[0] - 1) : modulo(c[1], shape[0]);
  return autograd::front_end().sum_rows(index, c.g, shape);
}

/// Sparse where the gradient of the variable is.
Value through_take(Gradient& c) {
  const autograd::Origin& origin = c.saved(0).origin;
  const auto given = c.parameters<Take>();
  const bool is_sparse = origin && origin.node->is_variable() &&
                         sparse_parts(origin.node->gradient) && given.axis == 0 && given.mode;
  return is_sparse ? sums_of_rows(c) : scattered(c);
}

/// The gradient of what was there before some elements were written.
Value unwritten(Gradient& c) {
  const auto given = c.parameters<Scatter>();
  if (given.add) return c.g;
  const Value nothing = full(0, c.shape(1), c.g.array.dtype, c.g.array.context());
  return scatter(copy(c.g), nothing, indices_from(c, 2), given);
}

Value read_back(Gradient& c) {
  const auto given = c.parameters<Scatter>();
  return fit(c, 1, gather(c.g, indices_from(c, 2), {given.axis, given.mode}));
}

/// Of one element per line of `shape` along an axis.
Value put_where_picked(Gradient& c, const Shape& shape, std::int64_t given_axis,
                       std::optional<TakeMode> mode) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = given_axis < 0 ? given_axis + rank : given_axis;
  const std::int64_t depth = shape[static_cast<std::size_t>(axis)];
  Shape kept = shape;
  kept[static_cast<std::size_t>(axis)] = 1;
  Value index = c[1];
  const auto extents = index.array.shape();
  if (static_cast<std::int64_t>(extents.size()) == rank &&
      Shape(extents.begin(), extents.end()) != kept) {
    // Several indices for a line, or one for several lines: gradients of one element add up.
    const Value target = shaped(zeros(c, 0), shape);
    return scatter(target, c.g, indices_along(shape, axis, index), {0, mode, true});
  }
  index = shaped(index, kept);
  index = mode == TakeMode::clip ? clip(index, 0, depth - 1) : modulo(index, depth);
  Shape along(static_cast<std::size_t>(rank - axis), 1);
  along[0] = depth;
  const Value places = shaped(count_up(depth, index.array.dtype, c.g.array.context()), along);
  return where(equal(places, index), shaped(c.g, kept), 0);
}

Value through_pick(Gradient& c) {
  const auto given = c.parameters<Pick>();
  const TakeMode mode = given.mode == PickMode::clip ? TakeMode::clip : TakeMode::wrap;
  return put_where_picked(c, c.shape(0), *given.axis, mode);
}

Value through_take_along_axis(Gradient& c) {
  const auto given = c.parameters<TakeAlongAxis>();
  const Shape shape = c.shape(0);
  const Shape seen = given.axis ? shape : Shape{element_count(shape)};
  return shaped(put_where_picked(c, seen, given.axis.value_or(0), {}), shape);
}

}  // namespace

void declare_indexing(Table& table) {
  table.add<Take>({.name = "take",
                   .mxnet_names = {"take", "_npi_take"},
                   .spellings = {"np.take(a, indices, axis=None, mode='raise', out=None)",
                                 "nd.take(a, indices, axis=0, mode='clip', out=None, name=None)"},
                   .doc = R"(Return what lies at the indices along an axis, or in the flat array.

An index outside is an ``IndexError`` when the result is read, or with ``mode`` clipped or wrapped
around. In ``np`` those that are negative count from the end unless they are clipped.

>>> np.take(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 0]), axis=0)
array([[5., 6.],
       [1., 2.]])

>>> nd.take(nd.array([[1, 2], [3, 4], [5, 6]]), nd.array([2, 0]))
<BLANKLINE>
[[5. 6.]
 [1. 2.]]
<NDArray 2x2 @cpu(0)>)",
                   .inputs = {"a", "indices"},
                   .infer = gather_infer,
                   .kernel = gather_kernel,
                   .may_fail = true,
                   .gradients = {reading_from(1, through_take), no_gradient}});
  table.add<Take>({.name = "take_rows",
                   .inputs = {"data", "indices"},
                   .infer = gather_infer,
                   .kernel = gather_kernel,
                   .may_fail = true,
                   .gradients = {reading_from(1, sums_of_rows), no_gradient}});
  table.add<Take>({.name = "gather",
                   .inputs = {"data", "indices"},
                   .variadic = true,
                   .infer = gather_infer,
                   .kernel = gather_kernel,
                   .may_fail = true,
                   .gradients = {reading_from(1, scattered), no_gradient}});
  table.add<TakeAlongAxis>(
      {.name = "take_along_axis",
       .spellings = {"np.take_along_axis(arr, indices, axis)"},
       .doc = R"(Return one element per index along an axis, where all other axes agree.

>>> x = np.array([[30, 10, 20], [40, 60, 50]])
>>> np.take_along_axis(x, np.array([[1], [0]], dtype="int64"), axis=1)
array([[10.],
       [40.]]))",
       .inputs = {"arr", "indices"},
       .infer = take_along_axis_infer,
       .kernel = pass_of_call<PickPass>,
       .may_fail = true,
       .gradients = {reading({1}, through_take_along_axis), no_gradient}});
  table.add<Pick>(
      {.name = "pick",
       .mxnet_names = {"pick", "choose_element_0index", "_npx_pick"},
       .doc = R"(Return one element per index along an axis: the loss of each label, for example.

>>> nd.pick(nd.array([[1, 2], [3, 4], [5, 6]]), nd.array([0, 1, 0]))
<BLANKLINE>
[1. 4. 5.]
<NDArray 3 @cpu(0)>

>>> npx.pick(np.array([[1, 2], [3, 4], [5, 6]]), np.array([0, 1, 0]))
array([1., 4., 5.]))",
       .inputs = {"data", "index"},
       .infer = pick_infer,
       .kernel = pass_of_call<PickPass>,
       .may_fail = true,
       .gradients = {reading({1}, through_pick), no_gradient}});
  // A negative label names the first element; the result of one that is too great cannot be read.
  table.add<PickLabels>({.name = "pick_labels",
                         .inputs = {"data", "labels"},
                         .infer = pick_labels_infer,
                         .kernel = pass_of_call<PickPass>,
                         .may_fail = true,
                         .gradients = {reading({1},
                                               [](Gradient& c) {
                                                 const auto given = c.parameters<PickLabels>();
                                                 return put_where_picked(c, c.shape(0), given.axis,
                                                                         TakeMode::clip);
                                               }),
                                       no_gradient}});
  table.add<Scatter>(
      {.name = "scatter",
       .inputs = {"data", "values", "indices"},
       .variadic = true,
       .infer = scatter_infer,
       .kernel = scatter_kernel,
       .may_fail = true,
       .updates = true,
       .gradients = {reading_from(2, unwritten), reading_from(2, read_back), no_gradient}});
  table.add<OneHot>(
      {.name = "one_hot",
       .mxnet_names = {"one_hot", "_npx_one_hot"},
       .spellings = {"nd.one_hot(indices, depth, on_value=1.0, off_value=0.0, dtype='float32', "
                     "out=None, name=None)",
                     "npx.one_hot(indices, depth, on_value=1.0, off_value=0.0, dtype='float32', "
                     "out=None, name=None)"},
       .doc =
           R"(Return a row of ``depth`` numbers for each index, with ``on_value`` where it points.

An index outside points nowhere.

>>> nd.one_hot(nd.array([1, 0]), 3)
<BLANKLINE>
[[0. 1. 0.]
 [1. 0. 0.]]
<NDArray 2x3 @cpu(0)>

>>> npx.one_hot(np.array([1, 0]), 3)
array([[0., 1., 0.],
       [1., 0., 0.]]))",
       .inputs = {"indices"},
       .infer = one_hot_infer,
       .kernel = one_hot_kernel,
       .gradients = {no_gradient}});
}

}  // namespace afterglow::ops
