// SPDX-License-Identifier: Apache-2.0
#include "lazy/prediction.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lazy/issue.h"

namespace afterglow::lazy {
namespace {

/// The order of axes that puts channels last, or back behind the batch.
Shape channels_last(int rank) {
  Shape order = {0};
  for (int axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}

Shape channels_first(int rank) {
  Shape order = {0, rank - 1};
  for (int axis = 1; axis < rank - 1; ++axis) order.push_back(axis);
  return order;
}

template <class T>
Array permuted(const T& array, const Shape& order) {
  Shape shape, strides;
  for (const std::int64_t axis : order) {
    shape.push_back(array.layout->shape()[static_cast<std::size_t>(axis)]);
    strides.push_back(array.layout->strides()[static_cast<std::size_t>(axis)]);
  }
  Array result = array;
  result.layout = Layout::strided(shape, strides);
  return result;
}

/// A number that travels inside a call.
std::optional<double> number_of(const Operand& operand) {
  if (!operand.is_immediate()) return {};
  const auto read = [&]<class Real>(Real number) {
    std::memcpy(&number, operand.immediate.data(), sizeof number);
    return static_cast<double>(number);
  };
  if (operand.dtype == DType::float32) return read(float());
  if (operand.dtype == DType::float64) return read(double());
  return {};
}

class ChannelsLast {
 public:
  ChannelsLast(Capture& capture, std::span<const Array> outputs)
      : capture_(capture), outputs_(outputs) {
    for (const OwnedCall& call : capture.calls()) {
      for (const Operand& input : call->inputs) {
        if (input.is_immediate()) continue;
        Value& value = value_of(input);
        ++value.reads;
        value.reader = call.get();
      }
      for (const Operand& output : call->outputs) ++value_of(output).writes;
    }
    for (const Array& output : outputs) value_of(output).is_result = true;
  }

  void run() {
    // What is known ahead comes first: convolutions take it from calls that follow them.
    for (const OwnedCall& call : capture_.calls()) {
      if (!find_ahead(*call)) continue;
      calls_.push_back(copy_of(*call));
      done_.insert(call.get());
    }
    for (const OwnedCall& call : capture_.calls()) {
      if (!done_.contains(call.get())) rewrite(*call);
    }
    for (const Array& output : outputs_) make_plain(output);
    // Copies cost more than they gain where few convolutions follow each other.
    constexpr double gain = 0.25;
    if (copied_ < gain * convolved_) capture_.calls() = std::move(calls_);
  }

 private:
  struct Value {
    int writes = 0, reads = 0;
    const Call* reader = nullptr;
    bool is_result = false;
    bool is_ahead = false;  ///< it depends on nothing but memory outside and constants
    Array plain, last;      ///< as it was captured, and with channels last, where that exists
    bool is_plain_made = true;
  };

  Value& value_of(const Array& array) { return values_[array.storage.get()]; }

  /// Written once, as a whole, by a call of the capture.
  bool is_made_whole(const Array& array) {
    return capture_.input_of(array) < 0 && capture_.has_seen_made(*array.storage) &&
           value_of(array).writes == 1 && array.layout->is_contiguous() && array.covers_storage();
  }

  bool is_ahead(const Operand& operand) {
    if (operand.is_immediate()) return true;
    if (capture_.input_of(operand) >= 0) return false;
    const Value& value = value_of(operand);
    return value.writes == 0 || value.is_ahead;
  }

  Value* last_of(const Operand& operand) {
    if (operand.is_immediate() || capture_.input_of(operand) >= 0) return nullptr;
    Value& value = value_of(operand);
    return value.last.storage && same_view(value.plain, operand) ? &value : nullptr;
  }

  OwnedCall copy_of(const Call& call) {
    OwnedCall copy(Call::create());
    copy_call(call, *copy);
    return copy;
  }

  void add_copy(const Call& reader, const Array& from, const Array& to) {
    OwnedCall call = copying(from, to);
    call->site = reader.site.copy();
    call->layer = reader.layer;
    copied_ += call->cost;
    calls_.push_back(std::move(call));
  }

  Array made_like(const Array& array, const Shape& order) {
    const Array view = permuted(array, order);
    return Array::create(Layout::contiguous(view.shape()), array.dtype, array.context());
  }

  /// The elements of an input with channels last.
  Array with_channels_last(const Call& reader, const Operand& input) {
    if (const Value* value = last_of(input)) return value->last;
    make_plain(input);
    const Shape order = channels_last(input.layout->rank());
    const Array last = made_like(input, order);
    add_copy(reader, permuted(input, order), last);
    return last;
  }

  /// From here on it exists as it was captured.
  void make_plain(const Array& array) {
    if (capture_.input_of(array) >= 0) return;
    Value& value = value_of(array);
    if (std::exchange(value.is_plain_made, true)) return;
    add_copy(*value.reader, permuted(value.last, channels_first(value.last.layout->rank())),
             value.plain);
  }

  void set_last(const Call& call, const Array& plain, const Array& last) {
    Value& value = value_of(plain);
    value.plain = plain;
    value.last = last;
    value.is_plain_made = false;
    if (!value.reader) value.reader = &call;
  }

  void rewrite(const Call& call) {
    if (call.outputs.size() == 1 && is_made_whole(call.outputs[0]) &&
        (predict(call) || pass_on(call)))
      return;
    for (const Operand& input : call.inputs) {
      if (!input.is_immediate()) make_plain(input);
    }
    calls_.push_back(copy_of(call));
  }

  bool find_ahead(const Call& call) {
    if (!is_function_of_inputs(call) || call.op->may_fail ||
        !std::ranges::all_of(call.inputs, [&](const Operand& input) { return is_ahead(input); }) ||
        !std::ranges::all_of(call.outputs,
                             [&](const Operand& output) { return is_made_whole(output); }))
      return false;
    for (const Operand& output : call.outputs) value_of(output).is_ahead = true;
    return true;
  }

  /// One number for each channel, known ahead: as a vector.
  Array vector_of_channels(const Operand& operand, DType dtype) {
    if (operand.is_immediate() || operand.dtype != dtype || !is_ahead(operand)) return {};
    const auto shape = operand.shape(), strides = operand.layout->strides();
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] != 1 && strides[axis] != (axis == 1 ? 1 : 0)) return {};
    }
    Array vector = operand;
    vector.layout = Layout::contiguous(shape.subspan(1, 1));
    return vector;
  }

