// SPDX-License-Identifier: Apache-2.0
#include "lazy/recipe.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lazy/issue.h"
#include "lazy/prediction.h"
#include "lazy/random_stream.h"
#include "lazy/row_chain.h"

namespace afterglow::lazy {

/// Turns captured calls into a recipe.
class RecipeMaker {
 public:
  RecipeMaker(Capture& capture, const Recipe::Ends& ends) : capture_(capture), ends_(ends) {}

  std::unique_ptr<Recipe> make() {
    if (!capture_.refusal().empty()) return nullptr;
    if (is_prediction()) rewrite_for_prediction(capture_, ends_.outputs);
    name_ends();
    for (std::size_t i = 0; i < calls().size(); ++i) name_operands(*calls()[i]);
    name_results();
    if (!capture_.refusal().empty()) return nullptr;
    keep_constants();
    merge_equal(0, first_part());
    merge_equal(first_part(), calls().size());
    drop_unneeded();
    if (is_prediction()) find_ahead();
    join_chains(0, first_part());
    join_chains(first_part(), calls().size());
    build();
    return std::move(recipe_);
  }

 private:
  using Slot = Recipe::Slot;
  using Kind = Slot::Kind;

  struct Use {
    std::int32_t writes = 0;
    bool result = false;         ///< somebody gets a handle of it
    bool from_host = false;      ///< made while capturing, but by no call: a constant
    bool ahead = false;          ///< made by a call that reads nothing but memory from outside
    std::int32_t same_as = -1;   ///< the slot that has the same value
    Reference<Storage> storage;  ///< the captured one
  };

  std::vector<OwnedCall>& calls() { return capture_.calls(); }
  std::size_t first_part() const {
    return std::min(capture_.second_part(), capture_.calls().size());
  }

  /// Nothing is computed but the outputs.
  bool is_prediction() const { return capture_.second_part() > capture_.calls().size(); }

  // --- which memory is which ---

  std::int32_t add_slot(const Reference<Storage>& storage, Kind kind) {
    const auto slot = static_cast<std::int32_t>(recipe_->slots_.size());
    Slot& added = recipe_->slots_.emplace_back();
    added.kind = kind;
    added.bytes = storage->bytes();
    added.context = storage->context();
    if (kind == Kind::outside) {
      added.outside.storage = storage;
      added.origins = storage->origins;
    }
    uses_.emplace_back().storage = storage;
    return slot;
  }

  std::int32_t add_end(const Array& array, Kind kind) {
    const std::int32_t slot = add_slot(array.storage, kind);
    slot_at(slot).offset = array.offset;
    slot_at(slot).item = static_cast<std::int64_t>(size_of(array.dtype));
    return slot;
  }

  void name_ends() {
    for (const Array& input : capture_.inputs())
      recipe_->inputs_.push_back(add_end(input, Kind::input));
    for (const Array& head : ends_.heads) {
      recipe_->heads_.push_back(add_end(head, Kind::head));
      by_storage_[head.storage.get()] = recipe_->heads_.back();
    }
  }

  /// -1 for memory that has none yet.
  std::int32_t known_slot(const Array& array) const {
    const std::int32_t input = capture_.input_of(array);
    if (input >= 0) return recipe_->inputs_[static_cast<std::size_t>(input)];
    const auto found = by_storage_.find(array.storage.get());
    return found == by_storage_.end() ? -1 : found->second;
  }

  std::int32_t new_slot(const Array& array, Kind kind) {
    return by_storage_[array.storage.get()] = add_slot(array.storage, kind);
  }

  std::int32_t slot_read(const Array& array) {
    std::int32_t slot = known_slot(array);
    if (slot < 0) {
      slot = new_slot(array, Kind::outside);
      use(slot).from_host = capture_.has_seen_made(*array.storage);
    }
    touch(slot, array);
    return slot;
  }

  /// An end is placed elsewhere each time, so what is touched of it is counted from its beginning.
  void touch(std::int32_t slot, const Array& array) {
    Slot& touched = slot_at(slot);
    if (!touched.item || !array.size()) return;
    if (static_cast<std::int64_t>(size_of(array.dtype)) != touched.item)
      capture_.refuse("the bytes of an input are read as another type");
    const auto [low, high] = array.layout->extent();
    const std::int64_t begin = (array.offset - touched.offset + low) * touched.item;
    const std::int64_t end = (array.offset - touched.offset + high + 1) * touched.item;
    const bool first = touched.begin == touched.end;
    touched.begin = first ? begin : std::min(touched.begin, begin);
    touched.end = first ? end : std::max(touched.end, end);
  }

