// SPDX-License-Identifier: Apache-2.0
#include "lazy/passes/fuse.h"

#include <algorithm>
#include <utility>

#include "kernels/program.h"
#include "lazy/row_chain.h"

namespace afterglow::lazy {

int split_of_reduction(const Call& call) {
  const std::uint32_t reduced = call.reduced_axes;
  const int rank = call.inputs[0].layout->rank();
  int split = rank;
  while (split > 0 && (reduced >> (split - 1) & 1u)) --split;
  const bool only_last = (reduced & ((std::uint64_t{1} << split) - 1)) == 0;
  return only_last && split < rank ? split : -1;
}

bool repeats_rows(const Operand& operand, const Layout& shape, int split) {
  if (!same_shape(*operand.layout, shape)) return false;
  const auto strides = operand.layout->strides();
  std::int64_t expected = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const std::int64_t extent = shape.shape()[axis];
    if (extent == 1) continue;
    if (strides[axis] != (axis >= split ? 0 : expected)) return false;
    if (axis < split) expected *= extent;
  }
  return true;
}

namespace {

/// How a call takes part in a group.
enum class Role { none, full, per_row, fold, product };

/// A group in the making. Its members are chained through Fusion::next_.
struct Gathering {
  int first = -1, last = -1;  // of its calls; none when it has been merged into another
  int after = -1;             // the last group that it depends on
  const Layout* space = nullptr;
  Context context{};
  int split = -1;
  std::int64_t rows = 0, columns = 0;
  int steps = 0, operands = 0;
  bool open = false;
  bool product = false;
  bool by_rows = false;  // a chain of rows, led by a product
};

class Fusion {
 public:
  Fusion(Plan& plan, const FuseOptions& options)
      : plan_(plan), options_(options), next_(plan.calls.size(), -1) {
    gatherings_.reserve(plan.calls.size());
  }

  void run() {
    for (int index = 0; index < static_cast<int>(plan_.calls.size()); ++index) place(index);
    for (const Call* call : plan_.calls) {
      for_each_storage(*call, [](Storage& storage) {
        storage.notes.last_writer = storage.notes.last_toucher = -1;
      });
    }
    std::vector<Call*> calls;
    calls.reserve(plan_.calls.size());
    plan_.ends.clear();
    for (const Gathering& gathering : gatherings_) {
      if (gathering.first < 0) continue;
      for (int index = gathering.first; index >= 0; index = next_[index]) {
        calls.push_back(plan_.calls[index]);
      }
      plan_.ends.push_back(static_cast<std::uint32_t>(calls.size()));
    }
    plan_.calls.swap(calls);
  }

 private:
  /// Where a group has gone that was merged into another.
  int resolved(int group) const {
    while (group >= 0 && merged_into_[group] >= 0) group = merged_into_[group];
    return group;
  }

  /// The last group that may have touched a storage whose last toucher this was. Where that one has
  /// moved, groups between its old and its new place may have touched it as well.
  int last_touching(int group) const {
    while (group >= 0 && merged_into_[group] >= 0) --group;
    return group;
  }

  /// Calls `visit` with each group that the call depends on.
  template <class Visit>
  void for_each_dependency(const Call& call, Visit&& visit) const {
    for (const Operand& input : call.inputs) {
      if (!input.is_immediate()) visit(resolved(input.storage->notes.last_writer));
    }
    for (const Operand& output : call.outputs) {
      visit(last_touching(output.storage->notes.last_toucher));
    }
  }

