// SPDX-License-Identifier: Apache-2.0
// How large results are written: through the caches, or around them. Private to src/kernels.
#pragma once

#include <chrono>
#include <cstdint>

namespace afterglow::kernels {

/// Elements of a result that is too large to be found in a cache by its reader.
inline constexpr std::int64_t far_result = 1 << 20;

enum class Stores : std::uint8_t {
  through_caches,  ///< a line is read before it is written
  around_caches,   ///< saves that, but the last-level cache may be the faster place
};

/// The way in which one share writes its large results. Which is faster depends on the machine and
/// its neighbours, so the first shares take both ways in turns and are timed; then it is settled.
class ShareStores {
 public:
  /// `bytes` that the share writes to memory only.
  explicit ShareStores(std::int64_t bytes);
  ~ShareStores();
  ShareStores(const ShareStores&) = delete;
  ShareStores& operator=(const ShareStores&) = delete;
  bool around_caches() const { return stores_ == Stores::around_caches; }

 private:
  std::int64_t bytes_;
  bool on_trial_ = false;
  Stores stores_ = Stores::through_caches;
  std::chrono::steady_clock::time_point begin_;
};

/// A pass of so many elements may write around the caches.
bool is_far_result(std::int64_t size);

/// Settles the way for this process, and from which size on a result is a large one.
void set_stores(Stores stores, std::int64_t smallest = far_result);

}  // namespace afterglow::kernels
