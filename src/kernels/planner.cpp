// SPDX-License-Identifier: Apache-2.0
#include "kernels/planner.h"

#include <cassert>

#include "kernels/stores.h"

namespace afterglow::kernels {

namespace {

/// From here on a kernel may be called for each row of a tile rather than on gathered rows.
constexpr std::int64_t wide_row = 32;

}  // namespace

Planner::Planner(const Program& program, Plan& plan)
    : program_(program),
      plan_(plan),
      slots_(plan.slots),
      one_column_(program.split >= 0 && plan.columns() == 1),
      wide_(plan.tile_rows == 1 || plan.tile_columns >= wide_row) {
  bool read[most_operands] = {}, written[most_operands] = {};
  for (int i = 0; i < program.steps_used; ++i) {
    const Step& step = program.steps[i];
    if (step.output >= 0) written[step.output] = true;
    for (int k = 0; k < step.inputs_used; ++k)
      if (step.inputs[k].kind == Source::Kind::operand) read[step.inputs[k].index] = true;
  }
  for (int i = 0; i < program.operands_used; ++i) {
    Slot slot;
    slot.kind = Slot::Kind::operand;
    slot.operand = static_cast<std::int16_t>(i);
    slot.dtype = program.operands[i].dtype;
    if (plan.view.all_zero(i) && !written[i])
      slot.extent = Extent::one;
    else if (one_column_ || plan.column_stride(i) == 0)
      slot.extent = Extent::row;
    add_slot(slot);
    if (slot.extent == Extent::tile) add_stream(i, read[i], written[i]);
  }
}

void Planner::add_stream(int operand, bool read, bool written) {
  for (Plan::Stream& stream : plan_.streams) {
    if (program_.operands[stream.operand].data != program_.operands[operand].data) continue;
    stream.read |= read;
    stream.written |= written;
    return;
  }
  plan_.streams.push_back({operand, read, written});
}

int Planner::add_slot(Slot slot) {
  slots_.push_back(slot);
  return static_cast<int>(slots_.size()) - 1;
}

int Planner::emit(Instruction instruction) {
  plan_.instructions.push_back(instruction);
  return instruction.output;
}

int Planner::convert(int from, int to, bool once_per_row) {
  Instruction instruction;
  instruction.extent = slots_[to].extent;
  instruction.inputs[0] = static_cast<std::int16_t>(from);
  instruction.output = static_cast<std::int16_t>(to);
  instruction.once_per_row = once_per_row;
  return emit(instruction);
}

int Planner::derived(int origin, Slot::Kind kind, Extent extent, DType dtype) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.origin == origin && slot.kind == kind && slot.extent == extent && slot.dtype == dtype)
      return static_cast<int>(i);
  }
  Slot slot;
  slot.kind = kind;
  slot.extent = extent;
  slot.dtype = dtype;
  slot.origin = static_cast<std::int16_t>(origin);
  const int made = add_slot(slot);
  return kind == Slot::Kind::block ? convert(origin, made) : made;
}

int Planner::natural(Source source) const {
  return source.kind == Source::Kind::operand ? source.index : values_[source.index];
}

int Planner::typed(int slot, DType dtype) {
  const Slot& from = slots_[slot];
  if (from.dtype == dtype) return slot;
  const Slot::Kind kind = from.extent == Extent::one ? Slot::Kind::scalar : Slot::Kind::block;
  return derived(slot, kind, from.extent, dtype);
}

/// The value as one that kernels can read element by element.
int Planner::as_block(int slot, Extent extent) {
  const Slot& from = slots_[slot];
  if (from.extent == Extent::one && extent != Extent::one)
    return derived(slot, Slot::Kind::constant, extent, from.dtype);
  if (from.extent == extent && in_place(from)) return slot;
  return derived(slot, Slot::Kind::block, extent, from.dtype);
}

/// Kernels can work on the slot's own memory, on the whole tile or row by row.
bool Planner::in_place(const Slot& slot) const {
  if (slot.kind != Slot::Kind::operand) return true;
  const std::int64_t row_stride = plan_.row_stride(slot.operand);
  if (slot.extent == Extent::row) return row_stride == 1 || plan_.view.shape[0] == 1;
  return plan_.column_stride(slot.operand) == 1 && (wide_ || row_stride == plan_.tile_columns);
}

bool Planner::takes_single(const Slot& slot, Extent extent) const {
  return slot.extent == Extent::one || (slot.extent < extent && wide_);
}