  std::int32_t slot_written(const Operand& operand) {
    std::int32_t slot = known_slot(operand);
    if (slot >= 0) {
      touch(slot, operand);
    } else if (!capture_.has_seen_made(*operand.storage)) {
      slot = new_slot(operand, Kind::outside);
    } else {
      if (!operand.covers_storage())
        capture_.refuse("an array made from values of Python is written in part");
      slot = new_slot(operand, Kind::made);
    }
    if (use(slot).from_host)
      capture_.refuse("an array made from values of Python is written in place");
    ++use(slot).writes;
    if (slot_at(slot).kind != Kind::made) recipe_->writes_outside_ = true;
    return slot;
  }

  void name_operands(const Call& call) {
    std::vector<std::int32_t>& slots = slots_of_calls_.emplace_back();
    for (const Operand& input : call.inputs)
      slots.push_back(input.is_immediate() ? -1 : slot_read(input));
    for (const Operand& output : call.outputs) slots.push_back(slot_written(output));
    recipe_->draws_ = recipe_->draws_ || call.drawn_blocks;
  }

  void name_results() {
    const auto name = [&](std::span<const Array> arrays, std::vector<Recipe::View>& views) {
      for (const Array& array : arrays) {
        const std::int32_t slot = slot_read(array);
        use(slot).result = true;
        views.push_back({slot, without_memory(array)});
      }
    };
    name(ends_.outputs, recipe_->outputs_);
    name(ends_.gradients, recipe_->gradients_);
  }

  static Array without_memory(Array array) {
    array.storage = {};
    array.source = 0;
    return array;
  }

  // --- fewer calls ---

  Use& use(std::int32_t slot) { return uses_[static_cast<std::size_t>(slot)]; }
  Slot& slot_at(std::int32_t slot) { return recipe_->slots_[static_cast<std::size_t>(slot)]; }

  /// Written by one call and by nobody else, so its value is that of the call for good.
  bool is_value(std::int32_t slot) {
    return slot_at(slot).kind == Kind::made && use(slot).writes == 1;
  }
  /// Whatever reads it reads the same value.
  bool is_steady(std::int32_t slot) {
    return slot_at(slot).kind == Kind::made ? use(slot).writes == 1 : use(slot).writes == 0;
  }
  std::span<std::int32_t> inputs_of(std::size_t i) {
    return std::span(slots_of_calls_[i]).first(calls()[i]->inputs.size());
  }
  std::span<std::int32_t> outputs_of(std::size_t i) {
    return std::span(slots_of_calls_[i]).subspan(calls()[i]->inputs.size());
  }
  void leave_out(std::size_t i) { calls()[i].reset(); }

  /// What depends on no input has been computed while capturing, and is kept if it is small.
  void keep_constants() {
    for (std::size_t i = 0; i < calls().size(); ++i) {
      const Call& call = *calls()[i];
      if (!is_function_of_inputs(call) || call.op->may_fail) continue;
      const auto constant = [&](std::int32_t slot) { return slot < 0 || use(slot).from_host; };
      const auto keepable = [&](std::int32_t slot) {
        return is_value(slot) && !use(slot).result && slot_at(slot).bytes <= largest_constant;
      };
      const auto inputs = inputs_of(i), outputs = outputs_of(i);
      if (!std::ranges::all_of(inputs, constant) || !std::ranges::all_of(outputs, keepable))
        continue;
      for (const std::int32_t slot : outputs) {
        slot_at(slot).kind = Kind::outside;
        slot_at(slot).outside.storage = use(slot).storage;
        slot_at(slot).origins = use(slot).storage->origins;
        use(slot).from_host = true;
        use(slot).writes = 0;
      }
      leave_out(i);
    }
  }

  static void append(std::string& text, const void* data, std::size_t size) {
    text.append(static_cast<const char*>(data), size);
  }
  template <class T>
  static void append(std::string& text, const T& value) {
    append(text, &value, sizeof value);
  }
  static void append(std::string& text, const Layout& layout) {
    append(text, layout.rank());
    append(text, layout.shape().data(), layout.shape().size_bytes());
    append(text, layout.strides().data(), layout.strides().size_bytes());
  }

