// SPDX-License-Identifier: Apache-2.0
// What the window hands to the engine: one group of calls in shares, or several tiny groups in a
// row.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/list.h"
#include "lazy/fused.h"
#include "lazy/plan.h"
#include "lazy/run.h"

namespace afterglow::lazy {

class Window;

class GroupTask : public engine::Task {
 public:
  GroupTask(Window& window, Plan plan, double cost);
  ~GroupTask() override;

  int prepare(bool must) override;
  void run(int share) override;
  void finish() override;
  void abandon(const std::exception_ptr& reason) override;
  std::string label() const override;

  const Plan& plan() const { return plan_; }
  double cost() const { return cost_; }
  /// STATE CHANGE: waiting -> dropped, unless it has been started. True when dropped.
  bool drop();
  bool is_waiting() const { return state_ == State::waiting; }

  engine::Link<GroupTask> link{};  ///< the window's

 private:
  enum class State { waiting, started, dropped };
  int begin(bool must);
  bool take_buffers();

  Window& window_;
  Plan plan_;
  const double cost_;
  std::atomic<State> state_{State::waiting};
  std::optional<CallRun> single_;
  /// Made by the thread that runs it: two kilobytes from one thread's heap that another gives back
  /// make both wait.
  std::unique_ptr<FusedRun> fused_;
  std::vector<Dying> dying_;  ///< one for each group
};

/// Runs a group at once on this thread. False when it should be put off, which only happens where
/// the terms allow it, or when it takes more than so many shares.
bool run_group(std::span<Call* const> group, const RunTerms& terms, const Dying& dying,
               int most_shares = std::numeric_limits<int>::max()) noexcept;

}  // namespace afterglow::lazy
