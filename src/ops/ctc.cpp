// SPDX-License-Identifier: Apache-2.0
// The loss of label sequences that are not aligned with their data.
#include "kernels/ctc.h"

#include <array>
#include <string>

#include "ops/common.h"
#include "ops/completing.h"
#include "ops/compose.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

enum class Blank { first, last };

constexpr auto choices(Blank) {
  return std::array{Choice{"first", Blank::first}, Choice{"last", Blank::last}};
}

struct CTCLoss {
  bool use_data_lengths = false, use_label_lengths = false;
  Blank blank_label = Blank::first;
  static constexpr auto fields =
      std::tuple{field("use_data_lengths", &CTCLoss::use_data_lengths,
                       "whether sequences have lengths of their own"),
                 field("use_label_lengths", &CTCLoss::use_label_lengths, "whether labels have"),
                 field("blank_label", &CTCLoss::blank_label, "which class is the blank")};
};

/// Of logarithms of probabilities.
struct Align {
  Blank blank = Blank::first;
  bool with_shares = false;
  static constexpr auto fields = std::tuple{
      field("blank", &Align::blank, "which letter is the blank"),
      field("with_shares", &Align::with_shares, "whether the expected letters come too")};
};

void align_infer(Inference& inference, const Align& given) {
  Call& call = inference.call;
  for (const Operand& input : call.inputs) {
    if (input.is_immediate() || !input.layout->is_contiguous())
      inference.refuse("needs contiguous arrays");
  }
  const Operand& data = call.inputs[0];
  const std::int64_t batch = data.shape()[1], items = call.inputs[1].shape()[1];
  call.cost = 300 + 60.0 * static_cast<double>(data.shape()[0] * batch * (2 * items + 1)) +
              (given.with_shares ? 0.5 * static_cast<double>(data.size()) : 0.0);
  const DType dtype = data.dtype;
  const Shape shape(data.shape().begin(), data.shape().end());
  inference.add_output(Shape{batch}, dtype);
  if (given.with_shares) inference.add_output(shape, dtype);
  call.settled.set(given.blank);
}

class AlignPass : public lazy::Pass {
 public:
  explicit AlignPass(const Call& call) : pass_(arrays_of(call)) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override {
    const char* const what = pass_.run(share);
    if (what) throw Error(ErrorKind::value, std::string("[CTCLoss] ") + what);
  }

 private:
  static kernels::CtcArrays arrays_of(const Call& call) {
    const auto integers = [&](std::size_t input) {
      return reinterpret_cast<const std::int64_t*>(call.inputs[input].data());
    };
    const auto shape = call.inputs[0].shape();
    return {.logarithms = call.inputs[0].data(),
            .dtype = call.inputs[0].dtype,
            .steps = shape[0],
            .batch = shape[1],
            .alphabet = shape[2],
            .labels = integers(1),
            .items = call.inputs[1].shape()[1],
            .times = integers(2),
            .lengths = integers(3),
            .is_blank_first = call.settled.get<Blank>() == Blank::first,
            .losses = call.outputs[0].data(),
            .shares = call.outputs.size() > 1 ? call.outputs[1].data() : nullptr};
  }

  const kernels::CtcPass pass_;
};

/// A loss falls with the logarithm of each probability as often as its letter is expected.
Value through_alignment(Gradient& c) {
  if (c.head(1))
    throw Error(ErrorKind::not_implemented, "[CTCLoss] has no gradient of second order");
  const Value shares = c.output(1);
  return shares * shaped(-c.g, {1, shares.array.shape()[1], 1});
}

Value log_softmax(const Value& x) {
  const lazy::Op& op = the_op<"log_softmax">();
  Value inputs[] = {x};
  return call(op, inputs, {op.defaults, {}, nullptr}, false);
}

Value ctc_loss(Composition& c, const CTCLoss& given) {
  const Shape shape = shape_of(c[0]), labels = shape_of(c[1]);
  if (shape.size() != 3 || labels.size() != 2 || shape[1] != labels[0])
    c.refuse("got data of shape " + to_string(shape) + " and labels of shape " + to_string(labels) +
             "; they must be (time, batch, alphabet) and (batch, items)");
  const DType dtype = c[0].array.dtype;
  if (!is_floating(dtype))
    c.refuse(std::string("needs floating data, not ") + name_of(dtype), ErrorKind::type);
  const Shape vector = {shape[1]};
  const auto lengths = [&](std::size_t input, bool is_used, std::int64_t otherwise) {
    if (!is_used) return full(otherwise, vector, DType::int64, c[0].array.context());
    const std::string name(c.op().inputs[input]);
    if (!c[input]) c.refuse("use_" + name + "=True needs " + name);
    if (shape_of(c[input]) != vector)
      c.refuse(name + " of shape " + to_string(shape_of(c[input])) + " must be " +
               to_string(vector));
    return copy(c[input], DType::int64);
  };
  const Value times = lengths(2, given.use_data_lengths, shape[0]),
              items = lengths(3, given.use_label_lengths, -1);
  Value scores = in_type(c[0], compute_type(dtype));
  if (given.use_data_lengths) {
    // What lies behind the end of a sample is nothing, whatever it holds, and has no slope.
    const Value step =
        shaped(count_up(shape[0], DType::int64, c[0].array.context()), {shape[0], 1, 1});
    scores = where(step < shaped(times, {1, shape[1], 1}), scores, 0.0);
  }
  autograd::CallBuilder builder(the_op<"align">(), false);
  const Value inputs[] = {log_softmax(scores), copy(c[1], DType::int64), times, items};
  for (const Value& input : inputs) builder.add(input);
  std::vector<autograd::Handle> others;
  const auto arguments = lazy::write_arguments(Align{given.blank_label, c.is_recorded()});
  return in_type(builder.issue({arguments, {}, nullptr}, &others), dtype);
}

}  // namespace

void declare_ctc(Table& table) {
  table.add<Align>(
      {.name = "align",
       .inputs = {"logarithms", "labels", "times", "lengths"},
       .infer = align_infer,
       .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
         return std::make_unique<AlignPass>(call);
       },
       .may_fail = true,
       .gradients = {reading_output(through_alignment), no_gradient, no_gradient, no_gradient}});
  table.compose<CTCLoss>(
      {.name = "CTCLoss",
       .mxnet_names = {"CTCLoss", "ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"},
       .doc =
           R"(Return how unlikely each label sequence is, wherever its items fall: a number per sample.

``data`` of shape (time, batch, alphabet) is what a softmax is taken of; ``label`` has the shape
(batch, items). The blank is the "first" letter of the alphabet or the "last" one. Without
lengths of their own labels end at the first 0, or -1 if the blank is the last. A label that is
too long for its data has the loss 0.

>>> from afterglow import nd
>>> nd.ctc_loss(nd.zeros((2, 1, 3)), nd.array([[1, 0]])).asnumpy()
array([1.0986123], dtype=float32))",
       .inputs = {"data", "label", "data_lengths", "label_lengths"},
       .optional_inputs = 2,
       .compose = ctc_loss,
       .complete =
           [](Completion& completion, const CTCLoss&) {
             need_rank(completion, 0, 3);
             if (completion.shapes[0]) completion.results = {{(*completion.shapes[0])[1]}};
           },
       .node = number_outputs<2>});
}

}  // namespace afterglow::ops
