// SPDX-License-Identifier: Apache-2.0
#include "lazy/row_chain.h"

#include <algorithm>

#include "lazy/run.h"
#include "memory/pool.h"

namespace afterglow::lazy {
namespace {

// Smaller matrices stay in the nearest caches from call to call anyway.
constexpr std::int64_t smallest_matrix = 4096;
constexpr std::size_t most_calls = 16;
// Elements of a block of several matrices, and of a share.
constexpr std::int64_t block_elements = 1 << 16;
constexpr std::int64_t share_elements = 1 << 18;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// The very elements that `written` has, perhaps in another shape.
bool is_result(const Operand& input, const Operand& written) {
  return !input.is_immediate() && input.storage.get() == written.storage.get() &&
         input.offset == written.offset && input.dtype == written.dtype &&
         input.size() == written.size() && input.layout->is_contiguous();
}

bool touches(const Call& call, const Storage* storage) {
  bool found = false;
  for_each_storage(call, [&](const Storage& each) { found = found || &each == storage; });
  return found;
}

class ChainReader {
 public:
  explicit ChainReader(std::span<Call* const> calls) : calls_(calls) {}

  std::optional<RowChain> read() {
    const Call& first = *calls_[0];
    if (calls_.size() < 2 || calls_.size() > most_calls || !can_join(first) ||
        !first.op->row_form || !first.op->kernel_then)
      return std::nullopt;
    const RowForm form = first.op->row_form(first);
    const Operand& result = first.outputs[0];
    chain_ = {form.rows, form.results, form.matrix, form.tile, result.dtype, {{0, 1, false}}};
    if (!form.tile || form.results < 2 || form.matrix * form.results < smallest_matrix ||
        !result.layout->is_contiguous())
      return std::nullopt;
    for (std::size_t i = 1; i < calls_.size(); ++i) {
      const Call& call = *calls_[i];
      if (ended_ || !can_join(call) || !(call.outputs[0].context() == result.context()) ||
          !call.outputs[0].layout->is_contiguous() || !writes_apart(i) ||
          !(call.is_elementwise() ? add_elements(i) : add_rows(i)))
        return std::nullopt;
    }
    return std::move(chain_);
  }

 private:
  static bool can_join(const Call& call) {
    return !call.op->may_fail && !call.injected_failure && call.outputs.size() == 1 &&
           !call.aggregate && !call.host;
  }

  /// Nobody before has touched what it writes, unless it writes the result before it anew.
  bool writes_apart(std::size_t i) const {
    const Operand &output = calls_[i]->outputs[0], &before = calls_[i - 1]->outputs[0];
    if (calls_[i]->is_elementwise() && same_view(output, before)) return true;
    const auto apart = [&](const Call* call) { return !touches(*call, output.storage.get()); };
    if (!std::ranges::all_of(calls_.first(i), apart)) return false;
    return std::ranges::none_of(calls_[i]->inputs, [&](const Operand& input) {
      return input.storage.get() == output.storage.get();
    });
  }

  bool is_made_before(std::size_t i, const Operand& input) const {
    return std::ranges::any_of(calls_.first(i), [&](const Call* call) {
      return call->outputs[0].storage.get() == input.storage.get();
    });
  }

  bool add_rows(std::size_t i) {
    const Call& call = *calls_[i];
    if (!call.op->row_form) return false;
    const RowForm form = call.op->row_form(call);
    const bool product = call.op->kernel_then;
    if (!form.tile || !form.reads_rows || form.rows != chain_.rows ||
        form.length != chain_.columns || !is_result(call.inputs[0], calls_[i - 1]->outputs[0]) ||
        call.inputs[0].dtype != chain_.dtype || call.outputs[0].dtype != chain_.dtype)
      return false;
    if (product && (form.matrix != chain_.matrix || form.tile != chain_.tile)) return false;
    for (std::size_t k = 1; k < call.inputs.size(); ++k) {
      const Operand& input = call.inputs[k];
      if (!input.is_immediate() && is_made_before(i, input)) return false;
    }
    ended_ = product || form.results != chain_.columns;
    chain_.stages.push_back({i, i + 1, false});
    return true;
  }

  /// It reads results of its stage and of the one before, and what comes from outside.
  bool add_elements(std::size_t i) {
    const Call& call = *calls_[i];
    const Operand& output = call.outputs[0];
    if (output.size() != chain_.rows * chain_.columns) return false;
    const bool goes_on = chain_.stages.back().elements;
    const std::size_t begin = goes_on ? chain_.stages.back().begin : i;
    bool joined = false;
    for (const Operand& input : call.inputs) {
      if (input.is_immediate()) continue;
      const auto made = std::ranges::find_if(
          calls_.subspan(begin - 1, i - begin + 1),
          [&](const Call* each) { return is_result(input, each->outputs[0]); });
      if (made != calls_.subspan(begin - 1, i - begin + 1).end()) {
        joined = true;
      } else if (is_made_before(i, input) || !suits(input, output)) {
        return false;
      }
    }
    if (!joined || !suits(output, output)) return false;
    if (goes_on) {
      ++chain_.stages.back().end;
    } else {
      chain_.stages.push_back({i, i + 1, true});
    }
    return true;
  }