/// Narrows `singles` down to what some kernel takes.
BlockFunction Planner::choose_function(const Step& step, std::uint8_t& singles) const {
  for (const unsigned some : {singles & 7u, singles & 6u}) {
    singles = static_cast<std::uint8_t>(some);
    const BlockFunction function = block_function(step.formula, step.compute, some);
    if (function) return function;
  }
  singles = 0;
  return block_function(step.formula, step.compute);
}

/// Where the value lives in its output's own memory, or -1.
int Planner::home(const Step& step, Extent extent) {
  if (step.output < 0 || (plan_.pieces && extent == Extent::row)) return -1;
  Slot slot = slots_[step.output];
  slot.extent = extent;
  if (slot.dtype != step.dtype || !in_place(slot)) return -1;
  return add_slot(slot);
}

int Planner::value_slot(const Step& step, Extent extent) {
  const int place = home(step, extent);
  if (place >= 0) return place;
  Slot slot;
  slot.extent = extent;
  slot.dtype = step.dtype;
  return add_slot(slot);
}

/// Brings a value to its output, unless it lives there.
void Planner::store(const Step& step, int value, Extent extent) {
  if (step.output < 0 || slots_[value].operand == step.output) return;
  Slot slot = slots_[step.output];
  slot.extent = extent;
  convert(value, add_slot(slot), plan_.pieces && extent == Extent::row);
}

int Planner::plan_formula(int number, Extent extent) {
  Step step = program_.steps[number];
  const int copy = copy_to_replace(number);
  if (copy >= 0) {
    step.output = program_.steps[copy].output;
    replaced_[copy] = true;
  }
  Instruction instruction;
  instruction.kind = Instruction::Kind::formula;
  instruction.extent = extent;
  instruction.inputs_used = step.inputs_used;
  int inputs[max_inputs];
  for (int i = 0; i < step.inputs_used; ++i) {
    inputs[i] = typed(natural(step.inputs[i]), step.compute);
    if (takes_single(slots_[inputs[i]], extent)) instruction.singles |= 1u << i;
  }
  instruction.function = choose_function(step, instruction.singles);
  for (int i = 0; i < step.inputs_used; ++i)
    instruction.inputs[i] = static_cast<std::int16_t>(
        instruction.singles >> i & 1u ? inputs[i] : as_block(inputs[i], extent));

  const DType produced = produced_type(step.formula, step.compute);
  const int value = value_slot(step, extent);
  int result = value;
  if (produced != step.dtype) {
    Slot slot;
    slot.extent = extent;
    slot.dtype = produced;
    result = add_slot(slot);
  }
  instruction.output = static_cast<std::int16_t>(result);
  if (!is_read_later(copy >= 0 ? copy : number) && goes_to_memory_only(number, slots_[result])) {
    instruction.to_memory_only = true;
    plan_.bytes_to_memory += plan_.size * static_cast<std::int64_t>(size_of(produced));
  }
  emit(instruction);
  if (result != value) convert(result, value);
  store(step, value, extent);
  return value;
}

/// No kernel where a move or a cast does it, and nothing at all where the value may stay.
int Planner::plan_copy(int number, Extent extent) {
  const Step& step = program_.steps[number];
  const int source = natural(step.inputs[0]);
  // One conversion of the two may be none.
  const bool at_once = slots_[source].dtype == step.compute || step.compute == step.dtype;
  if (step.output < 0) {
    const int value = typed(typed(source, step.compute), step.dtype);
    if (!is_overwritten(slots_[value], number)) return value;
    return derived(value, Slot::Kind::block, extent, step.dtype);
  }
  const int from = at_once ? source : typed(source, step.compute);
  const int place = home(step, extent);
  const bool plain =
      slots_[from].dtype == step.dtype && step.dtype == program_.operands[step.output].dtype;
  if (place >= 0) {
    const int value = convert(from, place);
    if (plain && !is_read_later(number) && goes_to_memory_only(number, slots_[value])) {
      plan_.instructions.back().to_memory_only = true;
      plan_.bytes_to_memory += plan_.size * static_cast<std::int64_t>(size_of(step.dtype));
    }
    return value;
  }
  if (plain && !is_read_later(number)) {
    store(step, from, extent);
    return from;
  }
  const int value = convert(from, value_slot(step, extent));
  store(step, value, extent);
  return value;
}

