// SPDX-License-Identifier: Apache-2.0
// Calls that were captured once and are issued again as a whole, with other arrays in the places of
// the inputs: what a hybridized block runs. Nothing is inferred again and no line of Python runs;
// from the window on the calls are like all others, so they are dropped, fused, ordered, and fail,
// alone.
//
// A recipe has two parts: the calls that compute the outputs, and, where gradients may be wanted,
// those that compute the gradients of the inputs from the gradients of the outputs ("heads").
//
// Invariant: whatever a replay makes is its own. Arrays from outside (parameters, captured arrays)
// are taken by reference, never by value. Results of calls without inputs are kept as values; those
// of calls that read nothing but arrays from outside are, where there are no gradients, until such
// an array is written.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lazy/capture.h"
#include "lazy/window.h"

namespace afterglow::lazy {

class Recipe {
 public:
  /// Beside the inputs, which the capture knows.
  struct Ends {
    std::span<const Array> outputs, heads, gradients;
  };
  /// What the capture wrote down, simplified: calls that no result needs are left out, equal calls
  /// are made once, those without inputs become constants. nullptr, and the reason in the capture,
  /// where the calls cannot be issued again. Uses the capture up. Needs the issuing right.
  static std::unique_ptr<Recipe> make(Capture& capture, const Ends& ends);

  struct Results {
    std::vector<Array> outputs;
    /// What the gradients will read, in the order of `read_by_gradients`.
    std::vector<Array> kept;
  };
  /// The inputs must have the layouts, types and places of the captured ones; those of `alias()`
  /// are to be computed without a recipe. Needs the issuing right.
  Results compute(Window& window, std::span<const Array> inputs) const;
  /// The second part, from what compute() kept and heads like the captured ones.
  std::vector<Array> differentiate(Window& window, std::span<const Array> kept,
                                   std::span<const Array> heads) const;

  /// The recipe writes to memory from outside, and these inputs share memory with each other or
  /// with what it reads: what overlaps was not looked at.
  bool alias(std::span<const Array> inputs) const;
  /// Arrays from outside that either part reads or writes.
  std::vector<Array> outside() const;
  /// An array from outside has an origin on the tape that it had not when calls were captured.
  bool has_new_origins() const;
  /// It does more than computing its results: draws random numbers or writes outside.
  bool has_effects() const { return draws_ || writes_outside_; }
  std::size_t size() const { return ahead_.size() + compute_.size() + differentiate_.size(); }

 private:
  friend class RecipeMaker;

  /// The memory that a step reads or writes.
  struct Slot {
    enum class Kind : std::uint8_t { input, head, outside, made };
    Kind kind = Kind::made;
    std::int64_t offset = 0;  ///< of the captured input or head
    Array outside;
    std::uint32_t origins = 0;  ///< of the memory outside, when it was captured
    std::int64_t bytes = 0;
    Context context;
    /// The bytes that operands touch, and how many an element has.
    std::int64_t begin = 0, end = 0, item = 0;
  };
  struct Step {
    OwnedCall call;                   ///< without storages
    std::vector<std::int32_t> slots;  ///< of inputs, then outputs; -1 for a number
    std::vector<std::int32_t> lasts;  ///< the slots that nothing touches after it
  };
  /// A view of a slot.
  struct View {
    std::int32_t slot;
    Array array;  ///< without storage
  };
  struct Memory {
    std::vector<Reference<Storage>> storages;  ///< by slot
    std::vector<std::int64_t> shifts;          ///< what operands' offsets differ by, by slot
  };

  /// Results that depend on arrays from outside alone, and what those were.
  struct Ahead {
    std::vector<Reference<Storage>> storages;  ///< in the order of `made_ahead_`
    std::vector<std::uint32_t> versions;       ///< in the order of `read_ahead_`
    std::uint64_t failures = 0;                ///< seen when they were computed
  };

  Memory start() const;
  /// Puts the results of the calls made ahead in their places; issues these if they are not there.
  void prepare(Window& window, Memory& memory) const;
  /// Waits for nothing: see HalfWay.
  void replay(Window& window, std::span<const Step> steps, Memory& memory) const;
  void place(Memory& memory, std::int32_t slot, const Array& array) const;
  static Array at(const View& view, const Memory& memory);

  std::vector<Slot> slots_;
  std::vector<Step> ahead_, compute_, differentiate_;
  std::vector<std::int32_t> read_ahead_, made_ahead_;  ///< slots
  mutable Ahead kept_ahead_;                           ///< guarded by the issuing right
  std::vector<std::int32_t> inputs_, heads_;           ///< their slots
  std::vector<View> outputs_, gradients_;
  std::vector<std::int32_t> kept_;  ///< slots of the first part, or outside, that the second reads
  bool draws_ = false;
  bool writes_outside_ = false;
};

}  // namespace afterglow::lazy