  bool suits(const Operand& input, const Operand& output) const {
    if (input.size() == 1) return true;
    if (!same_shape(*input.layout, *output.layout)) return false;
    const auto walk = RowWalk::of(*input.layout, chain_.columns);
    return walk && walk->even_rows() % chain_.matrix == 0;
  }

  std::span<Call* const> calls_;
  RowChain chain_;
  bool ended_ = false;
};

}  // namespace

std::optional<RowChain> row_chain(std::span<Call* const> calls) {
  return ChainReader(calls).read();
}

std::optional<RowWalk> RowWalk::of(const Layout& layout, std::int64_t columns) {
  const auto shape = layout.shape(), strides = layout.strides();
  RowWalk walk;
  std::size_t axis = shape.size();
  std::int64_t length = 1;
  for (; axis > 0 && length < columns; --axis) {
    const std::int64_t extent = shape[axis - 1];
    if (extent == 1) continue;
    if (length == 1) walk.column_stride_ = strides[axis - 1];
    if (strides[axis - 1] != walk.column_stride_ * length) return std::nullopt;
    length *= extent;
  }
  if (length != columns) return std::nullopt;
  for (std::size_t i = 0; i < axis; ++i) {
    if (shape[i] == 1) continue;
    if (!walk.counts_.empty() && walk.strides_.back() == strides[i] * shape[i]) {
      walk.counts_.back() *= shape[i];
      walk.strides_.back() = strides[i];
    } else {
      walk.counts_.push_back(shape[i]);
      walk.strides_.push_back(strides[i]);
    }
  }
  return walk;
}

std::int64_t RowWalk::offset_of(std::int64_t row) const {
  std::int64_t offset = 0;
  for (std::size_t i = counts_.size(); i-- > 0;) {
    offset += row % counts_[i] * strides_[i];
    row /= counts_[i];
  }
  return offset;
}

// --- running ---

RowChainPass::RowChainPass(std::span<Call* const> calls, RowChain chain,
                           const std::vector<bool>& stored, int threads)
    : calls_(calls), chain_(std::move(chain)), stages_(chain_.stages.size()) {
  // Backwards: what is not stored goes where the next stage can write over it, if it can.
  for (std::size_t i = stages_.size(); i-- > 0;) {
    const RowChain::Stage& part = chain_.stages[i];
    const Call& last = *calls[part.end - 1];
    const Operand& output = last.outputs[0];
    Stage& stage = stages_[i];
    stage.row_bytes =
        output.size() / chain_.rows * static_cast<std::int64_t>(size_of(output.dtype));
    const bool in_place = i + 1 < stages_.size() && !calls[part.end]->op->kernel_then;
    if (stored[part.end - 1])
      stage.target = output.data();
    else if (in_place)
      stage.target = stages_[i + 1].target;
    if (part.elements)
      add_elements(stage, part, stored);
    else
      stage.kernel = last.op->row_kernel(last);
  }
  choose_blocks();
  const bool all_stored =
      std::ranges::all_of(stages_, [](const Stage& stage) { return stage.target; });
  if (all_stored) return;
  const std::int64_t rows = std::min(chain_.tile, chain_.matrix) * matrices_;
  scratch_bytes_ = static_cast<std::size_t>(rows * chain_.columns) * size_of(chain_.dtype);
  try {
    for (int i = 0; i < std::min(threads, shares_); ++i)
      free_.push_back(static_cast<std::byte*>(memory::pool().allocate(scratch_bytes_)));
  } catch (...) {
    for (std::byte* scratch : free_) memory::pool().release(scratch, scratch_bytes_);
    throw;
  }
}

RowChainPass::~RowChainPass() {
  for (std::byte* scratch : free_) memory::pool().release(scratch, scratch_bytes_);
}

void RowChainPass::add_elements(Stage& stage, const RowChain::Stage& part,
                                const std::vector<bool>& stored) {
  kernels::Program& program = stage.program;
  program.rank = 2;
  program.split = 1;
  const auto add = [&](const Operand& operand, bool at_hand, bool written) {
    kernels::Operand made = kernel_operand(operand, chain_.rows * chain_.columns);
    if (written) made.scalar = false;
    Place place;
    if (!made.scalar) place.walk = *RowWalk::of(*operand.layout, chain_.columns);
    if (!at_hand) place.data = static_cast<std::byte*>(made.data);
    program.operands[program.operands_used] = made;
    stage.places.push_back(place);
    return static_cast<std::int8_t>(program.operands_used++);
  };
  const Operand& before = calls_[part.begin - 1]->outputs[0];
  const std::int8_t block = add(before, true, false);
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const Call& call = *calls_[i];
    const Operand& output = call.outputs[0];
    kernels::Step& step = program.steps[program.steps_used++];
    step.formula = call.formula;
    step.compute = call.compute;
    step.dtype = output.dtype;
    step.inputs_used = static_cast<std::int8_t>(call.inputs.size());
    for (std::size_t k = 0; k < call.inputs.size(); ++k) {
      const Operand& input = call.inputs[k];
      kernels::Source& source = step.inputs[k];
      source = {kernels::Source::Kind::operand, -1};
      // The latest writer counts.
      for (std::size_t j = i; j-- > part.begin && source.index < 0;) {
        if (is_result(input, calls_[j]->outputs[0]))
          source = {kernels::Source::Kind::step, static_cast<std::int8_t>(j - part.begin)};
      }
      if (source.index >= 0) continue;
      if (is_result(input, before)) {
        source.index = block;
      } else {
        check_value(input);
        source.index = add(input, false, false);
      }
    }
    const bool last = i + 1 == part.end;
    if (last || stored[i]) step.output = add(output, last, true);
  }
  for (int i = 0; i < program.operands_used; ++i) {
    const RowWalk& walk = stage.places[static_cast<std::size_t>(i)].walk;
    stage.strides.push_back(walk.row_stride());
    stage.strides.push_back(walk.column_stride());
  }
  for (int i = 0; i < program.operands_used; ++i)
    program.operands[i].strides = &stage.strides[2 * i];
}