  /// Equal for calls that compute the same.
  std::string description(std::size_t i) {
    const Call& call = *calls()[i];
    std::string text;
    append(text, call.op);
    append(text, call.formula);
    append(text, call.function);
    append(text, call.row_axes);
    append(text, call.compute);
    append(text, call.reduced_axes);
    append(text, call.settled.bytes().data(), call.settled.bytes().size());
    for (std::size_t k = 0; k < call.inputs.size(); ++k) {
      const Operand& input = call.inputs[k];
      append(text, inputs_of(i)[k]);
      append(text, input.dtype);
      if (input.is_immediate()) {
        append(text, input.immediate.data(), size_of(input.dtype));
      } else {
        append(text, input.offset);
        append(text, *input.layout);
      }
    }
    for (const Operand& output : call.outputs) {
      append(text, output.dtype);
      append(text, *output.layout);
    }
    return text;
  }

  void read_merged(std::size_t i) {
    for (std::int32_t& slot : inputs_of(i)) {
      if (slot >= 0 && use(slot).same_as >= 0) slot = use(slot).same_as;
    }
  }

  void merge_equal(std::size_t begin, std::size_t end) {
    std::unordered_map<std::string, std::size_t> known;
    for (std::size_t i = begin; i < end; ++i) {
      if (!calls()[i]) continue;
      read_merged(i);
      const auto inputs = inputs_of(i), outputs = outputs_of(i);
      const auto own = [&](std::int32_t slot) { return is_value(slot) && !use(slot).result; };
      if (!is_function_of_inputs(*calls()[i]) || !std::ranges::all_of(outputs, own)) continue;
      if (!std::ranges::all_of(inputs,
                               [&](std::int32_t slot) { return slot < 0 || is_steady(slot); }))
        continue;
      const auto [found, is_new] = known.try_emplace(description(i), i);
      if (is_new) continue;
      const auto firsts = outputs_of(found->second);
      for (std::size_t k = 0; k < outputs.size(); ++k) use(outputs[k]).same_as = firsts[k];
      leave_out(i);
    }
    // The second part reads results of the first.
    for (std::size_t i = end; i < calls().size(); ++i) {
      if (calls()[i]) read_merged(i);
    }
  }

  void drop_unneeded() {
    needed_.assign(uses_.size(), false);
    for (const auto* views : {&recipe_->outputs_, &recipe_->gradients_}) {
      for (const Recipe::View& view : *views) needed_[static_cast<std::size_t>(view.slot)] = true;
    }
    for (std::size_t i = calls().size(); i-- > 0;) {
      if (!calls()[i]) continue;
      const auto outputs = outputs_of(i);
      const bool wanted = std::ranges::any_of(outputs, [&](std::int32_t slot) {
        return needed_[static_cast<std::size_t>(slot)] || slot_at(slot).kind != Kind::made;
      });
      if (!wanted) {
        leave_out(i);
        continue;
      }
      for (const std::int32_t slot : slots_of_calls_[i]) {
        if (slot >= 0) needed_[static_cast<std::size_t>(slot)] = true;
      }
    }
  }

  /// Results that stay the same while nobody writes to memory outside. They must not take much more
  /// than what they are made of: weights of 3 by 3 that are spread out to 6 by 6 take four times.
  void find_ahead() {
    constexpr std::int64_t most_growth = 6;
    for (std::size_t i = 0; i < calls().size(); ++i) {
      if (!calls()[i] || !is_function_of_inputs(*calls()[i]) || calls()[i]->op->may_fail) continue;
      const auto inputs = inputs_of(i), outputs = outputs_of(i);
      const auto is_known = [&](std::int32_t slot) {
        return slot < 0 || use(slot).ahead ||
               (slot_at(slot).kind == Kind::outside && is_steady(slot));
      };
      const auto is_kept = [&](std::int32_t slot) { return is_value(slot) && !use(slot).result; };
      if (!std::ranges::all_of(inputs, is_known) || !std::ranges::all_of(outputs, is_kept))
        continue;
      const auto bytes_of = [&](std::span<const std::int32_t> slots) {
        std::int64_t bytes = 0;
        for (const std::int32_t slot : slots) bytes += slot < 0 ? 0 : slot_at(slot).bytes;
        return bytes;
      };
      if (bytes_of(outputs) > most_growth * bytes_of(inputs) + largest_constant) continue;
      for (const std::int32_t slot : outputs) use(slot).ahead = true;
    }
  }

