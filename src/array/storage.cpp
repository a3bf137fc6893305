// SPDX-License-Identifier: Apache-2.0
#include "array/storage.h"

#include <vector>

#include "memory/pool.h"

namespace afterglow {
namespace {

/// Spare objects, guarded by the issuing right like every count. Never destroyed: arrays may be
/// released while the process ends.
std::vector<Storage*>& spare() {
  static auto* const list = new std::vector<Storage*>;
  return *list;
}

constexpr std::size_t most_spare = 4096;

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
  return Reference<Storage>(storage);
}

void Storage::destroy(Storage* storage) {
  // Invariant: no call holds a reference, so no task can still touch the variable or the buffer.
  if (storage->data_ && storage->bytes_ > inside_bytes) {
    memory::pool().release(storage->data_, static_cast<std::size_t>(storage->bytes_));
  }
  storage->data_ = nullptr;
  storage->version = 0;
  if (storage->failure) storage->failure.reset();
  if (spare().size() < most_spare) {
    spare().push_back(storage);
  } else {
    delete storage;
  }
}

void Storage::take_buffer() {
  if (data_) return;
  data_ = bytes_ <= inside_bytes
              ? inside_.data()
              : static_cast<std::byte*>(memory::pool().allocate(static_cast<std::size_t>(bytes_)));
}

}  // namespace afterglow