  bool predict(const Call& call) {
    const Operand& output = call.outputs[0];
    if (!call.op->predict ||
        !std::ranges::all_of(std::span(call.inputs.begin() + 1, call.inputs.end()),
                             [&](const Operand& input) { return is_ahead(input); }))
      return false;
    Prediction prediction{
        .call = call, .images = with_channels_last(call, call.inputs[0]), .calls = calls_};
    const Operand* result = &output;
    std::vector<const Call*> taken;
    const auto take =
        [&](bool (ChannelsLast::*take_from)(const Call&, const Operand&, Prediction&)) {
          const Call* const next = only_reader(*result);
          if (!next || !(this->*take_from)(*next, *result, prediction)) return;
          taken.push_back(next);
          result = &next->outputs[0];
        };
    take(&ChannelsLast::take_norm);
    take(&ChannelsLast::take_sum);
    take(&ChannelsLast::take_bounds);
    const Array last = call.op->predict(prediction);
    if (!last.storage) return false;
    convolved_ += call.cost;
    done_.insert(taken.begin(), taken.end());
    set_last(call, *result, last);
    return true;
  }

  /// The elementwise call that is alone in reading a value, and makes another of the same type.
  const Call* only_reader(const Operand& operand) {
    const Value& value = value_of(operand);
    if (value.reads != 1 || value.is_result || !value.reader->is_elementwise()) return nullptr;
    const Operand& made = value.reader->outputs[0];
    return made.dtype == operand.dtype && is_made_whole(made) ? value.reader : nullptr;
  }