/// Small matrices go together where every operand lets them.
void RowChainPass::choose_blocks() {
  const std::int64_t height = chain_.rows / chain_.matrix;
  const auto fits = [&](std::int64_t matrices) {
    return height % matrices == 0 && std::ranges::all_of(stages_, [&](const Stage& stage) {
             return std::ranges::all_of(stage.places, [&](const Place& place) {
               return place.walk.even_rows() % (matrices * chain_.matrix) == 0;
             });
           });
  };
  if (chain_.tile >= chain_.matrix) {
    matrices_ =
        std::clamp<std::int64_t>(block_elements / (chain_.matrix * chain_.columns), 1, height);
    while (!fits(matrices_)) --matrices_;
    blocks_ = height / matrices_;
  } else {
    blocks_ = height * divide_up(chain_.matrix, chain_.tile);
  }
  const std::int64_t elements = std::min(chain_.tile, chain_.matrix) * matrices_ * chain_.columns;
  shares_ =
      static_cast<int>(divide_up(blocks_, std::max<std::int64_t>(1, share_elements / elements)));
}

RowChainPass::Block RowChainPass::block(std::int64_t number) const {
  if (chain_.tile >= chain_.matrix) {
    const std::int64_t rows = matrices_ * chain_.matrix;
    return {number * rows, (number + 1) * rows};
  }
  const std::int64_t tiles = divide_up(chain_.matrix, chain_.tile);
  const std::int64_t first = number / tiles * chain_.matrix;
  const std::int64_t begin = number % tiles * chain_.tile;
  return {first + begin, first + std::min(begin + chain_.tile, chain_.matrix)};
}

void RowChainPass::run(int share) {
  std::byte* const scratch = scratch_bytes_ ? take_scratch() : nullptr;
  try {
    for (std::int64_t i = blocks_ * share / shares_; i < blocks_ * (share + 1) / shares_; ++i)
      run_block(block(i), scratch);
  } catch (...) {
    if (scratch) give_back_scratch(scratch);
    throw;
  }
  if (scratch) give_back_scratch(scratch);
}

void RowChainPass::run_block(const Block& block, std::byte* scratch) const {
  std::byte* from = nullptr;
  for (const Stage& stage : stages_) {
    std::byte* const to = stage.target ? stage.target + block.begin * stage.row_bytes : scratch;
    if (stage.kernel)
      stage.kernel->run(block.begin, block.end, from, to);
    else
      run_elements(stage, block, from, to);
    from = to;
  }
}

void RowChainPass::run_elements(const Stage& stage, const Block& block, std::byte* from,
                                std::byte* to) const {
  const std::int64_t shape[] = {block.end - block.begin, chain_.columns};
  kernels::Program program = stage.program;
  program.shape = shape;
  program.size = shape[0] * shape[1];
  for (int i = 0; i < program.operands_used; ++i) {
    kernels::Operand& operand = program.operands[i];
    const Place& place = stage.places[static_cast<std::size_t>(i)];
    if (!place.data) {
      operand.data = i == 0 ? from : to;
    } else if (!operand.scalar) {
      operand.data = place.data + place.walk.offset_of(block.begin) *
                                      static_cast<std::int64_t>(size_of(operand.dtype));
    }
  }
  kernels::ProgramPass(program).run_region(0, shape[0], 0, shape[1]);
}

std::byte* RowChainPass::take_scratch() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::byte* const scratch = free_.back();
      free_.pop_back();
      return scratch;
    }
  }
  return static_cast<std::byte*>(memory::pool().allocate(scratch_bytes_));
}

void RowChainPass::give_back_scratch(std::byte* scratch) {
  const std::lock_guard lock(mutex_);
  free_.push_back(scratch);
}

}  // namespace afterglow::lazy
