// SPDX-License-Identifier: Apache-2.0
// Layers that run through sequences. The products with all inputs of a layer are one product; then
// come the steps: one call of a kernel, or for what is rare one after another, made of ops.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/recurrence.h"
#include "lazy/call.h"
#include "ops/common.h"
#include "ops/completing.h"
#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

enum class Cell { gru, lstm, rnn_relu, rnn_tanh };

constexpr auto choices(Cell) {
  return in_order<Cell>("gru", "lstm", "rnn_relu", "rnn_tanh");
}

struct RNN {
  std::int64_t state_size = 0, num_layers = 0;
  bool bidirectional = false;
  Cell mode = Cell::gru;
  double p = 0;
  bool state_outputs = false;
  std::optional<std::int64_t> projection_size;
  std::optional<double> lstm_state_clip_min, lstm_state_clip_max;
  bool lstm_state_clip_nan = false, use_sequence_length = false;
  static constexpr auto fields = std::tuple{
      required("state_size", &RNN::state_size, "units of a layer"),
      required("num_layers", &RNN::num_layers, "how many are stacked"),
      field("bidirectional", &RNN::bidirectional, "whether they run from the end too"),
      required("mode", &RNN::mode, "what a unit is"),
      field("p", &RNN::p, "the share of elements that become 0 between layers in training"),
      field("state_outputs", &RNN::state_outputs, "whether the last states come too"),
      field("projection_size", &RNN::projection_size, "that states are projected to, for 'lstm'"),
      field("lstm_state_clip_min", &RNN::lstm_state_clip_min, "the least state of a cell"),
      field("lstm_state_clip_max", &RNN::lstm_state_clip_max, "the greatest one"),
      field("lstm_state_clip_nan", &RNN::lstm_state_clip_nan, "whether these bound nan too"),
      field("use_sequence_length", &RNN::use_sequence_length,
            "whether sequences have lengths of their own")};
};

std::int64_t gates_of(Cell cell) {
  return cell == Cell::lstm ? 4 : (cell == Cell::gru ? 3 : 1);
}

/// The extents of a layer.
struct Extents {
  std::int64_t layers, directions, gates, units, projected;

  explicit Extents(const RNN& given)
      : layers(given.num_layers),
        directions(given.bidirectional ? 2 : 1),
        gates(gates_of(given.mode)),
        units(given.state_size),
        projected(given.projection_size.value_or(given.state_size)) {}

  /// Of all weights together, for data of so many columns.
  std::int64_t weights(std::int64_t columns, bool is_projected) const {
    const std::int64_t rows = directions * gates * units;
    return rows * (columns + projected + 2) +
           (layers - 1) * rows * (projected * directions + projected + 2) +
           (is_projected ? projected * units * layers * directions : 0);
  }
};

/// All weights in one vector, and the states.
void complete_rnn(Completion& completion, const RNN& given) {
  need_rank(completion, 0, 3);
  if (!completion.shapes[0]) return;
  const Shape data = *completion.shapes[0];
  const Extents extents(given);
  const Shape state = {extents.layers * extents.directions, data[1], extents.projected},
              cell = {extents.layers * extents.directions, data[1], extents.units};
  completion.shapes[1] =
      Shape{data[2] < 0 ? -1 : extents.weights(data[2], given.projection_size.has_value())};
  completion.shapes[2] = state;
  completion.shapes[3] = cell;
  completion.shapes[4] = Shape{data[1]};
  completion.results = {{data[0], data[1], extents.projected * extents.directions}};
  if (!given.state_outputs) return;
  completion.results.push_back(state);
  if (given.mode == Cell::lstm) completion.results.push_back(cell);
}

void form_rnn(NodeForm& node, const RNN& given) {
  node.inputs[3] = given.mode == Cell::lstm;
  if (!given.state_outputs) return;
  node.outputs.push_back("state_output");
  if (given.mode == Cell::lstm) node.outputs.push_back("statecell_output");
}

// --- parts ---

