// SPDX-License-Identifier: Apache-2.0
// The memory behind arrays and views. A storage owns the engine variable that orders its readers
// and writers, and takes its buffer only when the first call writes it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "array/context.h"
#include "base/reference.h"
#include "engine/engine.h"

namespace afterglow {

struct Failure;  // why a value could not be computed: lazy/failure.h

/// The owner of memory that we borrowed; destroying it gives the memory back.
class Lender {
 public:
  virtual ~Lender() = default;
};

class Storage : public Counted {
 public:
  static Reference<Storage> create(std::int64_t bytes, Context context);
  /// Somebody else's memory, shared for good. The lender is destroyed, with the issuing right, when
  /// nobody refers to the storage any more.
  static Reference<Storage> borrow(std::byte* data, std::int64_t bytes, Context context,
                                   std::unique_ptr<Lender> lender);
  /// No memory at all: what the array is stands in its parts (array/sparse.h). Calls that read it
  /// are poisoned by `failure`, and none can write it.
  static Reference<Storage> hollow(std::int64_t bytes, Context context,
                                   std::unique_ptr<Lender> parts, std::shared_ptr<Failure> failure);
  static void destroy(Storage* storage);

  std::int64_t bytes() const { return bytes_; }
  Context context() const { return context_; }
  std::byte* data() const { return data_; }
  /// Some call, or code outside, has written it.
  bool has_value() const { return data_ || bytes_ == 0; }
  /// Only for the call that has the right to write: the engine's order, or nobody else running.
  void take_buffer();
  /// Gives the buffer back early: nobody will read it again. The same right as for take_buffer().
  void release_buffer();
  /// Takes over the buffer of a storage that nobody will read again.
  void adopt_buffer(Storage& donor);
  /// Both take equally large blocks from the pool.
  bool fits_buffer_of(const Storage& other) const;
  bool is_inside() const { return bytes_ <= inside_bytes && !lender_; }
  /// Of borrowed memory, or the parts of hollow one; else nullptr.
  Lender* lender() const { return lender_.get(); }

  /// From share() to end_sharing() code outside reads or writes the memory whenever it likes, so
  /// calls that touch it must be done before their statement returns. Guarded by the issuing right.
  void share();
  void end_sharing();
  bool is_shared() const { return shares_.load(std::memory_order_relaxed) > 0; }
  /// Some storage is shared: the only question that programs which share nothing pay for.
  static bool any_shared() { return all_shares_ > 0; }

  /// Counts the bytes among those that exist, or will, only on behalf of unfinished calls, until
  /// discharged or destroyed. Needs the window's lock.
  void charge();
  void discharge();
  /// All bytes charged now, in this process.
  static std::int64_t charged_bytes() { return charged_bytes_.load(std::memory_order_relaxed); }
  /// Smaller storages are not worth an account: the record of their call outweighs them.
  static constexpr std::int64_t smallest_charge = 4096;

  /// Storages are numbered as they are made. Guarded by the issuing right.
  std::uint64_t serial() const { return serial_; }
  static std::uint64_t next_serial() { return next_serial_; }

  engine::Variable variable;
  /// Number of writes issued so far. Guarded by the issuing right.
  std::uint32_t version = 0;
  /// How often an array over this memory was given an origin on the tape. Guarded likewise.
  std::uint32_t origins = 0;
  /// Set by a call that failed to write, cleared by one that overwrites everything. Ordered like
  /// data.
  std::shared_ptr<Failure> failure;

  /// The calls that hold this storage. An operand of a call is a slot.
  struct Slots {
    /// Of all calls that exist. Grows under the window's lock; shrinks with the issuing right
    /// alone, before the reference goes. So whoever has that lock and reads count() first never
    /// takes a slot for a holder outside, nor the other way round to its harm.
    std::atomic<std::int32_t> all{0};
    /// Of calls that are still pending. Guarded by the window's lock.
    std::int32_t pending = 0;
  } slots;
  /// Somebody other than a call holds it: a handle, a view, a tape. Once false, it stays so, for
  /// new holders come from old ones. Needs the window's lock.
  bool held_outside() const {
    const std::int32_t holders = count();
    return holders > slots.all.load(std::memory_order_acquire);
  }

  /// What passes write down while they run, and run-ahead accounting. Guarded by the window's lock.
  struct Notes {
    bool touched = false;
    bool written = false;
    bool charged = false;  ///< its bytes are in the run-ahead account
    std::int32_t last_writer = -1;
    std::int32_t last_toucher = -1;
    std::int32_t slots_here = 0;
    /// What of the host's its writer, or a reader, waits for: see lazy/publish.cpp.
    std::int64_t written_after = 0, read_after = 0;
  } notes;

 private:
  // Tiny values live inside: no allocation, no lock, and the cache line is at hand.
  static constexpr std::int64_t inside_bytes = 64;

  static inline std::atomic<std::int64_t> charged_bytes_{0};

  static inline std::int64_t all_shares_ = 0;
  static inline std::uint64_t next_serial_ = 0;

  std::int64_t bytes_ = 0;
  std::uint64_t serial_ = 0;
  std::atomic<std::int32_t> shares_{0};  // asked for by passes too, without the issuing right
  Context context_;
  std::unique_ptr<Lender> lender_;  // of borrowed memory, or what there is instead of memory
  std::byte* data_ = nullptr;
  alignas(16) std::array<std::byte, inside_bytes> inside_;
};

}  // namespace afterglow
