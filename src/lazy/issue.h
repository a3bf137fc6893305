// SPDX-License-Identifier: Apache-2.0
// Issuing a call: infer, make the outputs, join the window, return. Nothing is computed here.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lazy/call.h"
#include "lazy/capture.h"
#include "lazy/composing.h"
#include "lazy/layer.h"
#include "lazy/trace.h"
#include "lazy/window.h"

namespace afterglow::lazy {

struct IssueOptions {
  std::span<const Argument> arguments = {};  ///< one per parameter of the op, defaults filled in
  bool legacy = false;
  Context context = {};        ///< for ops without inputs
  const Array* out = nullptr;  ///< write there instead of into a new array; one output only
};

/// A call that is being put together; gives its operands back if the issue fails.
class Draft {
 public:
  explicit Draft(const Op& op) : call_(Call::create()) {
    trace::note_begin();
    call_->op = &op;
    call_->outer = Composing::of_thread();
    call_->layer = current_layer;
  }
  ~Draft() {
    if (call_) Call::destroy(call_);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  Call& operator*() { return *call_; }
  Call* operator->() { return call_; }
  Call* release() { return std::exchange(call_, nullptr); }

 private:
  Call* call_;
};

/// Issues the draft (op, inputs and site filled in) and returns its first output; the others are
/// added to `more_outputs`, which an op that has several needs. Throws Error at once for wrong
/// arguments. Needs the issuing right.
Array issue(Window& window, Draft& draft, const IssueOptions& options,
            std::vector<Array>* more_outputs = nullptr);

/// Issues a draft whose outputs are settled: nothing is inferred or checked. Needs the issuing
/// right.
void issue_again(Window& window, Draft& draft);

/// A call of an op whose inputs are arrays, and its results, written down and not issued. Needs the
/// issuing right, as do copies.
OwnedCall inferred(const Op& op, std::span<const Array> inputs,
                   std::span<const Argument> arguments);
/// out[...] = source, likewise.
OwnedCall copying(const Array& source, const Array& out);

/// For tests: the call issued after that many others fails when it runs.
void inject_failure(std::int64_t calls_from_now, ErrorKind kind);

}  // namespace afterglow::lazy