/// The parts between bounds along an axis.
std::vector<Value> cut(const Value& x, std::int64_t axis, const Shape& bounds) {
  static const lazy::Op& op = op_named("split");
  const lazy::Argument arguments[] = {bounds, axis};
  Value input[] = {x};
  std::vector<autograd::Handle> more;
  std::vector<Value> parts = {call(op, input, {arguments, {}, nullptr}, false, &more)};
  parts.insert(parts.end(), more.begin(), more.end());
  return parts;
}

/// Equal parts.
std::vector<Value> cut(const Value& x, std::int64_t axis, std::int64_t parts) {
  if (parts == 1) return {x};
  const std::int64_t length = x.array.shape()[static_cast<std::size_t>(axis)] / parts;
  Shape bounds;
  for (std::int64_t part = 1; part < parts; ++part) bounds.push_back(part * length);
  return cut(x, axis, bounds);
}

/// What one layer has for one direction.
struct Weights {
  Value i2h, h2h, h2r, i2h_bias, h2h_bias;
};

/// Where each weight goes, and its shape, in MXNet's order: the matrices of all layers and
/// directions, then the biases of all.
std::vector<std::pair<Value*, Shape>> places_in(std::vector<Weights>& all, const RNN& given,
                                                std::int64_t columns) {
  const Extents extents(given);
  const std::int64_t rows = extents.gates * extents.units;
  all.resize(static_cast<std::size_t>(extents.layers * extents.directions));
  std::vector<std::pair<Value*, Shape>> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool is_first = static_cast<std::int64_t>(i) < extents.directions;
    places.push_back(
        {&all[i].i2h, {rows, is_first ? columns : extents.projected * extents.directions}});
    places.push_back({&all[i].h2h, {rows, extents.projected}});
    if (given.projection_size) places.push_back({&all[i].h2r, {extents.projected, extents.units}});
  }
  for (Weights& one : all) {
    places.push_back({&one.i2h_bias, {rows}});
    places.push_back({&one.h2h_bias, {rows}});
  }
  return places;
}

/// Of one vector that has them one behind the other.
std::vector<Weights> unpacked(const Value& packed, const RNN& given, std::int64_t columns) {
  std::vector<Weights> all;
  const auto places = places_in(all, given, columns);
  Shape bounds;
  std::int64_t end = 0;
  for (const auto& [value, shape] : places) bounds.push_back(end += element_count(shape));
  bounds.pop_back();
  const std::vector<Value> parts = cut(packed, 0, bounds);
  for (std::size_t i = 0; i < parts.size(); ++i)
    *places[i].first = shaped(parts[i], places[i].second);
  return all;
}

// --- steps ---

struct State {
  Value hidden, cell;
};

/// One step of one direction of a layer: `inputs` are the products with the data, with the biases
/// that are added to them.
State step(const RNN& given, const Weights& weights, const Value& inputs, const State& before) {
  const Value products = dot(before.hidden, weights.h2h, false, true);
  switch (given.mode) {
    case Cell::rnn_relu:
      return {relu(inputs + products), {}};
    case Cell::rnn_tanh:
      return {tanh(inputs + products), {}};
    case Cell::gru: {
      const std::vector<Value> x = cut(inputs, 1, 3), h = cut(products + weights.h2h_bias, 1, 3);
      const Value reset = sigmoid(x[0] + h[0]), update = sigmoid(x[1] + h[1]);
      const Value proposed = tanh(x[2] + reset * h[2]);
      return {(1 - update) * proposed + update * before.hidden, {}};
    }
    case Cell::lstm:
      break;
  }
  const std::vector<Value> gates = cut(inputs + products, 1, 4);
  Value cell = sigmoid(gates[1]) * before.cell + sigmoid(gates[0]) * tanh(gates[2]);
  if (given.lstm_state_clip_min) {
    const double least = *given.lstm_state_clip_min, greatest = *given.lstm_state_clip_max;
    // nan is neither above the least nor below it.
    if (given.lstm_state_clip_nan) cell = where(cell >= least, cell, least);
    cell = minimum(maximum(cell, least), greatest);
  }
  Value hidden = sigmoid(gates[3]) * tanh(cell);
  if (given.projection_size) hidden = dot(hidden, weights.h2r, false, true);
  return {hidden, cell};
}

