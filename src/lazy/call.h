// SPDX-License-Identifier: Apache-2.0
// One issued op: what the window holds, passes rewrite and workers run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "array/array.h"
#include "base/small_list.h"
#include "lazy/batch.h"
#include "lazy/host.h"
#include "lazy/op.h"
#include "lazy/random_stream.h"
#include "lazy/site.h"

namespace afterglow::lazy {

/// An array, or a single number carried by the call itself (no storage, no layout).
struct Operand : Array {
  Reference<Layout> given;  ///< as the user gave it, where broadcasting replaced the layout
  std::array<std::byte, 8> immediate;  ///< of type dtype, when there is no storage

  bool is_immediate() const { return !storage; }
};

/// What infer settled for the kernel: a plain struct that both know, compared by its bytes.
class Settled {
 public:
  static constexpr std::size_t room = 96;

  template <class Value>
  void set(Value value) {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= room);
    __builtin_clear_padding(&value);
    std::memcpy(bytes_.data(), &value, sizeof value);
    size_ = sizeof value;
  }
  template <class Value>
  Value get() const {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= room);
    Value value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    return value;
  }
  std::span<const std::byte> bytes() const { return {bytes_.data(), size_}; }
  void clear() { size_ = 0; }

 private:
  std::array<std::byte, room> bytes_;
  std::size_t size_ = 0;
};

struct Aggregate;

/// Of an incomplete type here: aggregate.h has it whole.
struct DeleteAggregate {
  void operator()(Aggregate* aggregate) const;
};

struct Call {
  const Op* op = nullptr;
  const Op* outer = nullptr;   ///< that it is a part of: see lazy/composing.h
  std::uint64_t sequence = 0;  ///< place in program order
  SmallList<Operand, 3> inputs;
  SmallList<Operand, 1> outputs;
  Settled settled;
  /// Of a reduction: the reduced axes, one bit each.
  std::uint32_t reduced_axes = 0;
  /// Of a call that draws random numbers: its place in the stream, and how many blocks it takes.
  Draw drawn;
  std::uint64_t drawn_blocks = 0;
  /// Of an elementwise call: what it computes, and the kernel for it.
  kernels::Formula formula = kernels::Formula::copy;
  kernels::BlockFunction function = nullptr;
  /// Of a product: how many of the result's axes come from its first factor; -1 for other calls.
  int row_axes = -1;
  DType compute = DType::float32;
  double cost = 0;  ///< estimated nanoseconds on one thread
  /// Of all outputs; known once the call has joined the window.
  std::int64_t output_bytes = 0;
  /// The output covers its whole storage: nothing of what was there before remains.
  bool overwrites = false;
  /// Of a replay: the next call goes on with its rows, and both leave the window together.
  bool goes_on = false;
  /// Of a replay: only calls that leave together with it read its result, which takes no memory.
  bool passing = false;
  /// It has entered the window, so its operands are counted as slots of their storages.
  bool joined = false;
  /// Set by tests: the kernel fails with this error.
  std::optional<ErrorKind> injected_failure;
  /// What of the host's it waits for, once it has left the window: see publish.cpp.
  std::int64_t awaited = 0;
  /// Of a host call: what it runs.
  std::shared_ptr<HostFunction> host;
  /// Of a call for many rows of arrays: what it does to each.
  std::unique_ptr<Aggregate, DeleteAggregate> aggregate;
  Site site;
  /// The layer of a network that issued it (layer.h); 0 for none.
  std::int32_t layer = 0;
  /// The batches of engine.pipeline() that it belongs to; nullptr for none.
  std::shared_ptr<const Batches> batches;

  bool is_elementwise() const { return function != nullptr; }

  static Call* create();
  /// Releases operands and site; needs the issuing right.
  static void destroy(Call* call);
};

/// Inputs, then outputs; a storage named twice comes twice.
template <class Function>
void for_each_storage(const Call& call, Function&& function) {
  for (const Operand& input : call.inputs) {
    if (!input.is_immediate()) function(*input.storage);
  }
  for (const Operand& output : call.outputs) function(*output.storage);
}

/// Asks for the storages of calls that another thread has worked with.
void fetch_storages_ahead(std::span<Call* const> calls);

/// "(2, 3) float32, (3,) float32"
std::string describe_inputs(const Call& call);

}  // namespace afterglow::lazy
