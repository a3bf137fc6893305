// SPDX-License-Identifier: Apache-2.0
#include "lazy/trace.h"

#include <unistd.h>

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/spin_lock.h"
#include "engine/engine.h"
#include "memory/pool.h"

namespace afterglow::lazy::trace {
namespace {

// How often a thread looks at the memory in use.
constexpr std::int64_t memory_interval = 100'000;  // nanoseconds

/// The events of one thread in one recording. Its lock lets others copy and end it; the thread
/// itself is nearly always alone with it.
class Buffer {
 public:
  explicit Buffer(std::atomic<std::int64_t>& room)
      : thread_(gettid()), worker_(engine::worker_index()), room_(room) {}

  void add(const Event& event) {
    std::lock_guard lock(lock_);
    if (used_ == chunk_size && !grow()) {
      ++lost_;
      return;
    }
    (*chunks_.back())[used_++] = event;
  }

  ThreadEvents copy(std::int64_t& lost) {
    ThreadEvents result{thread_, worker_, {}};
    std::lock_guard lock(lock_);
    for (const auto& chunk : chunks_) {
      const auto count = static_cast<std::ptrdiff_t>(chunk == chunks_.back() ? used_ : chunk_size);
      result.events.insert(result.events.end(), chunk->begin(), chunk->begin() + count);
    }
    lost += lost_;
    return result;
  }

  /// STATE CHANGE: open -> closed. Its memory is given back, and nothing is added any more, also by
  /// a thread that has not noticed yet.
  void close() {
    std::lock_guard lock(lock_);
    chunks_.clear();
    used_ = chunk_size;
    closed_ = true;
  }

 private:
  static constexpr std::size_t chunk_size = 4096;
  using Chunk = std::array<Event, chunk_size>;

  bool grow() {
    if (closed_ || room_.fetch_sub(chunk_size, std::memory_order_relaxed) <= 0) return false;
    chunks_.push_back(std::make_unique_for_overwrite<Chunk>());
    used_ = 0;
    return true;
  }

  const std::int64_t thread_;
  const int worker_;
  SpinLock lock_;
  // Guarded by lock_:
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t used_ = chunk_size;
  std::int64_t lost_ = 0;
  bool closed_ = false;
  std::atomic<std::int64_t>& room_;
};

/// Numbers for things that come again and again. A few of them are found without a search.
template <class Key>
class Numbers {
 public:
  /// The number of the key, or what `make` returns for a new one.
  template <class Make>
  std::uint32_t find(const Key& key, Make&& make) {
    Known& known = recent_[key.hash() % recent_.size()];
    if (known.used && known.key == key) return known.number;
    const auto found = all_.find(key);
    const std::uint32_t number = found == all_.end() ? make() : found->second;
    if (found == all_.end()) all_.emplace(key, number);
    known = {key, number, true};
    return number;
  }

