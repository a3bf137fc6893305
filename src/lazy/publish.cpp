// SPDX-License-Identifier: Apache-2.0
// How calls leave the window: dropped, run at once on this thread, or pushed to the engine.
#include <algorithm>
#include <utility>

#include "lazy/costs.h"
#include "lazy/debug.h"
#include "lazy/window.h"

namespace afterglow::lazy {
namespace {

// Calls in the engine that such a look takes in at most.
constexpr std::size_t most_looked_at = 256;

/// No unfinished task stands in the way of running the calls here and now.
bool unblocked(std::span<Call* const> calls) {
  return std::ranges::all_of(calls, [](const Call* call) {
    for (const Operand& input : call->inputs) {
      if (!input.is_immediate() && !input.storage->variable.readable()) return false;
    }
    for (const Operand& output : call->outputs) {
      if (!output.storage->variable.idle()) return false;
    }
    return true;
  });
}

int queue_of(const Call& call) {
  return afterglow::queue_of(call.outputs[0].storage->context());
}

/// A few calls that are neither fused nor worth a thread.
bool are_tiny(std::span<Call* const> calls, std::int64_t smallest_fused) {
  constexpr std::size_t few = 16;
  constexpr double tiny = 1e3;
  return calls.size() <= few && std::ranges::all_of(calls, [&](const Call* call) {
           if (call->cost >= tiny) return false;
           const auto is_small = [&](const Operand& operand) {
             return operand.is_immediate() || operand.size() < smallest_fused;
           };
           return std::ranges::all_of(call->inputs, is_small) &&
                  std::ranges::all_of(call->outputs, is_small);
         });
}

/// Numbers that were given to what waits for the host. Guarded by the window's lock.
std::int64_t last_awaited = 0;

/// A call of the host's may take as long as it likes, and wait for another process, which may wait
/// for this one. So what waits for it is put together only with what waits for the same, and
/// nothing else comes later than it could. Calls in program order.
void tell_what_is_awaited(std::span<Call* const> calls) {
  const auto is_of_host = [](const Call* call) { return call->host && call->host->runs_aside(); };
  if (!last_awaited && std::ranges::none_of(calls, is_of_host)) return;
  for (const Call* call : calls) {
    for_each_storage(*call, [](Storage& storage) {
      if (storage.variable.readable()) storage.notes.written_after = 0;
      if (storage.variable.idle()) storage.notes.read_after = 0;
    });
  }
  const auto both = [](std::int64_t left, std::int64_t right) {
    return !left || left == right ? right : right ? ++last_awaited : left;
  };
  for (Call* call : calls) {
    std::int64_t awaited = is_of_host(call) ? ++last_awaited : 0;
    for (const Operand& input : call->inputs) {
      if (!input.is_immediate()) awaited = both(awaited, input.storage->notes.written_after);
    }
    for (const Operand& output : call->outputs) {
      const Storage::Notes& notes = output.storage->notes;
      awaited = both(both(awaited, notes.written_after), notes.read_after);
    }
    call->awaited = awaited;
    for (const Operand& input : call->inputs) {
      if (input.is_immediate()) continue;
      std::int64_t& read_after = input.storage->notes.read_after;
      read_after = both(read_after, awaited);
    }
    for (const Operand& output : call->outputs) output.storage->notes.written_after = awaited;
  }
}

/// The storages that only this group, which is still pending, can read.
Dying dying_with(std::span<Call* const> group) {
  for (const Call* call : group) {
    for_each_storage(*call, [](Storage& storage) { ++storage.notes.slots_here; });
  }
  Dying dying;
  for (const Call* call : group) {
    for_each_storage(*call, [&](Storage& storage) {
      // Once for each storage: the first look takes the count away.
      const std::int32_t slots = std::exchange(storage.notes.slots_here, 0);
      if (slots && !storage.held_outside() && storage.variable.idle() &&
          storage.slots.pending == slots) {
        dying.add(storage);
      }
    });
  }
  dying.sort();
  return dying;
}

}  // namespace

std::vector<Call*> Window::take_pending() {
  std::vector<Call*> calls = pending_.take_all();
  held_.clear();
  return calls;
}

std::vector<Call*> Window::take_needed(Storage& target, bool to_write) {
  std::vector<Call*> calls = pending_.take_needed(target, to_write);
  pending_.empty() ? held_.clear() : held_.leave(calls);
  return calls;
}

void Window::drop_unobserved(bool also_in_engine) {
  if (!switches_.drop) return;
  Plan plan;  // tasks that have not started, each as one group, then pending calls
  std::vector<GroupTask*> tasks;
  std::unique_lock lock(tasks_, std::defer_lock);
  if (also_in_engine) {
    lock.lock();
    tasks = tasks_.waiting(most_looked_at);
    for (const GroupTask* task : tasks) {
      plan.calls.insert(plan.calls.end(), task->plan().calls.begin(), task->plan().calls.end());
      plan.ends.push_back(static_cast<std::uint32_t>(plan.calls.size()));
    }
  }
  plan.calls.reserve(plan.calls.size() + pending_.size());
  plan.ends.reserve(plan.ends.size() + pending_.size());
  for (Call* call : pending_.calls()) {
    plan.calls.push_back(call);
    plan.ends.push_back(static_cast<std::uint32_t>(plan.calls.size()));
  }
  const std::vector<bool> wanted = observed(plan);
  // Backwards, so that a task that gets away by starting finds what it depends on done.
  for (std::size_t i = tasks.size(); i-- > 0;) {
    if (!wanted[i]) tasks[i]->drop();
  }
  if (lock) lock.unlock();

  std::vector<Call*> kept;
  kept.reserve(most_pending);
  for (std::size_t i = tasks.size(); i < plan.groups(); ++i) {
    (wanted[i] ? kept : plan.dropped).push_back(plan.group(i)[0]);
  }
  if (plan.dropped.empty()) return;
  debug_plan("before drop", plan);
  pending_.keep(std::move(kept), plan.dropped);
  held_.leave(plan.dropped);
  plan.calls = pending_.calls();
  plan.separate();
  debug_plan("after drop", plan);
  PendingCalls::leave(plan.dropped);
  counters_.elsewhere.count_dropped(plan.dropped);
  end_in_batches(plan.dropped);
  debug_flush({.calls = plan.dropped.size(), .dropped = plan.dropped.size()});
  tasks_.add_finished(plan.dropped);
}

void Window::publish(std::vector<Call*> calls, bool inline_allowed) {
  if (inline_allowed && !debug_level() && are_tiny(calls, fuse_options_.smallest)) {
    // There is nothing to plan: one after another, up to one that has to wait for a task.
    std::size_t done = 0;
    while (done < calls.size() && run_at_once(std::span(calls).subspan(done, 1))) ++done;
    if (done) tasks_.add_finished(std::span(calls).first(done));
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(done));
  }
  if (calls.empty()) return;
  Plan plan;
  plan.calls = std::move(calls);
  plan.separate();
  tell_what_is_awaited(plan.calls);
  inline_allowed = inline_allowed && total_cost(plan.calls) < worth_a_thread;
  if (switches_.fuse && plan.calls.size() > 1 && !Meeting::any_incomplete()) {
    debug_plan("before fuse", plan);
    fuse(plan, fuse_options_);
    debug_plan("after fuse", plan);
  }
  std::size_t done = 0;
  std::vector<Call*> run_here;
  if (inline_allowed) {
    for (; done < plan.groups() && run_at_once(plan.group(done)); ++done) {
      const auto group = plan.group(done);
      run_here.insert(run_here.end(), group.begin(), group.end());
    }
  }
  const std::size_t tasks = push_groups(plan, done);
  // Only now: whoever sees that a storage has no pending calls sees the tasks they became.
  PendingCalls::leave(std::span(plan.calls).subspan(run_here.size()));
  if (debug_level()) {
    FlushReport report{.calls = plan.calls.size(), .groups = plan.groups()};
    for (std::size_t i = 0; i < plan.groups(); ++i) {
      if (plan.group(i).size() == 1) continue;
      ++report.fused_groups;
      report.fused_calls += plan.group(i).size();
    }
    report.run_here = done;
    report.tasks = tasks;
    debug_flush(report);
  }
  if (!run_here.empty()) tasks_.add_finished(run_here);
}