  bool take_norm(const Call& call, const Operand& value, Prediction& prediction) {
    if (call.formula != kernels::Formula::multiply_add || !same_view(call.inputs[0], value))
      return false;
    const Array factor = vector_of_channels(call.inputs[1], value.dtype),
                shift = vector_of_channels(call.inputs[2], value.dtype);
    if (!factor.storage || !shift.storage) return false;
    prediction.factor = factor;
    prediction.shift = shift;
    return true;
  }

  /// What is added must be there already, with channels last.
  bool take_sum(const Call& call, const Operand& value, Prediction& prediction) {
    if (call.formula != kernels::Formula::add) return false;
    for (const int index : {0, 1}) {
      const Operand& other = call.inputs[1 - index];
      if (!same_view(call.inputs[index], value)) continue;
      const Value* const addend = last_of(other);
      if (!addend || other.dtype != value.dtype || !same_shape(*other.layout, *value.layout))
        return false;
      prediction.addend = addend->last;
      return true;
    }
    return false;
  }

  bool take_bounds(const Call& call, const Operand& value, Prediction& prediction) {
    if (!same_view(call.inputs[0], value)) return false;
    if (call.formula == kernels::Formula::relu) {
      prediction.low = 0;
      return true;
    }
    if (call.formula != kernels::Formula::clip) return false;
    const auto low = number_of(call.inputs[1]), high = number_of(call.inputs[2]);
    // Where bounds are the wrong way round, or not numbers, the order of comparisons decides.
    if (!low || !high || !(*low <= *high)) return false;
    prediction.low = *low;
    prediction.high = *high;
    return true;
  }

  /// Calls that can as well be made with channels last.
  bool pass_on(const Call& call) {
    const Operand& output = call.outputs[0];
    const int rank = output.layout->rank();
    if (!(call.is_elementwise() || call.op->put_channels_last) ||
        std::ranges::none_of(call.inputs, [&](const Operand& input) { return last_of(input); }) ||
        !std::ranges::all_of(call.inputs, [&](const Operand& input) {
          return input.is_immediate() || input.layout->rank() == rank;
        }))
      return false;
    const Shape order = channels_last(rank);
    OwnedCall copy = copy_of(call);
    for (Operand& input : copy->inputs) {
      if (input.is_immediate()) continue;
      const bool is_whole = same_shape(*input.layout, *output.layout) &&
                            input.layout->is_contiguous() && input.size() > 1;
      if (last_of(input) || is_whole) {
        static_cast<Array&>(input) = with_channels_last(call, input);
      } else {
        make_plain(input);
        static_cast<Array&>(input) = permuted(input, order);
      }
    }
    const Array last = made_like(output, order);
    static_cast<Array&>(copy->outputs[0]) = last;
    if (call.op->put_channels_last) call.op->put_channels_last(*copy);
    calls_.push_back(std::move(copy));
    set_last(call, output, last);
    return true;
  }

  Capture& capture_;
  std::span<const Array> outputs_;
  std::vector<OwnedCall> calls_;
  std::unordered_map<const Storage*, Value> values_;
  std::unordered_set<const Call*> done_;
  double copied_ = 0, convolved_ = 0;  // costs
};

}  // namespace

Array Prediction::add(const Op& op, std::span<const Array> inputs,
                      std::span<const Argument> arguments) {
  OwnedCall added = inferred(op, inputs, arguments);
  added->site = call.site.copy();
  added->layer = call.layer;
  Array result = added->outputs[0];
  calls.push_back(std::move(added));
  return result;
}

void rewrite_for_prediction(Capture& capture, std::span<const Array> outputs) {
  if (std::ranges::any_of(capture.calls(),
                          [](const OwnedCall& call) { return call->op->predict != nullptr; }))
    ChannelsLast(capture, outputs).run();
}

bool is_function_of_inputs(const Call& call) {
  return !call.host && !call.drawn_blocks && !call.op->updates;
}

}  // namespace afterglow::lazy