/// All steps by ops, of products with the data: the results, and the state after the last one. A
/// sequence that is over keeps its state, and its results are zeros.
Value by_ops(const RNN& given, const Weights& weights, const Value& products, const Value& lengths,
             bool backwards, State& state) {
  const std::int64_t steps = products.array.shape()[0], samples = products.array.shape()[1];
  const std::vector<Value> inputs = cut(products, 0, steps);
  std::vector<Value> results(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t time = backwards ? steps - 1 - i : i;
    const auto place = static_cast<std::size_t>(time);
    const Value& input = inputs[place];
    State next = step(given, weights, shaped(input, {samples, products.array.shape()[2]}), state);
    results[place] = next.hidden;
    if (lengths) {
      const Value is_over = shaped(lengths, {samples, 1}) <= time;
      results[place] = where(is_over, 0, next.hidden);
      next.hidden = where(is_over, state.hidden, next.hidden);
      if (next.cell) next.cell = where(is_over, state.cell, next.cell);
    }
    state = std::move(next);
  }
  const Value joined = steps == 1 ? results[0] : concat(results, 0);
  return shaped(joined, {steps, samples, state.hidden.array.shape()[1]});
}

// --- all steps by a kernel ---

/// The inputs: products with the data, weight, bias of gru, states, cells of lstm, lengths. What is
/// not there is a number.
struct Recurrence {
  Cell mode = Cell::gru;
  bool backwards = false, keeps = false;
  static constexpr auto fields =
      std::tuple{required("mode", &Recurrence::mode, "what a unit is"),
                 field("backwards", &Recurrence::backwards, "whether the last step is first"),
                 field("keeps", &Recurrence::keeps, "whether it returns what gradients need")};
};

kernels::RecurrentCell cell_of(Cell mode) {
  switch (mode) {
    case Cell::gru:
      return kernels::RecurrentCell::gru;
    case Cell::lstm:
      return kernels::RecurrentCell::lstm;
    case Cell::rnn_relu:
      return kernels::RecurrentCell::rnn_relu;
    case Cell::rnn_tanh:
      break;
  }
  return kernels::RecurrentCell::rnn_tanh;
}

struct SettledRecurrence {
  kernels::RecurrentCell cell;
  bool backwards;
  std::int64_t steps, samples, units;
};

SettledRecurrence settle_recurrence(const Inference& inference, Cell mode, bool backwards,
                                    const Operand& products, const Operand& weight) {
  for (const Operand& input : inference.call.inputs) {
    if (!input.is_immediate() && !input.layout->is_contiguous())
      inference.refuse("needs contiguous arrays");
  }
  return {cell_of(mode), backwards, products.shape()[0], products.shape()[1], weight.shape()[1]};
}

/// Of all products, and of the functions of all gates.
double cost_of(const SettledRecurrence& settled) {
  const auto gates = static_cast<double>(settled.steps * settled.samples * settled.units *
                                         kernels::gates_of(settled.cell));
  return 500 + gates * (3 + 0.03 * static_cast<double>(settled.units));
}

kernels::RecurrenceShape kernel_shape(const SettledRecurrence& settled, DType dtype,
                                      const Operand& lengths) {
  return {settled.cell,
          dtype,
          settled.backwards,
          settled.steps,
          settled.samples,
          settled.units,
          lengths.is_immediate() ? nullptr : reinterpret_cast<const std::int64_t*>(lengths.data())};
}

const void* data_of(const Operand& operand) {
  return operand.is_immediate() ? nullptr : operand.data();
}