  bool is_ahead(std::size_t i) { return use(outputs_of(i)[0]).ahead; }

  // --- calls that go together ---

  /// Chains of rows are put side by side, to leave the window together.
  void join_chains(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (!calls()[i] || calls()[i]->goes_on || is_ahead(i)) continue;
      std::vector<std::size_t> members = chain_from(i, end);
      if (members.size() < 2) continue;
      for (std::size_t k = 0; k + 1 < members.size(); ++k) {
        Call& call = *calls()[members[k]];
        call.goes_on = true;
        call.passing = is_passing(outputs_of(members[k])[0], members);
      }
      move_to_last(members);
      --i;  // another call is here now
    }
  }

  std::vector<std::size_t> chain_from(std::size_t first, std::size_t end) {
    std::vector<std::size_t> members = {first};
    std::vector<Call*> chain = {calls()[first].get()};
    for (std::size_t i = first + 1; i < end && chain[0]->op->row_form; ++i) {
      if (!calls()[i] || calls()[i]->goes_on || is_ahead(i)) continue;
      const std::int32_t result = outputs_of(members.back())[0];
      if (std::ranges::find(inputs_of(i), result) == inputs_of(i).end()) continue;
      members.push_back(i);
      chain.push_back(calls()[i].get());
      if (row_chain(chain) && can_move_to_last(members)) continue;
      members.pop_back();
      chain.pop_back();
    }
    return members;
  }

  /// All members but the last change places with nobody that minds.
  bool can_move_to_last(std::span<const std::size_t> members) {
    const auto contains = [](std::span<const std::int32_t> slots, std::int32_t slot) {
      return slot >= 0 && std::ranges::find(slots, slot) != slots.end();
    };
    for (const std::size_t member : members.first(members.size() - 1)) {
      for (std::size_t i = member + 1; i < members.back(); ++i) {
        if (!calls()[i] || std::ranges::find(members, i) != members.end()) continue;
        for (const std::int32_t slot : slots_of_calls_[i]) {
          const bool written = contains(outputs_of(i), slot);
          if (contains(outputs_of(member), slot) || (written && contains(inputs_of(member), slot)))
            return false;
        }
      }
    }
    return true;
  }

  bool is_passing(std::int32_t slot, std::span<const std::size_t> members) {
    if (slot_at(slot).kind != Kind::made || use(slot).result) return false;
    for (std::size_t i = 0; i < calls().size(); ++i) {
      if (!calls()[i] || std::ranges::find(members, i) != members.end()) continue;
      if (std::ranges::find(slots_of_calls_[i], slot) != slots_of_calls_[i].end()) return false;
    }
    return true;
  }

  void move_to_last(std::span<const std::size_t> members) {
    std::size_t to = members.back();
    for (std::size_t k = members.size() - 1; k-- > 0;) {
      const auto move = [&](auto& list) {
        const auto first = list.begin() + static_cast<std::ptrdiff_t>(members[k]);
        std::rotate(first, first + 1, list.begin() + static_cast<std::ptrdiff_t>(to));
      };
      move(calls());
      move(slots_of_calls_);
      --to;
    }
  }

