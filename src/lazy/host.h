// SPDX-License-Identifier: Apache-2.0
// Calls whose work is a function of the host language. They are queued, ordered, dropped and fail
// like all others; only what they compute is not known to the core.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "lazy/op.h"

namespace afterglow::lazy {

/// Destroyed with the issuing right, like the call that owns it.
class HostFunction {
 public:
  virtual ~HostFunction() = default;
  /// Computes the outputs, whose buffers are there. Throws what poisons them. May wait for the host
  /// language's own lock, so it runs aside (engine.h) and never under a lock of ours.
  virtual void run(const Call& call) = 0;
  /// The call will not run, since an input is poisoned or it lacks memory; `why` is in words.
  /// Called as run() would be, and must not throw.
  virtual void skip(const std::string& /*why*/) noexcept {}

  // --- for those of our own (meeting.h) ---
  virtual bool runs_aside() const { return true; }
  /// Others may wait for it whom no variable tells of: it is not kept in the window.
  virtual bool is_awaited() const { return false; }
  using Push = std::function<std::uint64_t(bool held)>;
  /// Lets the task be pushed, which returns its number.
  virtual void push(engine::Engine&, const Push& push) { push(false); }
};

/// The kernel of such ops.
std::unique_ptr<Pass> host_pass(const Call& call);

/// Makes an op one that the host language computes. Issued without a function of the host, as a
/// front end in another language would, it is refused.
void compute_on_host(Op& op);

}  // namespace afterglow::lazy
