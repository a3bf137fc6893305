// SPDX-License-Identifier: Apache-2.0
#include "lazy/issue.h"

#include <algorithm>

#include "lazy/aggregate.h"
#include "lazy/capture.h"

namespace afterglow::lazy {
namespace {

// Guarded by the issuing right.
std::int64_t calls_until_failure = -1;
ErrorKind failure_to_inject = ErrorKind::mxnet;

void check_out(const Inference& inference, const Operand& result, const Array& out) {
  if (!same_shape(*result.layout, *out.layout)) {
    inference.refuse("out has shape " + to_string(out.shape()) + ", the result has shape " +
                     to_string(result.shape()));
  }
  if (result.dtype != out.dtype) {
    inference.refuse(std::string("out has type ") + name_of(out.dtype) + ", the result has type " +
                         name_of(result.dtype),
                     ErrorKind::type);
  }
}

/// Arrays of a GPU meet none of other devices in a call, but where values are written into them.
void check_devices(const Inference& inference, const Call& call) {
  if (call.op->updates) return;
  const Operand* first = nullptr;
  for (const Operand& input : call.inputs) {
    if (input.is_immediate()) continue;
    if (!first) first = &input;
    const Context here = computing(first->context()), there = computing(input.context());
    if (here == there || (here.type != Context::gpu && there.type != Context::gpu)) continue;
    inference.refuse("got arrays of " + to_string(here) + " and of " + to_string(there) +
                         "; all must be on one device: as_in_context() copies",
                     ErrorKind::mxnet);
  }
}

/// The kernel may write the view directly: no input is overwritten before it is read.
bool writable_in_place(const Call& call, const Array& out) {
  if (!call.is_elementwise() && !out.layout->is_contiguous()) return false;
  return std::all_of(call.inputs.begin(), call.inputs.end(), [&](const Operand& input) {
    if (input.is_immediate()) return true;
    return (call.is_elementwise() && same_view(input, out)) || !may_overlap(input, out);
  });
}

void set_output(Operand& output, const Array& array) {
  static_cast<Array&>(output) = array;
}

/// New memory for what was inferred.
void make_outputs(Call& call, Context context) {
  for (Operand& output : call.outputs) {
    const auto item = static_cast<std::int64_t>(size_of(output.dtype));
    output.storage = Storage::create(output.layout->size() * item, context);
  }
}

void join(Window& window, Draft& draft) {
  if (Capture* capture = Capture::current()) capture->add(*draft);
  if (calls_until_failure >= 0 && calls_until_failure-- == 0) {
    draft->injected_failure = failure_to_inject;
  }
  for (Operand& output : draft->outputs) ++output.storage->version;
  draft->overwrites = draft->outputs[0].covers_storage();
  if (Diversion* const diversion = Diversion::current()) {
    diversion->add(draft.release());
  } else {
    window.append(draft.release());
  }
}

/// Shape and type are settled by now, so it needs no more of the op "copy" (ops/shape.cpp) than its
/// formula.
void set_copy(Call& call, const Array& source, const Array& out) {
  set_output(call.inputs.emplace_back(), source);
  set_output(call.outputs.emplace_back(), out);
  call.compute = source.dtype == DType::float16 ? DType::float32 : source.dtype;
  call.formula = kernels::Formula::copy;
  call.function = kernels::block_function(kernels::Formula::copy, call.compute);
  call.cost = static_cast<double>(source.size());
}

const Op& copy_op() {
  static const Op copy = {.name = "copy", .inputs = {"data"}, .formula = kernels::Formula::copy};
  return copy;
}

/// out[...] = source, as one more call; used when a result cannot go there directly.
void issue_copy(Window& window, const Array& source, const Array& out, Site site) {
  // Never fused with the call that made the source: what that reads of shared memory may be what
  // this writes, under the name of another storage.
  static const Op apart = {
      .name = "copy", .inputs = {"data"}, .formula = kernels::Formula::copy, .may_fail = true};
  Draft draft(out.storage->is_shared() ? apart : copy_op());
  draft->site = std::move(site);
  set_copy(*draft, source, out);
  join(window, draft);
}

/// The results are new arrays.
Array issue_anew(Window& window, Draft& draft, Context context, std::vector<Array>* more_outputs) {
  make_outputs(*draft, context);
  const SmallList<Operand, 1>& outputs = draft->outputs;
  for (const Operand& each : outputs) {
    if (&each != &outputs[0]) more_outputs->push_back(each);
  }
  Array result = outputs[0];
  join(window, draft);
  return result;
}

/// The result is the first input itself. What else overlaps it is read from a copy.
Array issue_update(Window& window, Draft& draft) {
  Call& call = *draft;
  const Array target = call.inputs[0];
  for (Operand& input : call.inputs) {
    if (&input == call.inputs.begin() || input.is_immediate()) continue;
    if (!may_overlap(input, target)) continue;
    const Array copy =
        Array::create(Layout::contiguous(input.shape()), input.dtype, input.context());
    issue_copy(window, input, copy, call.site.copy());
    static_cast<Array&>(input) = copy;
  }
  set_output(call.outputs[0], target);
  join(window, draft);
  return target;
}

}  // namespace

void issue_again(Window& window, Draft& draft) {
  join(window, draft);
}

OwnedCall inferred(const Op& op, std::span<const Array> inputs,
                   std::span<const Argument> arguments) {
  OwnedCall call(Call::create());
  call->op = &op;
  for (const Array& input : inputs) set_output(call->inputs.emplace_back(), input);
  Inference inference{op, *call, arguments, false, inputs[0].context()};
  op.infer(inference);
  make_outputs(*call, inference.context);
  return call;
}

OwnedCall copying(const Array& source, const Array& out) {
  OwnedCall call(Call::create());
  call->op = &copy_op();
  set_copy(*call, source, out);
  return call;
}

void inject_failure(std::int64_t calls_from_now, ErrorKind kind) {
  calls_until_failure = calls_from_now;
  failure_to_inject = kind;
}

Array issue(Window& window, Draft& draft, const IssueOptions& options,
            std::vector<Array>* more_outputs) {
  Call& call = *draft;
  Inference inference{*call.op, call, options.arguments, options.legacy, options.context};
  if (options.out) inference.context = options.out->context();
  // The result lives where the first array does; inputs of other CPU contexts are read where they
  // are.
  for (const Operand& input : call.inputs) {
    if (input.is_immediate() || options.out) continue;
    inference.context = computing(input.context());
    break;
  }
  call.op->infer(inference);
  if (!exists(inference.context)) inference.refuse(absence(inference.context), ErrorKind::mxnet);
  if (pretended_gpus > 0) check_devices(inference, call);
  if (call.op->updates) return issue_update(window, draft);
  if (!options.out) return issue_anew(window, draft, inference.context, more_outputs);
  Operand& output = call.outputs[0];
  check_out(inference, output, *options.out);
  if (writable_in_place(call, *options.out)) {
    set_output(output, *options.out);
    join(window, draft);
  } else {
    const Array temporary = Array::create(output.layout, output.dtype, inference.context);
    set_output(output, temporary);
    Site site = call.site.copy();
    join(window, draft);
    issue_copy(window, temporary, *options.out, std::move(site));
  }
  return *options.out;
}

}  // namespace afterglow::lazy