  /// Puts a call into the best group that comes no earlier than anything the call depends on.
  void place(int index) {
    const Call& call = *plan_.calls[index];
    int earliest = -1, second = -1, nearest = -1;
    const auto find_dependencies = [&] {
      earliest = second = -1;
      for_each_dependency(call, [&](int group) {
        if (group > earliest)
          second = std::exchange(earliest, group);
        else if (group < earliest)
          second = std::max(second, group);
      });
    };
    find_dependencies();
    // Two groups that both feed the call become one, if the later does not need to be later.
    while (second >= 0 && gatherings_[earliest].after <= second && merge(earliest, second)) {
      find_dependencies();
    }
    for (const Operand& input : call.inputs) {
      if (!input.is_immediate()) {
        nearest = std::max(nearest, resolved(input.storage->notes.last_toucher));
      }
    }
    int chosen = -1;
    if (earliest >= 0 && joins(gatherings_[earliest], call)) {
      chosen = earliest;
    } else if (nearest > earliest && gatherings_[nearest].open && !gatherings_[nearest].product &&
               gatherings_[nearest].space->size() >= options_.parallel &&
               joins(gatherings_[nearest], call)) {
      chosen = nearest;
    }
    if (chosen < 0) {
      chosen = static_cast<int>(gatherings_.size());
      gatherings_.push_back(started_by(call));
      merged_into_.push_back(-1);
    }
    add(chosen, index, call);
  }

  /// Moves all calls of `later` to the end of `earlier`. They depend on nothing that comes after
  /// `earlier`, and nothing between the two depends on them, or it would come after them.
  bool merge(int later, int earlier) {
    const Gathering before = gatherings_[earlier];
    Gathering& target = gatherings_[earlier];
    Gathering& source = gatherings_[later];
    if (!target.open || !source.open || source.product || target.by_rows) return false;
    for (int index = source.first; index >= 0; index = next_[index]) {
      const Call& call = *plan_.calls[index];
      if (!joins_elements(target, call)) {
        target = before;
        return false;
      }
      target.steps += 1;
      target.operands += 1 + static_cast<int>(call.inputs.size());
    }
    // What `later` depends on besides `earlier` comes before that.
    const int after = source.after == earlier ? earlier - 1 : source.after;
    target.after = std::max(target.after, after);
    next_[target.last] = source.first;
    target.last = source.last;
    source.first = source.last = -1;
    source.open = false;
    merged_into_[later] = earlier;
    return true;
  }

  void add(int chosen, int index, const Call& call) {
    Gathering& gathering = gatherings_[chosen];
    for_each_dependency(call, [&](int group) {
      if (group != chosen) gathering.after = std::max(gathering.after, group);
    });
    for (const Operand& output : call.outputs) {
      const auto& notes = output.storage->notes;
      // The group reads it as well, and so may any group before.
      if (last_touching(notes.last_toucher) == chosen && resolved(notes.last_writer) != chosen) {
        gathering.after = std::max(gathering.after, chosen - 1);
      }
    }
    if (gathering.first < 0) {
      gathering.first = index;
    } else {
      next_[gathering.last] = index;
    }
    gathering.last = index;
    ++gathering.steps;
    ++gathering.operands;
    for (const Operand& input : call.inputs) {
      // What the group itself has written need not be loaded.
      if (input.is_immediate() || resolved(input.storage->notes.last_writer) != chosen) {
        ++gathering.operands;
      }
      if (input.is_immediate()) continue;
      auto& notes = input.storage->notes;
      notes.last_toucher = std::max(last_touching(notes.last_toucher), chosen);
    }
    for (const Operand& output : call.outputs) {
      output.storage->notes.last_writer = output.storage->notes.last_toucher = chosen;
    }
  }

  /// A copy to another device is a task of its own, which runs beside what both compute.
  static bool changes_device(const Call& call) {
    return call.formula == kernels::Formula::copy && call.is_elementwise() &&
           !call.inputs[0].is_immediate() &&
           !(call.inputs[0].context() == call.outputs[0].context());
  }

  static bool can_fuse(const Call& call) {
    return !call.op->may_fail && !call.injected_failure && !changes_device(call) &&
           (call.op->kernel_then ||
            (call.outputs.size() == 1 && (call.is_elementwise() || call.op->reduction)));
  }

  Gathering started_by(const Call& call) const {
    Gathering gathering;
    gathering.context = call.outputs[0].context();
    if (!can_fuse(call)) return gathering;
    if (call.op->reduction) {
      gathering.space = call.inputs[0].layout.get();
      const int split = split_of_reduction(call);
      gathering.open =
          split >= 0 && set_split(gathering, split) && suits(gathering, call.inputs[0]);
    } else {
      gathering.space = call.outputs[0].layout.get();
      gathering.product = !call.is_elementwise();
      gathering.open =
          gathering.product ? set_split(gathering, call.row_axes) : fits_space(gathering, call);
    }
    gathering.open =
        gathering.open && gathering.space->size() >= std::max<std::int64_t>(1, options_.smallest);
    return gathering;
  }

