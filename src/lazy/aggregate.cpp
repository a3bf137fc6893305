// SPDX-License-Identifier: Apache-2.0
#include "lazy/aggregate.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "kernels/repeat.h"
#include "lazy/issue.h"
#include "lazy/run.h"

namespace afterglow::lazy {
namespace {

using kernels::Source;
using kernels::Step;

thread_local Diversion* current_diversion = nullptr;

/// Elements of a share of work, whole rows at a time.
constexpr std::int64_t share_size = 65536;

class AggregatePass : public Pass {
 public:
  explicit AggregatePass(const Call& call) {
    const Aggregate& aggregate = *call.aggregate;
    const std::size_t read = aggregate.read.size(), written = aggregate.written.size();
    const std::size_t rows = call.outputs.size() / written;
    data_.reserve(rows * (read + written));
    sets_.reserve(rows);
    std::int64_t largest = 0, in_share = share_size;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::span inputs(call.inputs.begin() + row * read, read);
      const std::span outputs(call.outputs.begin() + row * written, written);
      const std::int64_t size = outputs[0].size();
      if (!is_healthy(inputs, outputs) || size == 0) continue;
      if (in_share >= share_size) {
        shares_.push_back(sets_.size());
        in_share = 0;
      }
      sets_.push_back({data_.data() + data_.size(), size});
      for (const Operand& array : inputs) data_.push_back(array.data());
      for (const Operand& array : outputs) data_.push_back(array.data());
      in_share += size;
      largest = std::max(largest, size);
    }
    shares_.push_back(sets_.size());
    if (sets_.empty()) return;
    kernels::Program program = aggregate.program;
    for (int i = 0; i < program.operands_used; ++i) {
      const int place = aggregate.places[static_cast<std::size_t>(i)];
      if (place >= 0) program.operands[i].data = data_[static_cast<std::size_t>(place)];
    }
    program_.emplace(program, largest, aggregate.places);
  }

  int shares() const override { return static_cast<int>(shares_.size()) - 1; }
  void run(int share) override {
    const std::size_t begin = shares_[static_cast<std::size_t>(share)];
    const std::size_t end = shares_[static_cast<std::size_t>(share) + 1];
    program_->run(std::span(sets_).subspan(begin, end - begin));
  }

 private:
  /// Passes the poison of a row on to what would be written of it.
  static bool is_healthy(std::span<const Operand> inputs, std::span<const Operand> outputs) {
    std::shared_ptr<Failure> failure;
    for (const auto& arrays : {inputs, outputs}) {
      for (const Operand& array : arrays) {
        if (!failure && array.storage->failure) failure = array.storage->failure;
        check_value(array);
      }
    }
    if (!failure) return true;
    for (const Operand& output : outputs) output.storage->failure = failure;
    return false;
  }

  std::vector<void*> data_;  ///< row after row
  std::vector<kernels::ArraySet> sets_;
  std::vector<std::size_t> shares_;  ///< where each begins, and the end
  std::optional<kernels::RepeatedProgram> program_;
};

const Op& aggregate_op() {
  static const Op op = {.name = "update",
                        .inputs = {"data"},
                        .variadic = true,
                        .kernel = [](const Call& call) -> std::unique_ptr<Pass> {
                          return std::make_unique<AggregatePass>(call);
                        }};
  return op;
}

/// Turns diverted calls into a program.
class Maker {
 public:
  Maker(std::span<Call* const> calls, std::span<const Array> row)
      : calls_(calls), row_(row), made_(std::make_unique<Aggregate>()), loaded_(row.size(), -1) {}

  std::unique_ptr<Aggregate> make() {
    if (calls_.empty() || calls_.size() > static_cast<std::size_t>(kernels::most_steps)) return {};
    made_->width = row_.size();
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (!add_step(i)) return {};
    }
    if (made_->written.empty()) return {};
    sort_places();
    made_->cost /= static_cast<double>(std::max<std::int64_t>(1, row_[0].size()));
    return std::move(made_);
  }

 private:
  bool has_room(int more) const {
    return made_->program.operands_used + more <= kernels::most_operands;
  }

  /// From places in a row to places among what is read and what is written.
  void sort_places() {
    std::vector<int>& read = made_->read;
    const std::vector<int>& written = made_->written;
    for (int place = 0; place < static_cast<int>(row_.size()); ++place) {
      if (loaded_[static_cast<std::size_t>(place)] >= 0 &&
          std::ranges::find(written, place) == written.end())
        read.push_back(place);
    }
    std::vector<int> order = read;
    order.insert(order.end(), written.begin(), written.end());
    for (int& place : made_->places) {
      if (place < 0) continue;
      place = static_cast<int>(std::ranges::find(order, place) - order.begin());
    }
  }

  int place_of(const Array& array) const {
    for (std::size_t i = 0; i < row_.size(); ++i) {
      if (row_[i].storage.get() == array.storage.get())
        return same_view(row_[i], array) ? static_cast<int>(i) : -1;
    }
    return -1;
  }

  int add_operand(const kernels::Operand& operand, int place) {
    made_->program.operands[made_->program.operands_used] = operand;
    made_->places.push_back(place);
    return made_->program.operands_used++;
  }