 private:
  struct Known {
    Key key{};
    std::uint32_t number = 0;
    bool used = false;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.hash(); }
  };
  std::array<Known, 256> recent_;
  std::unordered_map<Key, std::uint32_t, Hash> all_;
};

struct SiteKey {
  const void* code = nullptr;
  std::int32_t instruction = 0;
  bool operator==(const SiteKey&) const = default;
  std::size_t hash() const {
    return (reinterpret_cast<std::uintptr_t>(code) >> 4) * 31 +
           static_cast<std::size_t>(instruction);
  }
};

/// Two calls with the same one have the same op, shapes and types, but for one case in 10^15.
struct SignatureKey {
  std::uint64_t value = 0x9e3779b97f4a7c15;
  bool operator==(const SignatureKey&) const = default;
  std::size_t hash() const { return value >> 20; }
  void mix(std::uint64_t more) { value = (value ^ more) * 0xff51afd7ed558ccd + (value >> 32); }
  void mix(Context context) {
    mix((static_cast<std::uint64_t>(context.type) << 32) + static_cast<std::uint16_t>(context.id));
  }
  void mix(const Operand& operand) {
    mix(static_cast<std::uint64_t>(operand.dtype));
    if (operand.is_immediate()) return;
    const Layout& layout = operand.given ? *operand.given : *operand.layout;
    mix(static_cast<std::uint64_t>(layout.rank()) + 100);
    for (const std::int64_t size : layout.shape()) mix(static_cast<std::uint64_t>(size));
  }
};

// How many more events may be recorded; of all recordings, since a thread may notice late that one
// has ended.
std::atomic<std::int64_t> room{0};
// Numbers of what is no call: apart from those of calls.
constexpr std::uint64_t first_other = std::uint64_t{1} << 62;

struct Recording {
  std::int64_t start = now();
  std::vector<std::shared_ptr<Buffer>> buffers;  // guarded by `registry`
  // Guarded by the issuing right:
  Numbers<SiteKey> site_numbers;
  Numbers<SignatureKey> signature_numbers;
  std::vector<Site> sites;
  std::vector<Signature> signatures;
  std::uint64_t others = first_other;
};

SpinLock registry;
// Made and ended with the issuing right, under `registry`; so who has either may look at it.
std::unique_ptr<Recording> current;
// Of `current`; changes with it.
std::atomic<std::uint64_t> generation{0};

/// Of this thread.
struct Mine {
  std::uint64_t generation = 0;
  std::shared_ptr<Buffer> buffer;
  std::int64_t memory_seen = 0;
  std::int64_t issue_began = 0;
};
thread_local Mine mine;

void add(const Event& event) {
  if (mine.generation != generation.load(std::memory_order_acquire)) {
    std::lock_guard lock(registry);
    mine.generation = generation.load(std::memory_order_relaxed);
    mine.buffer = current ? std::make_shared<Buffer>(room) : nullptr;
    if (current) current->buffers.push_back(mine.buffer);
  }
  if (mine.buffer) mine.buffer->add(event);
}

void look_at_memory(std::int64_t time) {
  if (time - mine.memory_seen < memory_interval) return;
  mine.memory_seen = time;
  add({.begin = time,
       .call = static_cast<std::uint64_t>(memory::pool().figures().active),
       .kind = Kind::memory});
}

std::uint32_t number_of(const Site& site) {
  const SiteKey key{site.code(), site.instruction()};
  return current->site_numbers.find(key, [&] {
    current->sites.push_back(site.copy());
    return static_cast<std::uint32_t>(current->sites.size() - 1);
  });
}

/// Where a copy comes from, and where all other calls compute.
Context source_of(const Call& call) {
  const bool copies = call.formula == kernels::Formula::copy && call.is_elementwise() &&
                      call.inputs.size() == 1 && !call.inputs[0].is_immediate();
  return copies ? call.inputs[0].context() : call.outputs[0].context();
}

std::uint32_t number_of(const Call& call) {
  SignatureKey key;
  key.mix(call.outputs[0].context());
  key.mix(source_of(call));
  key.mix(reinterpret_cast<std::uintptr_t>(call.op));
  for (const Operand& input : call.inputs) key.mix(input);
  key.mix(call.outputs.size());
  for (const Operand& output : call.outputs) key.mix(output);
  return current->signature_numbers.find(key, [&] {
    std::string shapes = describe_inputs(call);
    const char* between = shapes.empty() ? "-> " : " -> ";
    for (const Operand& output : call.outputs) {
      shapes += between + describe(output);
      between = ", ";
    }
    // Arrays are filled by copying a number, which is nobody's idea of a copy.
    const bool fills = call.formula == kernels::Formula::copy && call.is_elementwise() &&
                       call.inputs.size() && call.inputs[0].is_immediate();
    const std::string name(fills ? "full" : call.op->name);
    current->signatures.push_back(
        {name, shapes, call.output_bytes, call.cost, call.outputs[0].context(), source_of(call)});
    return static_cast<std::uint32_t>(current->signatures.size() - 1);
  });
}

}  // namespace

