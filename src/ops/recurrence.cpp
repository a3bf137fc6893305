// SPDX-License-Identifier: Apache-2.0
// Layers that run through sequences. The products with all inputs of a layer are one product; then
// come the steps, one after another.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "ops/completing.h"
#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

using lazy::Choice;
using lazy::Completion;
using lazy::field;
using lazy::NodeForm;
using lazy::required;

enum class Cell { gru, lstm, rnn_relu, rnn_tanh };

constexpr auto choices(Cell) {
  return std::array{Choice{"gru", Cell::gru}, Choice{"lstm", Cell::lstm},
                    Choice{"rnn_relu", Cell::rnn_relu}, Choice{"rnn_tanh", Cell::rnn_tanh}};
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

/// As MXNet packs them: the matrices of all layers and directions, then the biases of all.
std::vector<Weights> unpacked(const Value& packed, const RNN& given, std::int64_t columns) {
  const Extents extents(given);
  const std::int64_t rows = extents.gates * extents.units;
  std::vector<Weights> all(static_cast<std::size_t>(extents.layers * extents.directions));
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

/// One direction of a layer: the results of all steps, and the state after the last one. A sequence
/// that is over keeps its state, and its results are zeros.
Value run_through(const RNN& given, const Weights& weights, const Value& x,
                  std::span<const Value> lasts, bool backwards, State& state) {
  const Shape shape = shape_of(x);
  const std::int64_t steps = shape[0], samples = shape[1];
  if (!steps)
    return full(0, {0, samples, state.hidden.array.shape()[1]}, x.array.dtype, x.array.context());
  const Value products =
      dot(shaped(x, {steps * samples, shape[2]}), weights.i2h, false, true) +
      (given.mode == Cell::gru ? weights.i2h_bias : weights.i2h_bias + weights.h2h_bias);
  const std::vector<Value> inputs = cut(products, 0, steps);
  std::vector<Value> results(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i) {
    const auto time = static_cast<std::size_t>(backwards ? steps - 1 - i : i);
    State next = step(given, weights, inputs[time], state);
    results[time] = next.hidden;
    if (!lasts.empty()) {
      const Value& is_over = lasts[time];
      results[time] = where(is_over, 0, next.hidden);
      next.hidden = where(is_over, state.hidden, next.hidden);
      if (next.cell) next.cell = where(is_over, state.cell, next.cell);
    }
    state = std::move(next);
  }
  const Value joined = steps == 1 ? results[0] : concat(results, 0);
  return shaped(joined, {steps, samples, state.hidden.array.shape()[1]});
}

// --- the op ---

void need_shape_of(const Composition& c, const char* what, const Value& value,
                   const Shape& needed) {
  if (shape_of(value) != needed)
    c.refuse(std::string(what) + " has shape " + to_string(value.array.shape()) +
             "; it needs shape " + to_string(needed));
}

void check_rnn(const Composition& c, const RNN& given, const Value& lengths) {
  const Value& x = c[0];
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
  need_shape_of(c, "parameters", c[1],
                {extents.weights(x.array.shape()[2], given.projection_size.has_value())});
  need_shape_of(c, "state", c[2], {places, samples, extents.projected});
  if (is_lstm && !c[3]) c.refuse("mode 'lstm' needs state_cell", ErrorKind::type);
  if (is_lstm) need_shape_of(c, "state_cell", c[3], {places, samples, extents.units});
  for (std::size_t i = 1; i < (is_lstm ? 4u : 3u); ++i) {
    if (c[i].array.dtype != x.array.dtype)
      c.refuse("needs data, parameters and states of one type", ErrorKind::type);
  }
  if (given.use_sequence_length && !lengths)
    c.refuse("use_sequence_length=True needs sequence_length", ErrorKind::type);
  if (given.use_sequence_length) need_shape_of(c, "sequence_length", lengths, {samples});
}

/// In training some elements become 0 between the layers.
Value dropped(const Value& x, double p) {
  static const lazy::Op& op = op_named("Dropout");
  std::vector<lazy::Argument> arguments = op.defaults;
  arguments[0] = p;
  Value input[] = {x};
  return call(op, input, {arguments, {}, nullptr}, false);
}

Value rnn(Composition& c, const RNN& given) {
  const bool is_lstm = given.mode == Cell::lstm;
  // Positions count the inputs that are there, and without cells that is the fourth.
  const Value& lengths = c[4] || is_lstm ? c[4] : c[3];
  check_rnn(c, given, lengths);
  const Extents extents(given);
  const std::int64_t steps = c[0].array.shape()[0], samples = c[0].array.shape()[1];
  std::vector<Value> is_over;
  for (std::int64_t time = 0; given.use_sequence_length && time < steps; ++time)
    is_over.push_back(shaped(lengths, {samples, 1}) <= time);
  const std::vector<Weights> weights = unpacked(c[1], given, c[0].array.shape()[2]);
  const std::int64_t places = extents.layers * extents.directions;
  const std::vector<Value> hidden = cut(c[2], 0, places);
  const std::vector<Value> cells = is_lstm ? cut(c[3], 0, places) : std::vector<Value>();
  std::vector<Value> last_hidden, last_cells;
  Value x = c[0];
  for (std::int64_t layer = 0; layer < extents.layers; ++layer) {
    std::vector<Value> results;
    for (std::int64_t direction = 0; direction < extents.directions; ++direction) {
      const auto place = static_cast<std::size_t>(layer * extents.directions + direction);
      State state = {shaped(hidden[place], {samples, extents.projected}), {}};
      if (is_lstm) state.cell = shaped(cells[place], {samples, extents.units});
      results.push_back(run_through(given, weights[place], x, is_over, direction == 1, state));
      if (!given.state_outputs) continue;
      last_hidden.push_back(shaped(state.hidden, {1, samples, extents.projected}));
      if (is_lstm) last_cells.push_back(shaped(state.cell, {1, samples, extents.units}));
    }
    x = results.size() == 1 ? results[0] : concat(results, 2);
    if (given.p > 0 && layer + 1 < extents.layers) x = dropped(x, given.p);
  }
  if (given.state_outputs) {
    c.add_output(concat(last_hidden, 0));
    if (is_lstm) c.add_output(concat(last_cells, 0));
  }
  return x;
}

}  // namespace

void declare_recurrence(Table& table) {
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