void infer_recurrence(Inference& inference, const Recurrence& given) {
  lazy::Call& call = inference.call;
  const Operand& products = call.inputs[0];
  const SettledRecurrence settled =
      settle_recurrence(inference, given.mode, given.backwards, products, call.inputs[1]);
  const std::int64_t steps = settled.steps, samples = settled.samples, units = settled.units;
  const DType dtype = products.dtype;
  inference.add_output(Shape{steps, samples, units}, dtype);
  inference.add_output(Shape{samples, units}, dtype);
  inference.add_output(Shape{given.mode == Cell::lstm ? samples : 0, units}, dtype);
  if (given.keeps) {
    inference.add_output(Shape{steps, samples, kernels::kept_of(settled.cell) * units}, dtype);
    inference.add_output(Shape{steps, samples, units}, dtype);
  }
  call.settled.set(settled);
  call.cost = cost_of(settled);
}

class RecurrencePass : public lazy::Pass {
 public:
  explicit RecurrencePass(const lazy::Call& call)
      : pass_(kernel_shape(call.settled.get<SettledRecurrence>(), call.inputs[0].dtype,
                           call.inputs[5]),
              {data_of(call.inputs[0]), data_of(call.inputs[1]), data_of(call.inputs[2]),
               data_of(call.inputs[3]), data_of(call.inputs[4]), call.outputs[0].data(),
               call.outputs[1].data(), call.outputs[2].data(),
               call.outputs.size() > 3 && call.outputs[3].size() ? call.outputs[3].data() : nullptr,
               call.outputs.size() > 3 ? call.outputs[4].data() : nullptr}) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  kernels::RecurrencePass pass_;
};

/// The inputs: gradients of results, state and cells, then weight, results, what was kept, states
/// before, lengths. All gradients are one row: of the products with the data, of those with the
/// state for gru, of the first state, of the first cells for lstm.
void infer_gradient(Inference& inference, const Recurrence& given) {
  lazy::Call& call = inference.call;
  const SettledRecurrence settled =
      settle_recurrence(inference, given.mode, given.backwards, call.inputs[4], call.inputs[3]);
  const std::int64_t all = settled.steps * settled.samples, units = settled.units;
  const std::int64_t products = all * kernels::gates_of(settled.cell) * units;
  inference.add_output(
      Shape{products * (given.mode == Cell::gru ? 2 : 1) + 2 * settled.samples * units},
      call.inputs[4].dtype);
  call.settled.set(settled);
  call.cost = cost_of(settled);
}

class RecurrenceGradientPass : public lazy::Pass {
 public:
  explicit RecurrenceGradientPass(const lazy::Call& call)
      : pass_(kernel_shape(call.settled.get<SettledRecurrence>(), call.inputs[4].dtype,
                           call.inputs[7]),
              arrays_of(call, call.settled.get<SettledRecurrence>())) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  static kernels::RecurrenceGradient arrays_of(const lazy::Call& call,
                                               const SettledRecurrence& settled) {
    const auto size = static_cast<std::int64_t>(size_of(call.inputs[4].dtype));
    const std::int64_t states = settled.samples * settled.units,
                       products = settled.steps * states * kernels::gates_of(settled.cell);
    const bool is_gru = settled.cell == kernels::RecurrentCell::gru;
    std::byte* const first = call.outputs[0].data();
    std::byte* const hidden = first + (is_gru ? 2 : 1) * products * size;
    return {data_of(call.inputs[0]),
            data_of(call.inputs[1]),
            data_of(call.inputs[2]),
            data_of(call.inputs[3]),
            data_of(call.inputs[4]),
            data_of(call.inputs[5]),
            data_of(call.inputs[6]),
            first,
            is_gru ? first + products * size : nullptr,
            hidden,
            hidden + states * size};
  }
  kernels::RecurrenceGradientPass pass_;
};

Value solid(const Value& x) {
  return x.array.layout->is_contiguous() ? x : copy(x);
}

/// No op that steps are made of has rules elsewhere.
class NoOtherRules : public autograd::OtherRules {
 public:
  std::vector<autograd::Handle> gradients(const Reference<autograd::Node>&,
                                          std::span<const autograd::Handle>,
                                          const std::vector<bool>&) override {
    throw Error(ErrorKind::not_implemented, "[RNN] a part has no gradient");
  }
};

