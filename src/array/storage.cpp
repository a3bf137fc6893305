// SPDX-License-Identifier: Apache-2.0
#include "array/storage.h"

#include <utility>
#include <vector>

#include "base/error.h"
#include "memory/extent.h"
#include "memory/pool.h"

namespace afterglow {
namespace {

constexpr std::size_t most_spare = 4096;

/// Spare objects, guarded by the issuing right like every count. Never destroyed: arrays may be
/// released while the process ends.
std::vector<Storage*>& spare() {
  static auto* const list = [] {
    auto* made = new std::vector<Storage*>;
    made->reserve(most_spare);  // giving one back must not fail
    return made;
  }();
  return *list;
}

}  // namespace

Reference<Storage> Storage::create(std::int64_t bytes, Context context) {
  Storage* storage;
  if (spare().empty()) {
    storage = new Storage;
  } else {
    storage = spare().back();
    spare().pop_back();
  }
  storage->bytes_ = bytes;
  storage->context_ = context;
  storage->serial_ = next_serial_++;
  return Reference<Storage>(storage);
}

Reference<Storage> Storage::borrow(std::byte* data, std::int64_t bytes, Context context,
                                   std::unique_ptr<Lender> lender) {
  Reference<Storage> storage = create(bytes, context);
  storage->data_ = data;
  storage->lender_ = std::move(lender);
  storage->share();
  return storage;
}

Reference<Storage> Storage::hollow(std::int64_t bytes, Context context,
                                   std::unique_ptr<Lender> parts,
                                   std::shared_ptr<Failure> failure) {
  Reference<Storage> storage = create(bytes, context);
  storage->lender_ = std::move(parts);
  storage->failure = std::move(failure);
  return storage;
}

void Storage::destroy(Storage* storage) {
  // Invariant: no call holds a reference, so no task can still touch the variable or the buffer.
  std::unique_ptr<Lender> lender = std::move(storage->lender_);
  if (lender) {
    storage->data_ = nullptr;
    if (storage->is_shared()) storage->end_sharing();
  }
  storage->release_buffer();
  storage->discharge();
  storage->version = 0;
  storage->origins = 0;
  storage->notes = {};
  storage->variable.reset();
  if (storage->failure) storage->failure.reset();
  if (spare().size() < most_spare) {
    spare().push_back(storage);
  } else {
    delete storage;
  }
  lender.reset();  // last: it may destroy further storages
}

void Storage::take_buffer() {
  if (data_) return;
  if (lender_)
    throw Error(ErrorKind::type,
                "a sparse array was given for the result; tostype('default') makes a dense one");
  const auto bytes = static_cast<std::size_t>(bytes_);
  if (bytes_ <= inside_bytes) {
    memory::set_extent(inside_.data(), inside_.size(), bytes);
    data_ = inside_.data();
  } else {
    data_ = static_cast<std::byte*>(memory::pool().allocate(bytes));
  }
}

void Storage::release_buffer() {
  if (lender_) return;  // it is not ours to give away, nor from any thread
  if (data_ && is_inside()) {
    memory::set_extent(inside_.data(), inside_.size(), 0);
  } else if (data_) {
    memory::pool().release(data_, static_cast<std::size_t>(bytes_));
  }
  data_ = nullptr;
}

void Storage::share() {
  ++shares_;
  ++all_shares_;
}

void Storage::end_sharing() {
  --shares_;
  --all_shares_;
}

void Storage::charge() {
  if (notes.charged || bytes_ < smallest_charge) return;
  notes.charged = true;
  charged_bytes_.fetch_add(bytes_, std::memory_order_relaxed);
}

void Storage::discharge() {
  if (!notes.charged) return;
  notes.charged = false;
  charged_bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
}

bool Storage::fits_buffer_of(const Storage& other) const {
  const auto size = [](const Storage& storage) {
    return memory::rounded_size(static_cast<std::size_t>(storage.bytes_));
  };
  const bool from_pool = !is_inside() && !other.is_inside() && !lender_ && !other.lender_;
  return from_pool && size(*this) == size(other);
}

void Storage::adopt_buffer(Storage& donor) {
  data_ = std::exchange(donor.data_, nullptr);
}

}  // namespace afterglow
