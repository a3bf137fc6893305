// SPDX-License-Identifier: Apache-2.0
// Random programs on every engine, against the same program run one task after another. Every task
// mixes what it reads into what it writes so that order matters. Tasks put themselves off, at
// random and because a budget of memory is used up, and some run aside. Queues may have limits of
// threads, fixed or changing. ENGINE_PROGRAMS sets how many, ENGINE_SEED which.
#include <array>
#include <cstdlib>
#include <mutex>
#include <random>
#include <vector>

#include "engine_support.h"

using namespace support;

namespace {

constexpr int lanes = 4;  // the parts of a value; a share computes some of them

struct Cell {
  std::array<std::uint64_t, lanes> value{};
  int failed = 0;  // the step whose failure the variable keeps, 0 for none
  bool operator==(const Cell&) const = default;
};

using State = std::vector<Cell>;

struct Failure {
  int step;
};

std::uint64_t mix(std::uint64_t left, std::uint64_t right) {
  left = (left ^ (right + 0x9e3779b97f4a7c15 + (left << 6) + (left >> 2))) * 0xbf58476d1ce4e5b9;
  return left ^ (left >> 29);
}

enum class Limits { none, fixed, changing };

constexpr int queues = 3;
constexpr std::array<int, queues> fixed_limits{2, 1, 1};

enum class Throws { never, in_prepare, in_run, in_finish };

/// Memory that tasks take when they are prepared and give back when they end. Any single task fits.
struct Budget {
  static constexpr int most = 10;
  const bool nested;  // tasks push others and wait for them, while they hold memory
  std::atomic<int> used{0};
  std::atomic<int> overdrawn{0};  // a task had to run though others could have given back
  std::atomic<int> ended{0};
  std::atomic<int> misplaced{0};  // tasks aside that a worker ran
  std::array<std::atomic<int>, queues> computing{};
  std::atomic<int> crowded{0};  // shares beyond the limit of their queue

  bool take(int amount, bool must) {
    int before = used;
    do {
      if (before + amount > most && !must) return false;
    } while (!used.compare_exchange_weak(before, before + amount));
    if (before > 0 && must && !nested) ++overdrawn;
    return true;
  }
};

/// A task's part of the budget.
class Memory {
 public:
  Memory(std::shared_ptr<Budget> budget, int amount, int put_offs)
      : budget_(std::move(budget)), amount_(amount), put_offs_(put_offs) {}
  ~Memory() {
    give_back();
    ++budget_->ended;
  }
  bool take(bool must) {
    if (!must && put_offs_-- > 0) return false;
    return taken_ = budget_->take(amount_, must);
  }
  void give_back() {
    if (std::exchange(taken_, false)) budget_->used -= amount_;
  }

 private:
  const std::shared_ptr<Budget> budget_;
  const int amount_;
  int put_offs_;  // how often the task puts itself off for no reason
  bool taken_ = false;
};

struct Step {
  int number;
  std::vector<int> reads, writes;
  int shares;
  Throws throws;
  std::chrono::nanoseconds delay;
  PushOptions options;
  int memory, put_offs;
  bool frees_in_finish;  // else when it is destroyed
  bool nests;            // pushes another task and waits for it

  void run(State& state, int share) const {
    const int first = shares == 1 ? 0 : share, last = shares == 1 ? lanes : share + 1;
    for (int lane = first; lane < last; ++lane) {
      std::uint64_t sum = number;
      for (int from : reads) sum = mix(sum, state[from].value[lane]);
      for (int to : writes) state[to].value[lane] = mix(state[to].value[lane], sum);
    }
  }
  void finish(State& state) const {
    for (int to : writes) {
      auto& value = state[to].value;
      value = {mix(value[1], number), value[2], value[3], value[0]};
    }
  }
  /// What running the step alone does.
  void apply(State& state) const {
    for (int to : writes) state[to].failed = throws == Throws::never ? 0 : number;
    if (throws == Throws::in_prepare) return;
    for (int share = 0; share < shares; ++share) run(state, share);
    if (throws == Throws::in_run) return;
    finish(state);
  }
};

class StepTask final : public Task {
 public:
  StepTask(const Step& step, State& state, Engine& engine, std::shared_ptr<Budget> budget)
      : step_(step),
        state_(state),
        engine_(engine),
        budget_(budget),
        memory_(std::move(budget), step.memory, step.put_offs) {}
  int prepare(bool must) override {
    if (!memory_.take(must)) return not_now;
    if (step_.throws == Throws::in_prepare) throw Failure{step_.number};
    return step_.shares;
  }
  void run(int share) override {
    if (step_.delay > 0ns) busy(step_.delay);
    if (step_.options.aside && worker_index() >= 0) ++budget_->misplaced;
    const int queue = step_.options.queue;
    const bool counts = !step_.options.aside && !budget_->nested;
    if (counts && ++budget_->computing[queue] > fixed_limits[queue]) ++budget_->crowded;
    if (step_.nests && budget_->nested) nest();
    step_.run(state_, share);
    if (counts) --budget_->computing[queue];
    if (step_.throws == Throws::in_run) throw Failure{step_.number};
  }
  void finish() override {
    step_.finish(state_);
    if (step_.frees_in_finish) memory_.give_back();
    if (step_.throws == Throws::in_finish) throw Failure{step_.number};
  }