/// Where the gradient is recorded it is that of the steps by ops, which have gradients of any
/// order.
Value recorded_gradient(Gradient& c) {
  const auto given = c.parameters<Recurrence>();
  std::array<Value, 6> inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = c[i];
  // What is wanted lies behind a copy, so that the walk ends there.
  const Value wanted = inputs[c.index] = copy(c[c.index]);
  RNN steps;
  steps.mode = given.mode;
  Weights weights;
  weights.h2h = inputs[1];
  weights.h2h_bias = inputs[2];
  State state = {inputs[3], given.mode == Cell::lstm ? inputs[4] : Value()};
  const Value lengths = inputs[5].is_number() ? Value() : inputs[5];
  const Value results = by_ops(steps, weights, inputs[0], lengths, given.backwards, state);
  std::vector<autograd::Origin> heads;
  std::vector<autograd::Handle> gradients;
  autograd::Held held;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!c.head(i)) continue;
    const Value& output = i == 0 ? results : (i == 1 ? state.hidden : state.cell);
    heads.push_back(output.origin);
    gradients.push_back(c.head(i));
    held.share(output.held);
  }
  NoOtherRules none;
  autograd::Walk walk(heads, std::move(gradients), {wanted.origin}, false, held, accumulation(),
                      none);
  walk.run();
  const autograd::Handle result = walk.results()[0];
  return result ? Value(result) : zeros(c, c.index);
}

/// Where gradients are recorded the kernel is not called: see recorded_gradient.
[[noreturn]] Value never_recorded(Gradient&) {
  throw Error(ErrorKind::not_implemented, "[recurrence_gradient] has no gradient");
}

/// A part of the gradients that the kernel computes together.
Value part_of_gradient(Gradient& c, std::int64_t offset, const Shape& shape) {
  if (!c.memo) {
    autograd::CallBuilder builder(the_op<"recurrence_gradient">(), false);
    std::array<Value, 8> inputs = {0, 0, 0, c[1], c.output(0), c.output(3), c.output(4), c[5]};
    for (std::size_t i = 0; i < 3; ++i) {
      if (c.head(i)) inputs[i] = solid(c.head(i));
    }
    for (const Value& input : inputs) builder.add(input);
    const std::vector<lazy::Argument> arguments = lazy::write_arguments(c.parameters<Recurrence>());
    c.memo = builder.issue({arguments, {}, nullptr});
  }
  return contiguous_view(c.memo, offset, shape);
}

/// Of the products with the state, which are those with the data but for gru.
Value of_state_products(Gradient& c) {
  const Shape shape = c.shape(0);
  const bool is_gru = c.parameters<Recurrence>().mode == Cell::gru;
  return part_of_gradient(c, is_gru ? element_count(shape) : 0, {shape[0] * shape[1], shape[2]});
}

Value of_states(Gradient& c, std::int64_t number) {
  const std::int64_t products =
      element_count(c.shape(0)) * (c.parameters<Recurrence>().mode == Cell::gru ? 2 : 1);
  const Shape shape = c.shape(3);
  return part_of_gradient(c, products + number * element_count(shape), shape);
}

template <Value (*rule)(Gradient&)>
Value plain_or_recorded(Gradient& c) {
  return autograd::state().recording ? recorded_gradient(c) : rule(c);
}

Value through_products(Gradient& c) {
  return part_of_gradient(c, 0, c.shape(0));
}
Value through_weight(Gradient& c) {
  const Shape shape = c.output_shape(4);
  const Value before = shaped(c.output(4), {shape[0] * shape[1], shape[2]});
  return dot(of_state_products(c), before, true, false);
}
Value through_bias(Gradient& c) {
  return sum(of_state_products(c), {0}, false);
}
Value through_hidden(Gradient& c) {
  return of_states(c, 0);
}
Value through_cell(Gradient& c) {
  return of_states(c, 1);
}

template <Value (*rule)(Gradient&)>
constexpr lazy::GradientRule rule_of =
    reading_output_and({0, 1, 2, 3, 4, 5}, plain_or_recorded<rule>);

