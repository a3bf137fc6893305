// SPDX-License-Identifier: Apache-2.0
#include "lazy/failure.h"

#include <algorithm>

namespace afterglow::lazy {
namespace {

constexpr std::size_t most_kept = 1000;

bool earlier(const std::shared_ptr<Failure>& left, const std::shared_ptr<Failure>& right) {
  return left->sequence < right->sequence;
}

}  // namespace

void FailureLog::add(std::shared_ptr<Failure> failure) {
  count_.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  failures_.insert(std::ranges::upper_bound(failures_, failure, earlier), failure);
  if (failures_.size() > most_kept) failures_.pop_back();
}

std::shared_ptr<Failure> FailureLog::take_first() {
  std::lock_guard lock(mutex_);
  while (!failures_.empty()) {
    std::shared_ptr<Failure> first = std::move(failures_.front());
    failures_.erase(failures_.begin());
    if (!first->raised.exchange(true)) return first;
  }
  return nullptr;
}

}  // namespace afterglow::lazy