void note_begin() {
  if (is_on()) mine.issue_began = now();
}

void note_issued(const Call& call) {
  if (!is_on() || !current) return;
  const std::int64_t time = now();
  add({.begin = mine.issue_began ? mine.issue_began : time,
       .end = time,
       .call = call.sequence,
       .first = number_of(call.site),
       .second = number_of(call),
       .layer = call.layer});
  look_at_memory(time);
}

std::uint64_t note_issued(const char* name, const Array& array, const Site& site) {
  if (!is_on() || !current) return 0;
  const std::int64_t time = now();
  const std::int64_t bytes = array.size() * static_cast<std::int64_t>(size_of(array.dtype));
  current->signatures.push_back(
      {name, describe(array), bytes, 1.0, array.context(), array.context()});
  add({.begin = time,
       .end = time,
       .call = current->others,
       .first = number_of(site),
       .second = static_cast<std::uint32_t>(current->signatures.size() - 1)});
  return current->others++;
}

void note_dropped(std::span<Call* const> calls) {
  if (!is_on()) return;
  const std::int64_t time = now();
  for (const Call* call : calls) {
    add({.begin = time, .call = call->sequence, .kind = Kind::dropped});
  }
}

void note_run(std::uint64_t call, int share, std::int64_t begin, std::int64_t end) {
  if (!is_on()) return;
  add({.begin = begin,
       .end = end,
       .call = call,
       .kind = Kind::run,
       .share = static_cast<std::uint16_t>(share)});
  look_at_memory(end);
}

void note_wait(Wait what, const Site& site, std::int64_t begin, std::int64_t end) {
  if (!is_on() || !current) return;
  add({.begin = begin,
       .end = end,
       .first = number_of(site),
       .second = static_cast<std::uint32_t>(what),
       .kind = Kind::wait});
}

void Running::end() const {
  const std::int64_t time = now();
  const Call& first = *calls_[0];
  if (first.batches) {
    for (const auto& batch : *first.batches) batch->add_computing(time - begin_);
  }
  if (!is_on()) return;
  if (share_ == 0 && calls_.size() > 1) {
    for (const Call* call : calls_.subspan(1)) {
      add({.begin = static_cast<std::int64_t>(first.sequence),
           .call = call->sequence,
           .kind = Kind::member});
    }
  }
  note_run(first.sequence, share_, begin_, time);
}

void start(std::int64_t most_events) {
  clear();
  room = most_events;
  {
    auto made = std::make_unique<Recording>();
    std::lock_guard lock(registry);
    current = std::move(made);
    ++generation;
  }
  recording = true;
}

void pause() {
  recording = false;
}

void resume() {
  recording = current != nullptr;
}

bool exists() {
  return current != nullptr;
}

Events events() {
  Events result{};
  if (!current) return result;
  std::vector<std::shared_ptr<Buffer>> buffers;
  {
    std::lock_guard lock(registry);
    buffers = current->buffers;
  }
  for (const auto& buffer : buffers) result.threads.push_back(buffer->copy(result.lost));
  for (const Site& site : current->sites) result.sites.push_back(&site);
  result.signatures = current->signatures;
  result.start = current->start;
  result.end = now();
  return result;
}

void clear() {
  recording = false;
  std::unique_ptr<Recording> ended;
  {
    std::lock_guard lock(registry);
    ended = std::move(current);
    ++generation;
  }
  if (!ended) return;
  for (const auto& buffer : ended->buffers) buffer->close();
  for (Site& site : ended->sites) site.reset();
}

// Threads that are gone here may have held locks: everything of before is left alone.
void after_fork_in_child() noexcept {
  recording = false;
  new (&registry) SpinLock;
  static_cast<void>(current.release());
  ++generation;
}

}  // namespace afterglow::lazy::trace