/// So many steps that a share of a call takes some 20 ms: between shares threads look at signals.
std::int64_t steps_of_call(std::int64_t rows, std::int64_t units) {
  constexpr std::int64_t most_work = 1024 * 1024 * 1024, samples = 16;
  return std::max<std::int64_t>(1, most_work / (samples * rows * units));
}

bool suits_kernel(const RNN& given, const Value& products) {
  return !given.projection_size && !given.lstm_state_clip_min && products.array.size();
}

Value by_kernel(const RNN& given, const Weights& weights, const Value& products,
                const Value& lengths, bool backwards, bool keeps, State& state) {
  const lazy::Argument arguments[] = {lazy::FieldType<Cell>::write(given.mode), backwards, keeps};
  const Value inputs[] = {products,
                          weights.h2h,
                          given.mode == Cell::gru ? weights.h2h_bias : Value(0),
                          state.hidden,
                          given.mode == Cell::lstm ? state.cell : Value(0),
                          lengths ? lengths : Value(0)};
  autograd::CallBuilder builder(the_op<"recurrence">(), false);
  for (const Value& input : inputs) builder.add(input);
  std::vector<autograd::Handle> more;
  const Value results = builder.issue({arguments, {}, nullptr}, &more);
  state.hidden = more[0];
  if (given.mode == Cell::lstm) state.cell = more[1];
  return results;
}

/// One direction of a layer: the results of all steps, and the state after the last one.
Value run_through(const RNN& given, const Weights& weights, const Value& x, const Value& lengths,
                  bool backwards, bool keeps, State& state) {
  const Shape shape = shape_of(x);
  const std::int64_t steps = shape[0], samples = shape[1], rows = weights.i2h.array.shape()[0];
  if (!steps) return shaped(copy(x), {0, samples, state.hidden.array.shape()[1]});
  const Value biases =
      given.mode == Cell::gru ? weights.i2h_bias : weights.i2h_bias + weights.h2h_bias;
  const Value products =
      shaped(dot(shaped(x, {steps * samples, shape[2]}), weights.i2h, false, true) + biases,
             {steps, samples, rows});
  if (!suits_kernel(given, products))
    return by_ops(given, weights, products, lengths, backwards, state);
  const std::int64_t each = steps_of_call(rows, given.state_size);
  if (each >= steps) return by_kernel(given, weights, products, lengths, backwards, keeps, state);
  Shape bounds;
  for (std::int64_t first = each; first < steps; first += each) bounds.push_back(first);
  const std::vector<Value> parts = cut(products, 0, bounds);
  std::vector<Value> results(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t place = backwards ? parts.size() - 1 - i : i;
    const Value left = lengths ? lengths - static_cast<std::int64_t>(place) * each : Value();
    results[place] = by_kernel(given, weights, parts[place], left, backwards, keeps, state);
  }
  return concat(results, 0);
}

// --- the op ---

void need_shape_of(const Composition& c, const char* what, const Value& value,
                   const Shape& needed) {
  if (shape_of(value) != needed)
    c.refuse(std::string(what) + " has shape " + to_string(value.array.shape()) +
             "; it needs shape " + to_string(needed));
}

/// What layers are called with beside their weights.
struct Sequences {
  Value data, state, cell, lengths;
};

