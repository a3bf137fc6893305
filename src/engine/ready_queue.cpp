// SPDX-License-Identifier: Apache-2.0
#include "engine/ready_queue.h"

#include <algorithm>

#include "engine/scheduler.h"

namespace afterglow::engine {

void ReadyQueue::join() {
  if (members_ == heap_.capacity()) heap_.reserve(std::max<std::size_t>(64, 2 * members_));
  ++members_;
}

void ReadyQueue::insert(TaskRecord& task) {
  heap_.push_back({});
  settle(heap_.size() - 1, {task.priority, task.number, &task});
}

void ReadyQueue::erase(TaskRecord& task) {
  const std::size_t hole = std::exchange(task.position, nowhere);
  const Entry moved = heap_.back();
  heap_.pop_back();
  if (hole < heap_.size()) settle(hole, moved);
}

void ReadyQueue::place(std::size_t position, const Entry& entry) {
  heap_[position] = entry;
  entry.task->position = position;
}

// Moves the hole at `position` up, then down, to where `entry` belongs.
void ReadyQueue::settle(std::size_t position, const Entry& entry) {
  while (position > 0 && entry.before(heap_[(position - 1) / 2])) {
    place(position, heap_[(position - 1) / 2]);
    position = (position - 1) / 2;
  }
  for (;;) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
    if (!heap_[child].before(entry)) break;
    place(position, heap_[child]);
    position = child;
  }
  place(position, entry);
}

}  // namespace afterglow::engine