bool Window::run_at_once(std::span<Call* const> group, int most_shares) {
  if (!unblocked(group)) return false;
  const Dying dying = group.size() > 1 ? dying_with(group) : Dying();
  if (!run_group(group, run_terms(false), dying, most_shares)) return false;
  PendingCalls::leave(group);
  counters_.here.count_run(group);
  end_in_batches(group);
  counters_.here.count_pass(group.size());
  return true;
}

// Tiny groups go to the engine together, those of each device by themselves. A group joins what it
// depends on, so that program order is kept; where that is on another device it joins those that
// came from there, too. Groups that depend on nothing are dealt out, so that independent chains run
// side by side.
std::size_t Window::push_groups(const Plan& plan, std::size_t first) {
  struct Bundle {
    Plan plan;
    int queue;
    int after = -1;  // the bundle of another device from which its first group came
    double cost = 0;
    std::int64_t awaited = 0;
    bool open = true;
    bool root = false;
  };
  std::vector<Bundle> bundles;
  const auto has_room = [](const Bundle& bundle) {
    return bundle.open && bundle.cost < worth_a_thread;
  };
  int roots = 0;
  const bool separate = Meeting::any_incomplete();
  const bool worth_dealing = total_cost(plan.calls) >= 2 * worth_a_thread;
  for (std::size_t i = first; i < plan.groups(); ++i) {
    const auto group = plan.group(i);
    const double cost = total_cost(group);
    const int queue = queue_of(*group[0]);
    const std::int64_t awaited = group[0]->awaited;
    int chosen = -1;
    for (const Call* call : group) {
      for (const Operand& input : call->inputs) {
        if (!input.is_immediate()) chosen = std::max(chosen, input.storage->notes.last_writer);
      }
      for (const Operand& output : call->outputs) {
        chosen = std::max(chosen, output.storage->notes.last_toucher);
      }
    }
    const bool root = chosen < 0;
    const bool alone = cost >= large_call || separate;
    if (root && !alone && (roots >= engine_->thread_limit() || !worth_dealing)) {
      for (int other = 0; other < static_cast<int>(bundles.size()); ++other) {
        if (!bundles[other].root || !has_room(bundles[other]) || bundles[other].queue != queue ||
            bundles[other].awaited != awaited)
          continue;
        if (chosen < 0 || bundles[other].cost < bundles[chosen].cost) chosen = other;
      }
    }
    const int last = static_cast<int>(bundles.size());
    int after = -1;
    if (chosen >= 0 && bundles[chosen].queue != queue) {
      after = chosen;
      chosen = last - 1;
      while (chosen > after && (bundles[chosen].queue != queue || bundles[chosen].after != after ||
                                bundles[chosen].awaited != awaited))
        --chosen;
      if (chosen == after) chosen = -1;
    }
    if (chosen < 0 || alone || !has_room(bundles[chosen]) || bundles[chosen].awaited != awaited) {
      chosen = last;
      Bundle& added = bundles.emplace_back();
      added.queue = queue;
      added.after = after;
      added.awaited = awaited;
      added.plan.calls.reserve(plan.calls.size());
      added.plan.ends.reserve(plan.groups());
      added.open = !alone;
      added.root = root && !alone;
      roots += root && !alone;
    }
    Bundle& bundle = bundles[chosen];
    bundle.plan.calls.insert(bundle.plan.calls.end(), group.begin(), group.end());
    bundle.plan.ends.push_back(static_cast<std::uint32_t>(bundle.plan.calls.size()));
    bundle.cost += cost;
    for (const Call* call : group) {
      for (const Operand& input : call->inputs) {
        if (input.is_immediate()) continue;
        auto& notes = input.storage->notes;
        notes.last_toucher = std::max(notes.last_toucher, chosen);
      }
      for (const Operand& output : call->outputs) {
        output.storage->notes.last_writer = output.storage->notes.last_toucher = chosen;
      }
    }
  }
  for (const Call* call : plan.calls) {
    for_each_storage(*call, [](Storage& storage) {
      storage.notes.last_writer = storage.notes.last_toucher = -1;
    });
  }
  for (Bundle& bundle : bundles) push(std::move(bundle.plan), bundle.cost);
  return bundles.size();
}

void Window::push(Plan plan, double cost) {
  std::vector<engine::Variable*> reads, writes;
  reads.reserve(2 * plan.calls.size());
  writes.reserve(plan.calls.size());
  for (const Call* call : plan.calls) {
    for (const Operand& input : call->inputs) {
      if (!input.is_immediate()) reads.push_back(&input.storage->variable);
    }
    for (const Operand& output : call->outputs) writes.push_back(&output.storage->variable);
  }
  const int queue = queue_of(*plan.calls[0]);
  HostFunction* const host = plan.calls[0]->host.get();  // such calls are never put together
  const bool aside = host && host->runs_aside();
  const auto push_task = [&](bool held) {
    return engine_->push(std::make_unique<GroupTask>(*this, std::move(plan), cost), reads, writes,
                         {.priority = 0, .queue = queue, .aside = aside, .held = held});
  };
  host ? host->push(*engine_, push_task) : void(push_task(false));
}

}  // namespace afterglow::lazy