void check_rnn(const Composition& c, const RNN& given, const Sequences& inputs,
               std::span<const Value> weights) {
  const Value& x = inputs.data;
  if (rank_of(x) != 3) c.refuse("needs data of 3 dimensions: steps, samples, values");
  if (given.state_size < 1 || given.num_layers < 1)
    c.refuse("state_size is " + std::to_string(given.state_size) + " and num_layers " +
             std::to_string(given.num_layers) + "; both must be 1 or more");
  if (!(given.p >= 0 && given.p <= 1))
    c.refuse("p is " + std::to_string(given.p) + "; it must lie between 0 and 1");
  const bool is_lstm = given.mode == Cell::lstm;
  if (given.projection_size && (!is_lstm || *given.projection_size < 1))
    c.refuse("projection_size is " + std::to_string(*given.projection_size) +
             "; it is for mode 'lstm', and 1 or more");
  if (given.lstm_state_clip_min.has_value() != given.lstm_state_clip_max.has_value())
    c.refuse("lstm_state_clip_min and lstm_state_clip_max are needed together");
  const Extents extents(given);
  const std::int64_t samples = x.array.shape()[1], places = extents.layers * extents.directions;
  need_shape_of(c, "state", inputs.state, {places, samples, extents.projected});
  if (is_lstm && !inputs.cell) c.refuse("mode 'lstm' needs state_cell", ErrorKind::type);
  if (is_lstm) need_shape_of(c, "state_cell", inputs.cell, {places, samples, extents.units});
  if (!is_floating(x.array.dtype))
    c.refuse("needs elements of type float16, float32 or float64", ErrorKind::type);
  const auto need_type_of_data = [&](const Value& other) {
    if (other.array.dtype != x.array.dtype)
      c.refuse("needs data, parameters and states of one type", ErrorKind::type);
  };
  for (const Value& weight : weights) need_type_of_data(weight);
  need_type_of_data(inputs.state);
  if (is_lstm) need_type_of_data(inputs.cell);
  if (given.use_sequence_length && !inputs.lengths)
    c.refuse("use_sequence_length=True needs sequence_length", ErrorKind::type);
  if (given.use_sequence_length) need_shape_of(c, "sequence_length", inputs.lengths, {samples});
}

/// In training some elements become 0 between the layers.
Value dropped(const Value& x, double p) {
  static const lazy::Op& op = op_named("Dropout");
  std::vector<lazy::Argument> arguments = op.defaults;
  arguments[0] = p;
  Value input[] = {x};
  return call(op, input, {arguments, {}, nullptr}, false);
}

Value run_layers(Composition& c, const RNN& given, const Sequences& inputs,
                 const std::vector<Weights>& weights) {
  const bool is_lstm = given.mode == Cell::lstm;
  const Extents extents(given);
  const std::int64_t samples = inputs.data.array.shape()[1];
  const Value ends = given.use_sequence_length ? copy(inputs.lengths, DType::int64) : Value();
  const DType dtype = inputs.data.array.dtype, compute = compute_type(dtype);
  const std::int64_t places = extents.layers * extents.directions;
  const std::vector<Value> hidden = cut(in_type(inputs.state, compute), 0, places);
  const std::vector<Value> cells =
      is_lstm ? cut(in_type(inputs.cell, compute), 0, places) : std::vector<Value>();
  std::vector<Value> last_hidden, last_cells;
  Value x = in_type(inputs.data, compute);
  for (std::int64_t layer = 0; layer < extents.layers; ++layer) {
    std::vector<Value> results;
    for (std::int64_t direction = 0; direction < extents.directions; ++direction) {
      const auto place = static_cast<std::size_t>(layer * extents.directions + direction);
      State state = {shaped(hidden[place], {samples, extents.projected}), {}};
      if (is_lstm) state.cell = shaped(cells[place], {samples, extents.units});
      results.push_back(
          run_through(given, weights[place], x, ends, direction == 1, c.is_recorded(), state));
      if (!given.state_outputs) continue;
      last_hidden.push_back(shaped(state.hidden, {1, samples, extents.projected}));
      if (is_lstm) last_cells.push_back(shaped(state.cell, {1, samples, extents.units}));
    }
    x = results.size() == 1 ? results[0] : concat(results, 2);
    if (given.p > 0 && layer + 1 < extents.layers) x = dropped(x, given.p);
  }
  if (given.state_outputs) {
    c.add_output(in_type(concat(last_hidden, 0), dtype));
    if (is_lstm) c.add_output(in_type(concat(last_cells, 0), dtype));
  }
  return in_type(x, dtype);
}

/// float16 is rounded once, at the end.
DType type_of_steps(const Value& data) {
  return compute_type(data.array.dtype);
}