  static bool set_split(Gathering& gathering, int split) {
    const auto shape = gathering.space->shape();
    gathering.split = split;
    gathering.rows = gathering.columns = 1;
    for (int axis = 0; axis < gathering.space->rank(); ++axis) {
      (axis < split ? gathering.rows : gathering.columns) *= shape[axis];
    }
    return gathering.columns > 1 && gathering.space->size() > 0;
  }

  /// The strides of a full operand can be walked as rows and columns, where the group needs that.
  static bool suits(const Gathering& gathering, const Operand& operand) {
    return gathering.split < 0 || operand.layout->is_contiguous() ||
           kernels::joins_at(gathering.split, gathering.space->rank(),
                             gathering.space->shape().data(), operand.layout->strides().data());
  }

  static bool is_scalar(const Gathering& gathering, const Operand& operand) {
    return operand.is_immediate() || (operand.size() == 1 && gathering.space->size() != 1);
  }

  static bool fits_space(const Gathering& gathering, const Call& call) {
    const auto fits = [&](const Operand& operand) {
      return is_scalar(gathering, operand) ||
             (same_shape(*operand.layout, *gathering.space) && suits(gathering, operand));
    };
    return std::ranges::all_of(call.inputs, fits) && fits(call.outputs[0]);
  }

  /// One value per row as a contiguous array: the rows' own shape, with or without axes of one
  /// element in place of the columns.
  static bool is_row_array(const Gathering& gathering, const Operand& operand) {
    const Layout& layout = *operand.layout;
    if (!layout.is_contiguous() || layout.size() != gathering.rows) return false;
    if (layout.rank() != gathering.split && layout.rank() != gathering.space->rank()) return false;
    return std::equal(layout.shape().begin(), layout.shape().begin() + gathering.split,
                      gathering.space->shape().begin());
  }

  Role role_in(const Gathering& gathering, const Call& call) const {
    if (call.op->reduction) {
      const Operand& input = call.inputs[0];
      const int split = split_of_reduction(call);
      if (gathering.product || split < 0 || (gathering.split >= 0 && gathering.split != split))
        return Role::none;
      if (!same_shape(*input.layout, *gathering.space)) return Role::none;
      if (gathering.split >= 0) return suits(gathering, input) ? Role::fold : Role::none;
      // The group so far knows no rows and columns; all of it must be walkable that way.
      Gathering with_split = gathering;
      if (!set_split(with_split, split) || !suits(with_split, input)) return Role::none;
      for (int index = gathering.first; index >= 0; index = next_[index]) {
        if (!fits_space(with_split, *plan_.calls[index])) return Role::none;
      }
      return Role::fold;
    }
    if (!call.is_elementwise()) return Role::none;
    if (same_shape(*call.outputs[0].layout, *gathering.space)) {
      return fits_space(gathering, call) ? Role::full : Role::none;
    }
    if (gathering.split <= 0 || gathering.product || gathering.columns > kernels::longest_row)
      return Role::none;
    const auto per_row = [&](const Operand& operand) {
      return is_scalar(gathering, operand) || is_row_array(gathering, operand);
    };
    const bool all =
        std::ranges::all_of(call.inputs, per_row) && is_row_array(gathering, call.outputs[0]);
    return all && gathering.rows > 1 ? Role::per_row : Role::none;
  }

  static Role role_of_member(const Gathering& gathering, const Call& call) {
    if (call.op->reduction) return Role::fold;
    if (!call.is_elementwise()) return Role::product;
    return same_shape(*call.outputs[0].layout, *gathering.space) ? Role::full : Role::per_row;
  }

  bool joins(Gathering& gathering, const Call& call) {
    if (!gathering.by_rows && joins_elements(gathering, call)) return true;
    return gathering.open && gathering.product && joins_rows(gathering, call);
  }