  bool set_source(Source& source, std::size_t reader, const Operand& input) {
    const auto from = [&](Source::Kind kind, std::size_t index) {
      source = {kind, static_cast<std::int8_t>(index)};
      return true;
    };
    kernels::Operand operand;
    operand.dtype = input.dtype;
    if (input.is_immediate()) {
      auto& number = made_->numbers[static_cast<std::size_t>(made_->program.operands_used)];
      number = input.immediate;
      operand.data = number.data();
      operand.scalar = true;
      return from(Source::Kind::operand, static_cast<std::size_t>(add_operand(operand, -1)));
    }
    for (std::size_t i = reader; i-- > 0;) {
      const Operand& written = calls_[i]->outputs[0];
      if (written.storage.get() == input.storage.get())
        return same_view(written, input) && from(Source::Kind::step, i);
    }
    const int place = place_of(input);
    if (place < 0) return false;
    int& loaded = loaded_[static_cast<std::size_t>(place)];
    if (loaded < 0) loaded = add_operand(operand, place);
    return from(Source::Kind::operand, static_cast<std::size_t>(loaded));
  }

  bool is_written_later(std::size_t index) const {
    return std::any_of(calls_.begin() + static_cast<std::ptrdiff_t>(index) + 1, calls_.end(),
                       [&](const Call* later) {
                         return later->outputs[0].storage.get() ==
                                calls_[index]->outputs[0].storage.get();
                       });
  }

  bool is_in_row(const Storage* storage) const {
    return std::ranges::any_of(row_,
                               [&](const Array& array) { return array.storage.get() == storage; });
  }

  bool add_step(std::size_t index) {
    const Call& call = *calls_[index];
    if (!call.is_elementwise() || call.op->may_fail || call.injected_failure || !has_room(4))
      return false;
    const Operand& output = call.outputs[0];
    const auto suits = [&](const Operand& operand) {
      return operand.is_immediate() ||
             (operand.layout->is_contiguous() && operand.size() == row_[0].size());
    };
    if (!suits(output) || !std::ranges::all_of(call.inputs, suits)) return false;
    Step& step = made_->program.steps[made_->program.steps_used++];
    step.formula = call.formula;
    step.compute = call.compute;
    step.dtype = output.dtype;
    step.inputs_used = static_cast<std::int8_t>(call.inputs.size());
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (!set_source(step.inputs[i], index, call.inputs[i])) return false;
    }
    made_->cost += call.cost;
    if (!is_in_row(output.storage.get())) return true;
    const int place = place_of(output);
    if (place < 0) return false;
    if (is_written_later(index)) return true;
    kernels::Operand target;
    target.dtype = output.dtype;
    step.output = static_cast<std::int8_t>(add_operand(target, place));
    made_->written.push_back(place);
    return true;
  }

  std::span<Call* const> calls_;
  std::span<const Array> row_;
  std::unique_ptr<Aggregate> made_;
  std::vector<int> loaded_;  ///< the operand that reads each array of a row, or -1
};

bool all_differ(std::span<const Array> arrays) {
  const std::size_t mask = std::bit_ceil(2 * arrays.size()) - 1;
  std::vector<const Storage*> seen(mask + 1, nullptr);
  for (const Array& array : arrays) {
    const Storage* const storage = array.storage.get();
    std::size_t place = (reinterpret_cast<std::uintptr_t>(storage) >> 6) & mask;
    for (; seen[place]; place = (place + 1) & mask) {
      if (seen[place] == storage) return false;
    }
    seen[place] = storage;
  }
  return true;
}

}  // namespace

void DeleteAggregate::operator()(Aggregate* aggregate) const {
  delete aggregate;
}

Diversion::Diversion() : outer_(std::exchange(current_diversion, this)) {
  ++alive_;
}

Diversion::~Diversion() {
  --alive_;
  if (current_diversion == this) current_diversion = outer_;
  for (Call* call : calls_) Call::destroy(call);
}

Diversion* Diversion::of_thread() {
  return current_diversion;
}

void Diversion::give_up(Window& window) {
  current_diversion = outer_;
  for (Call* call : std::exchange(calls_, {})) window.append(call);
}

bool Diversion::is_observed(std::span<const Array> arrays) const {
  const auto is_given = [&](const Storage* storage) {
    return std::ranges::any_of(arrays,
                               [&](const Array& array) { return array.storage.get() == storage; });
  };
  return std::ranges::any_of(calls_, [&](const Call* call) {
    const Storage* const made = call->outputs[0].storage.get();
    if (is_given(made)) return false;
    int operands = 0;
    for (const Call* each : calls_) {
      for_each_storage(*each, [&](const Storage& storage) { operands += &storage == made; });
    }
    return made->count() > operands;
  });
}

std::unique_ptr<Aggregate> Aggregate::make(std::span<Call* const> calls,
                                           std::span<const Array> row) {
  return Maker(calls, row).make();
}

bool suit_one_call(std::span<const Array> arrays, std::size_t width) {
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Array& array = arrays[i];
    if (!array.layout->is_contiguous() || array.size() != arrays[i - i % width].size() ||
        array.dtype != arrays[i % width].dtype || array.context() != arrays[0].context() ||
        array.storage->is_shared())
      return false;
  }
  return all_differ(arrays);
}

void issue_aggregate(Window& window, std::unique_ptr<Aggregate> aggregate,
                     std::vector<Array> arrays, Site site) {
  Draft draft(aggregate_op());
  draft->site = std::move(site);
  std::int64_t elements = 0;
  for (std::size_t first = 0; first < arrays.size(); first += aggregate->width) {
    elements += arrays[first].size();
    for (int place : aggregate->read) {
      Array& array = arrays[first + static_cast<std::size_t>(place)];
      static_cast<Array&>(draft->inputs.emplace_back()) = std::move(array);
    }
    for (int place : aggregate->written) {
      Array& array = arrays[first + static_cast<std::size_t>(place)];
      ++array.storage->version;
      static_cast<Array&>(draft->outputs.emplace_back()) = std::move(array);
    }
  }
  draft->cost = aggregate->cost * static_cast<double>(elements);
  draft->aggregate.reset(aggregate.release());
  window.append(draft.release());
}

}  // namespace afterglow::lazy