Value rnn(Composition& c, const RNN& given) {
  const bool is_lstm = given.mode == Cell::lstm;
  // Positions count the inputs that are there, and without cells that is the fourth.
  const Sequences inputs = {c[0], c[2], is_lstm ? c[3] : Value(), c[4] || is_lstm ? c[4] : c[3]};
  check_rnn(c, given, inputs, c.inputs().subspan(1, 1));
  const std::int64_t columns = inputs.data.array.shape()[2];
  need_shape_of(c, "parameters", c[1],
                {Extents(given).weights(columns, given.projection_size.has_value())});
  return run_layers(c, given, inputs,
                    unpacked(in_type(c[1], type_of_steps(inputs.data)), given, columns));
}

/// The same of weights that are given one by one, behind what the others are called with: nothing
/// is packed and cut again, nor are gradients.
Value recurrent_layers(Composition& c, const RNN& given) {
  std::size_t next = 0;
  const auto taken = [&](bool is_there) {
    if (!is_there) return Value();
    if (next == c.inputs().size()) c.refuse("needs data, states and weights");
    return c[next++];
  };
  const Sequences inputs = {taken(true), taken(true), taken(given.mode == Cell::lstm),
                            taken(given.use_sequence_length)};
  const std::span<const Value> parts = c.inputs().subspan(next);
  check_rnn(c, given, inputs, parts);
  std::vector<Weights> weights;
  const auto places = places_in(weights, given, inputs.data.array.shape()[2]);
  if (parts.size() != places.size())
    c.refuse("needs " + std::to_string(places.size()) + " weights, not " +
             std::to_string(parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    need_shape_of(c, "a weight", parts[i], places[i].second);
    *places[i].first = solid(in_type(parts[i], type_of_steps(inputs.data)));
  }
  return run_layers(c, given, inputs, weights);
}

}  // namespace

void declare_recurrence(Table& table) {
  table.add<Recurrence>(
      {.name = "recurrence",
       .inputs = {"products", "weight", "bias", "hidden", "cell", "lengths"},
       .infer = infer_recurrence,
       .kernel = pass_of_call<RecurrencePass>,
       .gradients = {rule_of<through_products>, rule_of<through_weight>, rule_of<through_bias>,
                     rule_of<through_hidden>, rule_of<through_cell>, no_gradient}});
  table.add<Recurrence>({.name = "recurrence_gradient",
                         .inputs = {"of_results", "of_hidden", "of_cell", "weight", "results",
                                    "kept", "before", "lengths"},
                         .infer = infer_gradient,
                         .kernel = pass_of_call<RecurrenceGradientPass>,
                         .gradients = std::vector(8, reading_nothing(never_recorded))});
  table.compose<RNN>({.name = "recurrent_layers",
                      .inputs = {"data"},
                      .variadic = true,
                      .compose = recurrent_layers});
  table.compose<RNN>({.name = "RNN",
                      .mxnet_names = {"RNN", "_npx_rnn"},
                      .doc = R"(Return the results of recurrent layers for all steps of sequences.

Data has the axes steps, samples and values. All weights lie in one vector: for each layer and
direction the matrices that take the input, the state and, with ``projection_size``, the result;
then the two biases of each. With ``state_outputs`` the last states follow, and the cells for
"lstm". Sequences that have a length of their own give zeros behind it, and keep their state.

>>> from afterglow import nd
>>> y = nd.RNN(nd.ones((5, 3, 2)), nd.ones((4 * 4 * (2 + 4 + 2),)), nd.zeros((1, 3, 4)),
...            nd.zeros((1, 3, 4)), state_size=4, num_layers=1, mode="lstm")
>>> y.shape
(5, 3, 4)

>>> from afterglow import np, npx
>>> y, state = npx.rnn(np.ones((5, 3, 2)), np.ones((2 * 4 * (2 + 4 + 2),)), np.zeros((2, 3, 4)),
...                    state_size=4, num_layers=1, mode="rnn_tanh", bidirectional=True,
...                    state_outputs=True)
>>> y.shape, state.shape
((5, 3, 8), (2, 3, 4)))",
                      .inputs = {"data", "parameters", "state", "state_cell", "sequence_length"},
                      .optional_inputs = 2,
                      .compose = rnn,
                      .complete = complete_rnn,
                      .node = form_rnn});
}

}  // namespace afterglow::ops
