// SPDX-License-Identifier: Apache-2.0
// Layers that run through sequences: announced, without a kernel yet.
#include <array>
#include <string>

#include "ops/completing.h"
#include "ops/table.h"

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

/// All weights in one vector, and the states.
void complete_rnn(Completion& completion, const RNN& given) {
  need_rank(completion, 0, 3);
  if (!completion.shapes[0]) return;
  const Shape data = *completion.shapes[0];
  const bool is_lstm = given.mode == Cell::lstm;
  const std::int64_t units = given.state_size, directions = given.bidirectional ? 2 : 1,
                     gates = is_lstm ? 4 : (given.mode == Cell::gru ? 3 : 1),
                     projected = given.projection_size.value_or(units),
                     rows = directions * gates * units;
  std::int64_t weights = rows * (data[2] + projected + 2) +
                         (given.num_layers - 1) * rows * (projected * directions + projected + 2);
  if (given.projection_size) weights += projected * units * given.num_layers * directions;
  const Shape state = {given.num_layers * directions, data[1], projected},
              cell = {given.num_layers * directions, data[1], units};
  completion.shapes[1] = Shape{data[2] < 0 ? -1 : weights};
  completion.shapes[2] = state;
  completion.shapes[3] = cell;
  completion.shapes[4] = Shape{data[1]};
  completion.results = {{data[0], data[1], projected * directions}};
  if (!given.state_outputs) return;
  completion.results.push_back(state);
  if (is_lstm) completion.results.push_back(cell);
}

void form_rnn(NodeForm& node, const RNN& given) {
  node.inputs[3] = given.mode == Cell::lstm;
  if (!given.state_outputs) return;
  node.outputs.push_back("state_output");
  if (given.mode == Cell::lstm) node.outputs.push_back("statecell_output");
}

}  // namespace

void declare_recurrence(Table& table) {
  table.announce<RNN>({.name = "RNN",
                       .mxnet_names = {"RNN", "_npx_rnn"},
                       .inputs = {"data", "parameters", "state", "state_cell", "sequence_length"},
                       .optional_inputs = 2,
                       .complete = complete_rnn,
                       .node = form_rnn});
}

}  // namespace afterglow::ops
