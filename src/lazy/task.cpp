// SPDX-License-Identifier: Apache-2.0
#include "lazy/task.h"

#include <exception>

#include "lazy/debug.h"
#include "lazy/trace.h"
#include "lazy/window.h"

namespace afterglow::lazy {

bool run_group(std::span<Call* const> group, const RunTerms& terms, const Dying& dying,
               int most_shares) noexcept {
  trace::Running running(group, 0);
  const auto run_all = [&](auto&& run) {
    const int shares = run.prepare(terms, dying);
    if (shares == engine::not_now || shares > most_shares) {
      running.forget();
      return false;
    }
    for (int share = 0; share < shares; ++share) run.run(share);
    run.finish();
    return true;
  };
  return group.size() == 1 ? run_all(CallRun(*group[0])) : run_all(FusedRun(group));
}

GroupTask::GroupTask(Window& window, Plan plan, double cost)
    : window_(window), plan_(std::move(plan)), cost_(cost) {
  window_.task_made(*this);
}

// Poisons what the calls would have written, so that nobody takes it for a value.
void GroupTask::abandon(const std::exception_ptr& reason) {
  if (state_ == State::dropped) return;
  for (Call* call : plan_.calls) poison(*call, reason);
}

// The engine destroys a task after it has let go of the variables: only now may storages be freed.
GroupTask::~GroupTask() {
  window_.task_gone(*this, state_ == State::started);
}

// "add", or "add+exp+2 more"
std::string GroupTask::label() const {
  const std::span<Call* const> calls = plan_.calls;
  constexpr std::size_t most_named = 4;
  std::string label;
  for (std::size_t i = 0; i < calls.size() && i < most_named; ++i) {
    if (i) label.push_back('+');
    label += calls[i]->op->name;
  }
  if (calls.size() > most_named) {
    label.push_back('+');
    label += std::to_string(calls.size() - most_named) + " more";
  }
  return label;
}

bool GroupTask::drop() {
  State expected = State::waiting;
  return state_.compare_exchange_strong(expected, State::dropped);
}

int GroupTask::prepare(bool must) {
  try {
    return begin(must);
  } catch (...) {
    // STATE CHANGE: to started, unless it was dropped. The results have no memory, so that whoever
    // reads them must be told.
    State expected = State::waiting;
    state_.compare_exchange_strong(expected, State::started);
    if (expected == State::dropped) return 0;
    for (Call* call : plan_.calls) fail_with_current_exception(*call, window_.run_terms(must).log);
    return 0;
  }
}

int GroupTask::begin(bool must) {
  dying_ = window_.look_before_start(*this);
  State expected = State::waiting;
  if (!state_.compare_exchange_strong(expected, State::started)) return 0;
  debug_task(*this);
  const RunTerms terms = window_.run_terms(must);
  if (plan_.groups() > 1) {
    if (take_buffers() || must) return 1;
    state_ = State::waiting;
    return engine::not_now;
  }
  const int shares =
      plan_.calls.size() == 1
          ? single_.emplace(*plan_.calls[0]).prepare(terms, dying_[0])
          : (fused_ = std::make_unique<FusedRun>(plan_.calls))->prepare(terms, dying_[0]);
  // STATE CHANGE: started -> waiting. Nothing has been written: it may still be dropped.
  if (shares == engine::not_now) state_ = State::waiting;
  return shares;
}

/// Of all results that groups leave in memory; all or none. What is missing then is a failure of
/// the call itself.
bool GroupTask::take_buffers() {
  std::vector<Storage*> taken;
  try {
    for (std::size_t i = 0; i < plan_.groups(); ++i) {
      for (const Call* call : plan_.group(i)) {
        for (const Operand& output : call->outputs) {
          Storage& storage = *output.storage;
          const Dying& dying = dying_[i];
          const bool passing = plan_.group(i).size() > 1 && dying.contains(storage);
          if (storage.data() || passing) continue;
          storage.take_buffer();
          taken.push_back(&storage);
        }
      }
    }
  } catch (const std::exception&) {
    for (Storage* storage : taken) storage->release_buffer();
    return false;
  }
  return true;
}

void GroupTask::run(int share) {
  if (single_ || fused_) {
    const trace::Running running(plan_.calls, share);
    return single_ ? single_->run(share) : fused_->run(share);
  }
  for (std::size_t i = 0; i < plan_.groups(); ++i) {
    run_group(plan_.group(i), window_.run_terms(true), dying_[i]);
  }
}

void GroupTask::finish() {
  if (state_ != State::started) return;
  if (single_) single_->finish();
  if (fused_) fused_->finish();
  window_.look_after_end(*this);
}

}  // namespace afterglow::lazy