 private:
  void nest() {
    Variable done;
    auto task = std::make_unique<Parts>();
    auto memory = std::make_shared<Memory>(budget_, step_.memory, step_.put_offs);
    task->on_prepare = [memory](bool must) { return memory->take(must) ? 1 : not_now; };
    Variable* const writes[] = {&done};
    engine_.push(std::move(task), {}, writes, step_.options);
    engine_.wait(done, WaitFor::write);
  }

  const Step step_;
  State& state_;
  Engine& engine_;
  const std::shared_ptr<Budget> budget_;
  Memory memory_;
};

using Random = std::mt19937_64;

int pick(Random& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

Step make_step(Random& random, int number, int first, int count) {
  Step step{};
  step.number = number;
  for (int i = pick(random, 0, 3); i > 0; --i)
    step.reads.push_back(first + pick(random, 0, count - 1));
  for (int i = pick(random, 0, 2); i > 0; --i) {
    const int to = first + pick(random, 0, count - 1);
    if (step.writes.empty() || step.writes[0] != to) step.writes.push_back(to);
  }
  step.shares = pick(random, 0, 9) < 6 ? 1 : pick(random, 0, lanes);
  const int fate = pick(random, 0, 39);
  if (fate == 0) step.throws = Throws::in_prepare;
  if (fate == 1 && step.shares == 1) step.throws = Throws::in_run;
  if (fate == 2) step.throws = Throws::in_finish;
  if (pick(random, 0, 3) == 0) step.delay = std::chrono::nanoseconds(pick(random, 0, 20'000));
  step.options.priority = pick(random, 0, 2) ? 0 : pick(random, -3, 3);
  step.options.queue = pick(random, 0, 3) ? 0 : pick(random, 1, 2);
  step.memory = pick(random, 0, 2) ? 0 : pick(random, 1, Budget::most);
  step.put_offs = pick(random, 0, 4) ? 0 : pick(random, 1, 3);
  step.frees_in_finish = pick(random, 0, 1);
  step.nests = pick(random, 0, 7) == 0;
  step.options.aside = pick(random, 0, 4) == 0;
  return step;
}

struct Program {
  Program(Engine& engine, std::uint64_t seed, int variables, Limits limits)
      : engine(engine),
        seed(seed),
        limits(limits),
        variables(variables),
        state(variables),
        expected(variables),
        budget(new Budget{.nested = seed % 5 == 0}) {}

  Engine& engine;
  const std::uint64_t seed;
  const Limits limits;
  std::vector<Variable> variables;
  State state, expected;
  std::shared_ptr<Budget> budget;  // outlives the program in tasks that are being destroyed

  void push(const Step& step) {
    step.apply(expected);
    std::vector<Variable*> reads, writes;
    for (int from : step.reads) reads.push_back(&variables[from]);
    for (int to : step.writes) writes.push_back(&variables[to]);
    engine.push(std::make_unique<StepTask>(step, state, engine, budget), reads, writes,
                step.options);
  }

  void compare(int index) {
    state[index].failed = 0;
    try {
      engine.wait(variables[index], seed % 2 ? WaitFor::read : WaitFor::write);
    } catch (const Failure& failure) {
      state[index].failed = failure.step;
    }
    if (state[index] != expected[index])
      check::fail(__FILE__, __LINE__,
                  "variable " + std::to_string(index) + " differs, seed " + std::to_string(seed));
  }

  /// One thread's program on its own variables; now and then it waits for one and looks at it.
  void push_group(std::uint64_t group_seed, int first, int count, int steps) {
    Random random(group_seed);
    for (int number = 1; number <= steps; ++number) {
      push(make_step(random, number, first, count));
      if (pick(random, 0, 24) == 0) compare(first + pick(random, 0, count - 1));
      if (pick(random, 0, 49) == 0) engine.wait_all({.timeout = 20us});
      if (pick(random, 0, 24) == 0) {
        const int wanted = budget->ended + pick(random, 0, 9);
        engine.wait_until([&] { return budget->ended >= wanted; });
      }
      if (limits == Limits::changing && pick(random, 0, 9) == 0)
        engine.set_limit(pick(random, 0, queues - 1), pick(random, 0, 3));
    }
  }

  void compare_all() {
    if (seed % 3 == 0) engine.wait_all();
    for (int i = 0; i < static_cast<int>(variables.size()); ++i) compare(i);
    engine.wait_all();
    for (Variable& variable : variables)
      if (!variable.idle()) check::fail(__FILE__, __LINE__, "not idle");
    if (budget->overdrawn)
      check::fail(__FILE__, __LINE__, "a task had to run too early, seed " + std::to_string(seed));
    if (budget->misplaced)
      check::fail(__FILE__, __LINE__, "a worker ran a task aside, seed " + std::to_string(seed));
    if (limits == Limits::fixed && budget->crowded)
      check::fail(__FILE__, __LINE__, "a queue was crowded, seed " + std::to_string(seed));
    if (!eventually([&] { return budget->used == 0; }))
      check::fail(__FILE__, __LINE__, "memory is lost, seed " + std::to_string(seed));
  }
};

void one_thread(Engine& engine, std::uint64_t seed, Limits limits) {
  Random random(seed);
  Program program(engine, seed, pick(random, 1, 8), limits);
  program.push_group(seed + 1, 0, program.variables.size(), pick(random, 5, 60));
  program.compare_all();
}

// Each thread has variables of its own, so each has its own serial order.
void own_variables(Engine& engine, std::uint64_t seed, Limits limits) {
  Random random(seed);
  const int count = pick(random, 1, 4), threads = pick(random, 2, 3);
  Program program(engine, seed, count * threads, limits);
  std::vector<std::thread> pushers;
  std::atomic<bool> failed{false};
  for (int t = 0; t < threads; ++t)
    pushers.emplace_back([&, t, steps = pick(random, 5, 30)] {
      try {
        program.push_group(seed + 1 + t, t * count, count, steps);
      } catch (...) {
        failed = true;
      }
    });
  for (std::thread& pusher : pushers) pusher.join();
  if (failed)
    check::fail(__FILE__, __LINE__, "differs while pushing, seed " + std::to_string(seed));
  program.compare_all();
}

// All threads use all variables; a lock makes the order of the pushes known.
void shared_variables(Engine& engine, std::uint64_t seed, Limits limits) {
  Random random(seed);
  Program program(engine, seed, pick(random, 2, 6), limits);
  std::mutex order;
  int number = 0;
  std::vector<std::thread> pushers;
  const int steps = pick(random, 5, 30);
  for (int t = 0; t < 2; ++t)
    pushers.emplace_back([&] {
      for (int i = 0; i < steps; ++i) {
        const std::lock_guard lock(order);
        program.push(make_step(random, ++number, 0, program.variables.size()));
      }
    });
  for (std::thread& pusher : pushers) pusher.join();
  program.compare_all();
}

void run_programs(const std::function<std::unique_ptr<Engine>()>& make, std::uint64_t seed,
                  Limits limits = Limits::none) {
  const char* wanted = std::getenv("ENGINE_PROGRAMS");
  const int programs = wanted ? std::atoi(wanted) : 10'000;
  if (const char* other = std::getenv("ENGINE_SEED"))
    seed += 10 * std::strtoull(other, nullptr, 10);
  std::unique_ptr<Engine> engine;
  for (int i = 0; i < programs; ++i) {
    if (i % 100 == 0) {
      engine = make();
      for (int queue = 0; limits == Limits::fixed && queue < queues; ++queue)
        engine->set_limit(queue, fixed_limits[queue]);
    }
    const std::uint64_t program_seed = seed * 1'000'000 + i;
    if (i % 4 == 1)
      own_variables(*engine, program_seed, limits);
    else if (i % 4 == 3)
      shared_variables(*engine, program_seed, limits);
    else
      one_thread(*engine, program_seed, limits);
  }
}

}  // namespace

TEST("random programs, serial") {
  run_programs(make_serial_engine, 1);
}
TEST("random programs, 1 thread") {
  run_programs([] { return make_threaded_engine(1); }, 2);
}
TEST("random programs, 2 threads") {
  run_programs([] { return make_threaded_engine(2); }, 3);
}
TEST("random programs, 4 threads") {
  run_programs([] { return make_threaded_engine(4); }, 4);
}
TEST("random programs, 4 threads, limits") {
  run_programs([] { return make_threaded_engine(4); }, 5, Limits::fixed);
}
TEST("random programs, 2 threads, limits that change") {
  run_programs([] { return make_threaded_engine(2); }, 6, Limits::changing);
}

CHECK_MAIN
