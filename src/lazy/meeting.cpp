// SPDX-License-Identifier: Apache-2.0
#include "lazy/meeting.h"

#include <algorithm>

#include "lazy/call.h"

namespace afterglow::lazy {
namespace {

using Meetings = std::map<std::string, std::vector<std::shared_ptr<Meeting>>>;

/// Those that some device has not joined. Guarded by the issuing right.
Meetings& open_meetings() {
  static auto* const meetings = new Meetings;
  return *meetings;
}

template <class Visit>
void visit_elements(const Operand& operand, Visit visit) {
  if (operand.dtype == DType::float64)
    visit(reinterpret_cast<double*>(operand.data()));
  else
    visit(reinterpret_cast<float*>(operand.data()));
}

}  // namespace

class Meeting::Bring final : public HostFunction {
 public:
  Bring(std::shared_ptr<Meeting> meeting, Context device)
      : meeting_(std::move(meeting)), device_(device) {}

  void run(const Call& call) override try {
    std::vector<double> numbers(static_cast<std::size_t>(call.inputs[0].size()));
    visit_elements(call.inputs[0], [&](const auto* elements) {
      std::copy_n(elements, numbers.size(), numbers.begin());
    });
    *reinterpret_cast<float*>(call.outputs[0].data()) = 0;
    meeting_->arrive(device_, std::move(numbers));
  } catch (...) {
    skip({});
    throw;
  }
  bool runs_aside() const override { return false; }
  bool is_awaited() const override { return true; }
  void skip(const std::string& /*why*/) noexcept override {
    meeting_->fail("what " + to_string(device_) + " should bring could not be computed");
  }

 private:
  const std::shared_ptr<Meeting> meeting_;
  const Context device_;
};

class Meeting::Take final : public HostFunction {
 public:
  explicit Take(std::shared_ptr<Meeting> meeting) : meeting_(std::move(meeting)) {}

  void run(const Call& call) override {
    const std::lock_guard lock(meeting_->mutex_);
    if (!meeting_->failure_.empty()) throw Error(ErrorKind::mxnet, meeting_->failure_);
    visit_elements(call.outputs[0], [&](auto* elements) {
      for (std::int64_t i = 0; i < call.outputs[0].size(); ++i) {
        double sum = 0;
        for (const auto& [place, numbers] : meeting_->brought_)
          sum += numbers[static_cast<std::size_t>(i)];
        elements[i] = static_cast<std::remove_pointer_t<decltype(elements)>>(sum);
      }
    });
  }
  bool runs_aside() const override { return false; }
  void push(engine::Engine& engine, const Push& push) override {
    const std::lock_guard lock(meeting_->mutex_);
    meeting_->engine_ = &engine;
    if (meeting_->complete_)
      push(false);
    else
      meeting_->held_.push_back(push(true));
  }

 private:
  const std::shared_ptr<Meeting> meeting_;
};

std::shared_ptr<Meeting> Meeting::join(const std::string& name, Context device,
                                       std::size_t devices) {
  std::vector<std::shared_ptr<Meeting>>& open = open_meetings()[name];
  auto found = std::ranges::find_if(open, [&](const std::shared_ptr<Meeting>& meeting) {
    return std::ranges::find(meeting->joined_, device) == meeting->joined_.end();
  });
  if (found == open.end()) {
    open.push_back(std::make_shared<Meeting>(name, devices));
    found = open.end() - 1;
  }
  std::shared_ptr<Meeting> meeting = *found;
  meeting->joined_.push_back(device);
  if (!meeting->is_open()) open.erase(found);
  if (open.empty()) open_meetings().erase(name);
  return meeting;
}

bool Meeting::any_open() {
  return !open_meetings().empty();
}

void Meeting::give_up() {
  const Meetings meetings = std::exchange(open_meetings(), {});
  for (const auto& [name, open] : meetings) {
    for (const std::shared_ptr<Meeting>& meeting : open) {
      std::string came;
      for (const Context device : meeting->joined_)
        came += (came.empty() ? "" : ", ") + to_string(device);
      meeting->fail("only " + came + " came to '" + name + "', where " +
                    std::to_string(meeting->devices_) +
                    " devices meet; all must call it before a result is read");
    }
  }
}

std::shared_ptr<HostFunction> Meeting::bring(Context device) {
  return std::make_shared<Bring>(shared_from_this(), device);
}

std::shared_ptr<HostFunction> Meeting::take() {
  return std::make_shared<Take>(shared_from_this());
}

void Meeting::arrive(Context device, std::vector<double> numbers) {
  std::unique_lock lock(mutex_);
  const bool fits = brought_.empty() || brought_.begin()->second.size() == numbers.size();
  if (!fits) {
    lock.unlock();
    return fail("devices brought different numbers of channels to '" + name_ + "'");
  }
  if (complete_) return;
  brought_[{device.type, device.id}] = std::move(numbers);
  if (brought_.size() == devices_) complete(std::move(lock));
}

void Meeting::fail(const std::string& text) {
  std::unique_lock lock(mutex_);
  if (complete_) return;
  failure_ = text;
  complete(std::move(lock));
}

// STATE CHANGE: to complete. From here on nothing is held.
void Meeting::complete(std::unique_lock<std::mutex> lock) {
  complete_ = true;
  --incomplete_;
  const std::vector<std::uint64_t> tasks = std::exchange(held_, {});
  lock.unlock();
  for (const std::uint64_t task : tasks) engine_->let_go(task);
}

}  // namespace afterglow::lazy