  void build() {
    std::unordered_set<std::int32_t> read_ahead, made_ahead;
    std::unordered_set<std::int32_t> made_in_second, kept;
    const auto keep_if_earlier = [&](std::int32_t slot) {
      const bool earlier = slot >= 0 && slot_at(slot).kind != Kind::head &&
                           !made_in_second.contains(slot) && !use(slot).from_host;
      if (earlier && kept.insert(slot).second) recipe_->kept_.push_back(slot);
    };
    for (std::size_t i = 0; i < calls().size(); ++i) {
      if (!calls()[i]) continue;
      const bool second = i >= first_part();
      const auto inputs = inputs_of(i), outputs = outputs_of(i);
      if (second) {
        std::ranges::for_each(inputs, keep_if_earlier);
        made_in_second.insert(outputs.begin(), outputs.end());
      }
      const bool ahead = is_ahead(i);
      for (const std::int32_t slot : inputs) {
        if (slot < 0) continue;
        if (ahead && slot_at(slot).kind == Kind::outside && read_ahead.insert(slot).second)
          recipe_->read_ahead_.push_back(slot);
        if (!ahead && use(slot).ahead && made_ahead.insert(slot).second)
          recipe_->made_ahead_.push_back(slot);
      }
      Recipe::Step step;
      step.call = std::move(calls()[i]);
      for (Operand& input : step.call->inputs) static_cast<Array&>(input) = without_memory(input);
      for (Operand& output : step.call->outputs)
        static_cast<Array&>(output) = without_memory(output);
      step.slots = std::move(slots_of_calls_[i]);
      (second  ? recipe_->differentiate_
       : ahead ? recipe_->ahead_
               : recipe_->compute_)
          .push_back(std::move(step));
    }
    for (const Recipe::View& view : recipe_->gradients_) keep_if_earlier(view.slot);
    std::vector<std::int32_t> used_later;
    for (const Recipe::Step& step : recipe_->compute_)
      used_later.insert(used_later.end(), step.slots.begin(), step.slots.end());
    find_lasts(recipe_->ahead_, recipe_->outputs_, used_later);
    find_lasts(recipe_->compute_, recipe_->outputs_, recipe_->kept_);
    find_lasts(recipe_->differentiate_, recipe_->gradients_, {});
    // What nothing reads any more need not be held.
    for (std::size_t slot = 0; slot < uses_.size(); ++slot) {
      if (!needed_[slot]) recipe_->slots_[slot].outside = {};
    }
  }

  static void find_lasts(std::vector<Recipe::Step>& steps, std::span<const Recipe::View> results,
                         std::span<const std::int32_t> kept) {
    std::unordered_set<std::int32_t> later(kept.begin(), kept.end());
    for (const Recipe::View& view : results) later.insert(view.slot);
    for (std::size_t i = steps.size(); i-- > 0;) {
      for (const std::int32_t slot : steps[i].slots) {
        if (slot >= 0 && later.insert(slot).second) steps[i].lasts.push_back(slot);
      }
    }
  }

  Capture& capture_;
  const Recipe::Ends& ends_;
  std::unique_ptr<Recipe> recipe_ = std::make_unique<Recipe>();
  std::unordered_map<const Storage*, std::int32_t> by_storage_;
  std::vector<Use> uses_;                                  // by slot
  std::vector<std::vector<std::int32_t>> slots_of_calls_;  // inputs, then outputs
  std::vector<bool> needed_;                               // by slot
};

std::unique_ptr<Recipe> Recipe::make(Capture& capture, const Ends& ends) {
  const auto written_down = [&](std::span<const Array> arrays) {
    std::vector<Array> result(arrays.begin(), arrays.end());
    for (Array& array : result) array.storage = capture.written_down(array.storage);
    return result;
  };
  const std::vector<Array> outputs = written_down(ends.outputs),
                           gradients = written_down(ends.gradients);
  return RecipeMaker(capture, {outputs, ends.heads, gradients}).make();
}

// --- issuing again ---

Recipe::Memory Recipe::start() const {
  Memory memory;
  memory.storages.resize(slots_.size());
  memory.shifts.resize(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].kind == Slot::Kind::outside) memory.storages[i] = slots_[i].outside.storage;
  }
  return memory;
}

void Recipe::prepare(Window& window, Memory& memory) const {
  if (ahead_.empty()) return;
  const auto storage_of = [&](std::int32_t slot) -> Reference<Storage>& {
    return memory.storages[static_cast<std::size_t>(slot)];
  };
  Ahead now;
  now.failures = FailureLog::count();
  bool is_shared = false;  // and may be written unseen
  for (const std::int32_t slot : read_ahead_) {
    const Storage& storage = *slots_[static_cast<std::size_t>(slot)].outside.storage;
    now.versions.push_back(storage.version);
    is_shared = is_shared || storage.is_shared();
  }
  if (!is_shared && kept_ahead_.storages.size() == made_ahead_.size() &&
      kept_ahead_.versions == now.versions && kept_ahead_.failures == now.failures) {
    for (std::size_t i = 0; i < made_ahead_.size(); ++i)
      storage_of(made_ahead_[i]) = kept_ahead_.storages[i];
    return;
  }
  // What is there for earlier versions goes first.
  kept_ahead_ = {};
  replay(window, ahead_, memory);
  if (is_shared) return;
  for (const std::int32_t slot : made_ahead_) now.storages.push_back(storage_of(slot));
  kept_ahead_ = std::move(now);
}

