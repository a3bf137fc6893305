// SPDX-License-Identifier: Apache-2.0
// What was computed from what, while recording. A node keeps its inputs alive as far as its
// gradient rule reads them; nodes are kept alive by the arrays they made. All of it needs the
// issuing right.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "lazy/call.h"

namespace afterglow::autograd {

struct Node;

/// Where an array comes from: an output of a recorded call, or a variable. Empty for constants.
struct Origin {
  /// Instead of `output` where there is no node: made while recording, but of nothing that has a
  /// gradient.
  static constexpr int constant = -1;

  Reference<Node> node;
  int output = 0;

  explicit operator bool() const { return static_cast<bool>(node); }
  /// Gradients of calls to come go there. What a backward pass has used up is a constant to them,
  /// as in MXNet: a state that one batch hands to the next.
  bool leads_on() const;
  /// And do not end before a variable, at an op whose gradient is zero.
  bool passes_gradients() const;
};

/// What becomes of the gradient of a variable.
enum class Request : std::uint8_t { none, write, add };

/// An array as a call saw or left it.
struct Saved {
  Origin origin;
  lazy::Operand value;       ///< without storage unless a rule reads it, or for a number
  Reference<Layout> layout;  ///< none for a number
  DType dtype = DType::float32;
  Context context;
  std::uint32_t version = 0;     ///< of the storage, when it was saved
  bool passes_gradients = true;  ///< of an input; else what it came from has none of this call

  bool is_number() const { return !layout; }
  bool has_value() const { return static_cast<bool>(value.storage) || is_number(); }
  /// Somebody has written to the memory since.
  bool is_stale() const { return value.storage && value.storage->version != version; }
};

/// What else the gradients of a call need; destroyed with the issuing right.
class Keep {
 public:
  virtual ~Keep() = default;
};

struct Node : Counted {
  const lazy::Op* op = nullptr;  ///< none for a variable
  bool legacy = false;
  std::vector<lazy::Argument> arguments;
  std::vector<Saved> inputs;
  std::vector<Saved> outputs;
  lazy::Site site;
  std::int32_t layer = 0;  ///< that issued it
  std::unique_ptr<Keep> keep;
  std::uint64_t sequence = 0;  ///< later nodes depend on earlier ones only
  /// One of its inputs does. Else it only tells which variables the outputs were computed from.
  bool passes_gradients = true;
  bool released = false;  ///< a backward pass has used it up
  /// One of the nodes was used up whose outputs are those of one call; see use_up_together().
  std::shared_ptr<bool> others_released;
  std::int32_t walks = 0;      ///< backward passes that read it now
  std::thread::id claimant;    ///< the thread of the one that will use it up
  Node* next_dying = nullptr;  ///< whose turn comes after it, see destroy()

  // Of a variable:
  Array gradient;
  Request request = Request::none;
  bool fresh = false;  ///< a backward pass has reached it, and nobody has used the gradient since

  bool is_variable() const { return op == nullptr; }
  /// A backward pass reads it, and will use it up if told so; then other threads are refused. Until
  /// the last pass has ended it stays what it is.
  void begin_walk(bool uses_up);
  void end_walk();
  /// Nobody may use it any more; forgets what it keeps alive as soon as no backward pass reads it.
  void release();
  /// Chains of a million nodes end here, so one after another and not within each other.
  static void destroy(Node* node);

 private:
  void forget();
};

inline bool Origin::leads_on() const {
  return node && !node->released && !(node->others_released && *node->others_released);
}

inline bool Origin::passes_gradients() const {
  return leads_on() && node->passes_gradients;
}

/// Of this thread.
struct State {
  bool recording = false;
  bool training = false;
};
State& state();

/// Nothing is recorded in a scope.
class Unrecorded {
 public:
  Unrecorded() : outer_(state().recording) { state().recording = false; }
  ~Unrecorded() { state().recording = outer_; }
  Unrecorded(const Unrecorded&) = delete;
  Unrecorded& operator=(const Unrecorded&) = delete;

 private:
  const bool outer_;
};

/// Which values the rule of a front end for the gradient of one input reads, where the op has no
/// rules of its own.
struct Reads {
  bool differentiable = true;  ///< else the gradient of that input is zero by nature
  /// One bit each; the last bit stands for all that follow.
  std::uint32_t inputs = ~0u, outputs = ~0u;
};
/// One entry per input; the last entry serves all further inputs of a variadic op.
void set_reads(const lazy::Op& op, std::vector<Reads> reads);

/// An input of a call that is about to be issued, for the tape.
struct Source {
  const Array* array = nullptr;  ///< nullptr for a number
  const Origin* origin = nullptr;
};

/// The node of a call, with its inputs as they are before it is issued; none unless the thread is
/// recording and something came from somewhere, be it through an op whose gradient is zero.
/// `operands`: of the same inputs; only numbers are read from there.
Reference<Node> record(const lazy::Op& op, std::span<const lazy::Argument> arguments, bool legacy,
                       std::span<const Source> sources, std::span<const lazy::Operand> operands);
/// Adds an output of a recorded call, and says where it now comes from.
Origin add_output(Node& node, const Array& array);

/// The outputs of one call come from several nodes: none leads on when one of these is used up, as
/// if they came from one. `first`: nodes before this one are not of the call.
void use_up_together(std::span<const Origin> outputs, std::uint64_t first);

/// The number that the next node will get.
std::uint64_t next_node();

/// A new variable.
Reference<Node> make_variable(const Array& array, Array gradient, Request request, bool legacy);

/// The nodes that the heads were computed from, latest first; only those through which gradients
/// reach a wanted variable. `wanted` empty: every variable whose gradient is asked for, and those
/// that no gradient reaches too, because theirs is zero and not what it was before.
std::vector<Reference<Node>> collect(std::span<const Origin> heads, std::span<Node* const> wanted);

/// Whether the heads were computed from that array, in whatever way.
bool depend_on(std::span<const Origin> heads, const Origin& array);

}  // namespace afterglow::autograd