  /// The group would be a chain of rows with it.
  bool joins_rows(Gathering& gathering, const Call& call) {
    if (!call.is_elementwise() && !call.op->row_form) return false;
    std::vector<Call*> chain;
    for (int index = gathering.first; index >= 0; index = next_[index])
      chain.push_back(plan_.calls[index]);
    chain.push_back(const_cast<Call*>(&call));
    if (!row_chain(chain)) return false;
    gathering.by_rows = true;
    return true;
  }

  bool joins_elements(Gathering& gathering, const Call& call) {
    if (!gathering.open || !can_fuse(call) || !(gathering.context == call.outputs[0].context()))
      return false;
    if (gathering.steps >= kernels::most_steps ||
        gathering.operands + static_cast<int>(call.inputs.size()) + 1 > kernels::most_operands) {
      return false;
    }
    const Role role = role_in(gathering, call);
    if (role == Role::none) return false;
    const int group = static_cast<int>(&gathering - gatherings_.data());
    const bool reads_agree = std::ranges::all_of(call.inputs, [&](const Operand& input) {
      return input.is_immediate() || resolved(input.storage->notes.last_writer) < group ||
             reads_what_is_there(gathering, role, input);
    });
    const Operand& output = call.outputs[0];
    if (!reads_agree || !(last_touching(output.storage->notes.last_toucher) < group ||
                          writes_what_is_there(gathering, role, output))) {
      return false;
    }
    if (role == Role::fold && gathering.split < 0) set_split(gathering, split_of_reduction(call));
    return true;
  }

  /// A product may have results beside the one that is handed on: nobody can tell when they are
  /// there.
  static bool touches_other_results(const Call& member, const Operand& operand) {
    return std::any_of(member.outputs.begin() + 1, member.outputs.end(), [&](const Operand& other) {
      return other.storage.get() == operand.storage.get() && may_overlap(operand, other);
    });
  }

  /// What the group has written of the input's storage is exactly the input, or nothing of it.
  bool reads_what_is_there(const Gathering& gathering, Role role, const Operand& input) const {
    for (int index = gathering.first; index >= 0; index = next_[index]) {
      const Call& member = *plan_.calls[index];
      if (touches_other_results(member, input)) return false;
      const Operand& written = member.outputs[0];
      if (written.storage.get() != input.storage.get() || !may_overlap(input, written)) continue;
      const Role wrote = role_of_member(gathering, member);
      if (wrote == Role::full || wrote == Role::product) {
        if (role == Role::per_row || !same_view(input, written)) return false;
        continue;
      }
      if (gathering.columns > kernels::longest_row) return false;
      if (input.offset != written.offset || input.dtype != written.dtype) return false;
      const bool matches = role == Role::per_row
                               ? is_row_array(gathering, input)
                               : repeats_rows(input, *gathering.space, gathering.split);
      if (!matches) return false;
    }
    return true;
  }

  /// Whatever the group has read or written of the output's storage is exactly the output, or
  /// nothing of it.
  bool writes_what_is_there(const Gathering& gathering, Role role, const Operand& output) const {
    const bool full = role == Role::full;
    for (int index = gathering.first; index >= 0; index = next_[index]) {
      const Call& member = *plan_.calls[index];
      if (touches_other_results(member, output)) return false;
      const Role its = role_of_member(gathering, member);
      const auto agrees = [&](const Operand& other, bool other_is_full) {
        if (other.is_immediate() || other.storage.get() != output.storage.get()) return true;
        if (!may_overlap(other, output)) return true;
        return full == other_is_full && other.layout->size() == output.layout->size() &&
               same_view(other, output);
      };
      for (const Operand& input : member.inputs) {
        // A product reads its factors whole, before and after its parts are handed on.
        if (its == Role::product && may_overlap(input, output)) return false;
        if (!agrees(input, its != Role::per_row)) return false;
      }
      if (!agrees(member.outputs[0], its == Role::full || its == Role::product)) return false;
    }
    return true;
  }

  Plan& plan_;
  const FuseOptions& options_;
  std::vector<int> next_;
  std::vector<Gathering> gatherings_;
  std::vector<int> merged_into_;  // -1 for a group that has not been merged
};

}  // namespace

void fuse(Plan& plan, const FuseOptions& options) {
  Fusion(plan, options).run();
}

}  // namespace afterglow::lazy