void Recipe::place(Memory& memory, std::int32_t slot, const Array& array) const {
  const auto index = static_cast<std::size_t>(slot);
  const Slot& placed = slots_[index];
  // Whatever went wrong before: nothing outside of what was given is touched.
  const std::int64_t start = array.offset * placed.item;
  if (start + placed.begin < 0 || start + placed.end > array.storage->bytes())
    throw Error(ErrorKind::index,
                "[hybridize] the block reads or writes beyond an array that it "
                "is given, which has " +
                    std::to_string(array.storage->bytes()) + " bytes");
  memory.storages[index] = array.storage;
  memory.shifts[index] = array.offset - placed.offset;
}

Array Recipe::at(const View& view, const Memory& memory) {
  const auto slot = static_cast<std::size_t>(view.slot);
  Array array = view.array;
  array.storage = memory.storages[slot];
  array.offset += memory.shifts[slot];
  return array;
}

void Recipe::replay(Window& window, std::span<const Step> steps, Memory& memory) const {
  for (const Step& step : steps) {
    Draft draft(*step.call->op);
    copy_call(*step.call, *draft);
    draft->goes_on = step.call->goes_on;
    draft->passing = step.call->passing;
    const std::int32_t* slot = step.slots.data();
    const auto fill = [&](Operand& operand) {
      if (*slot >= 0) {
        const auto index = static_cast<std::size_t>(*slot);
        Reference<Storage>& storage = memory.storages[index];
        if (!storage) storage = Storage::create(slots_[index].bytes, slots_[index].context);
        operand.storage = storage;
        operand.offset += memory.shifts[index];
      }
      ++slot;
    };
    for (Operand& input : draft->inputs) fill(input);
    for (Operand& output : draft->outputs) fill(output);
    if (draft->drawn_blocks) draw_random(*draft, draft->outputs[0].context(), draft->drawn_blocks);
    // Only the calls hold it now, so that its memory can be used again before the replay ends; when
    // the call runs, which may be at once, that is known.
    for (const std::int32_t last : step.lasts) memory.storages[static_cast<std::size_t>(last)] = {};
    issue_again(window, draft);
  }
}

Recipe::Results Recipe::compute(Window& window, std::span<const Array> inputs) const {
  Memory memory = start();
  for (std::size_t i = 0; i < inputs.size(); ++i) place(memory, inputs_[i], inputs[i]);
  prepare(window, memory);
  replay(window, compute_, memory);
  Results results;
  results.outputs.reserve(outputs_.size());
  for (const View& view : outputs_) results.outputs.push_back(at(view, memory));
  results.kept.reserve(kept_.size());
  for (const std::int32_t slot : kept_) {
    Array& kept = results.kept.emplace_back();
    kept.storage = memory.storages[static_cast<std::size_t>(slot)];
    // As if it were the captured one moved: place() takes the difference again.
    kept.offset = slots_[static_cast<std::size_t>(slot)].offset +
                  memory.shifts[static_cast<std::size_t>(slot)];
  }
  return results;
}

std::vector<Array> Recipe::differentiate(Window& window, std::span<const Array> kept,
                                         std::span<const Array> heads) const {
  Memory memory = start();
  for (std::size_t i = 0; i < kept.size(); ++i) place(memory, kept_[i], kept[i]);
  for (std::size_t i = 0; i < heads.size(); ++i) place(memory, heads_[i], heads[i]);
  replay(window, differentiate_, memory);
  std::vector<Array> gradients;
  gradients.reserve(gradients_.size());
  for (const View& view : gradients_) gradients.push_back(at(view, memory));
  return gradients;
}

bool Recipe::alias(std::span<const Array> inputs) const {
  if (!writes_outside_) return false;
  std::unordered_set<const Storage*> seen;
  for (const Slot& slot : slots_) {
    if (slot.outside.storage) seen.insert(slot.outside.storage.get());
  }
  return !std::ranges::all_of(
      inputs, [&](const Array& input) { return seen.insert(input.storage.get()).second; });
}

bool Recipe::has_new_origins() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) {
    return slot.outside.storage && slot.outside.storage->origins != slot.origins;
  });
}

std::vector<Array> Recipe::outside() const {
  std::vector<Array> arrays;
  arrays.reserve(slots_.size());
  for (const Slot& slot : slots_) {
    if (slot.outside.storage) arrays.push_back(slot.outside);
  }
  return arrays;
}

}  // namespace afterglow::lazy