int Planner::plan_fold(int number) {
  const Step& step = program_.steps[number];
  Instruction instruction;
  instruction.kind = Instruction::Kind::fold;
  instruction.reduction = step.reduction;
  instruction.fold = static_cast<std::int16_t>(plan_.folds++);
  const Extent extent = one_column_ ? Extent::row : Extent::tile;
  int input = typed(natural(step.inputs[0]), step.compute);
  const Slot& slot = slots_[input];
  const bool rows_in_place = slot.kind == Slot::Kind::operand && slot.extent == Extent::tile &&
                             plan_.column_stride(slot.operand) == 1;
  if (!rows_in_place) input = as_block(input, extent);
  instruction.inputs[0] = static_cast<std::int16_t>(input);
  if (plan_.pieces) {
    assert(!is_read_later(number) && step.output >= 0);
    return emit(instruction);
  }
  const int value = value_slot(step, Extent::row);
  instruction.output = static_cast<std::int16_t>(value);
  emit(instruction);
  store(step, value, Extent::row);
  return value;
}

bool Planner::is_read_later(int step) const {
  for (int i = step + 1; i < program_.steps_used; ++i)
    for (int k = 0; k < program_.steps[i].inputs_used; ++k) {
      const Source& source = program_.steps[i].inputs[k];
      if (source.kind == Source::Kind::step && source.index == step) return true;
    }
  return false;
}

/// Steps [first_step, end_step) read or write the memory of this operand.
bool Planner::is_touched(const Operand& operand, int first_step, int end_step) const {
  const auto same = [&](int other) { return program_.operands[other].data == operand.data; };
  for (int i = first_step; i < end_step; ++i) {
    const Step& step = program_.steps[i];
    if (step.output >= 0 && same(step.output)) return true;
    for (int k = 0; k < step.inputs_used; ++k)
      if (step.inputs[k].kind == Source::Kind::operand && same(step.inputs[k].index)) return true;
  }
  return false;
}

/// A later step that only copies the value of this one to an output (`x[:] = x + 1`): the value may
/// as well be computed there, if nobody touches that output in between or writes it again. -1 if
/// there is none.
int Planner::copy_to_replace(int number) const {
  const Step& step = program_.steps[number];
  if (step.output >= 0) return -1;
  for (int i = number + 1; i < program_.steps_used; ++i) {
    const Step& copy = program_.steps[i];
    const Source& source = copy.inputs[0];
    if (copy.kind != Step::Kind::formula || copy.formula != Formula::copy || copy.output < 0 ||
        source.kind != Source::Kind::step || source.index != number)
      continue;
    const Operand& output = program_.operands[copy.output];
    if (copy.per_row != step.per_row || copy.compute != step.dtype || copy.dtype != step.dtype ||
        output.dtype != step.dtype || is_touched(output, number + 1, i))
      continue;
    bool written_again = false;
    for (int k = i + 1; k < program_.steps_used; ++k) {
      const int other = program_.steps[k].output;
      written_again |= other >= 0 && program_.operands[other].data == output.data;
    }
    if (!written_again) return i;
  }
  return -1;
}

/// For a value that lives in its output's memory: nobody reads it there, and the pass is so large
/// that it would not stay in the caches.
bool Planner::goes_to_memory_only(int number, const Slot& place) const {
  if (place.kind != Slot::Kind::operand || place.extent != Extent::tile || plan_.pieces ||
      !is_far_result(plan_.size))
    return false;
  for (int i = number + 1; i < program_.steps_used; ++i)
    for (int k = 0; k < program_.steps[i].inputs_used; ++k) {
      const Source& source = program_.steps[i].inputs[k];
      if (source.kind == Source::Kind::step && source.index == number && !replaced_[i])
        return false;
    }
  const void* data = program_.operands[place.operand].data;
  for (const Plan::Stream& stream : plan_.streams)
    if (program_.operands[stream.operand].data == data) return !stream.read;
  return false;
}

/// A step from `first_step` on writes the memory where this value lies.
bool Planner::is_overwritten(const Slot& slot, int first_step) const {
  if (slot.kind != Slot::Kind::operand) return false;
  for (int i = first_step; i < program_.steps_used; ++i) {
    const int output = program_.steps[i].output;
    if (output >= 0 && program_.operands[output].data == program_.operands[slot.operand].data)
      return true;
  }
  return false;
}

void Planner::plan_steps() {
  for (int i = 0; i < program_.steps_used; ++i) {
    const Step& step = program_.steps[i];
    const Extent extent = step.per_row || one_column_ ? Extent::row : Extent::tile;
    if (replaced_[i])
      values_[i] = values_[step.inputs[0].index];
    else if (step.kind == Step::Kind::fold)
      values_[i] = plan_fold(i);
    else if (step.formula == Formula::copy)
      values_[i] = plan_copy(i, extent);
    else
      values_[i] = plan_formula(i, extent);
  }
}

}  // namespace afterglow::kernels
