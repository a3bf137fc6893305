// SPDX-License-Identifier: Apache-2.0
// Failures in and around fused groups: exactly what depends on them is poisoned.
#include "lazy_support.h"

using namespace support;

namespace {

bool is_poisoned(Window& window, const Array& array) {
  wait(window, array);
  return array.storage->failure != nullptr;
}

std::unique_ptr<Window> fusing(int threads) {
  auto window = threaded(threads);
  window->fuse_options() = {0, 0};
  return window;
}

bool starts_with(const std::string& text, const char* start) {
  return text.find(start) == 0;
}

}  // namespace

TEST("a poisoned input poisons exactly what depends on it within a group") {
  for (const int threads : {1, 2, 4}) {
    for (const std::int64_t size : {100, 100000}) {
      auto window = fusing(threads);
      const Array x = filled({size}, 1);
      Array bad, a, b, c, d, e;
      {
        Gate gate(*window);
        lazy::inject_failure(0, ErrorKind::value);
        bad = apply(*window, "subtract", x, 1.0);
        a = apply(*window, "add", x, 1.0);
        b = apply(*window, "multiply", a, bad);
        c = apply(*window, "multiply", a, 3.0);
        d = apply(*window, "add", c, b);
        e = apply(*window, "add", c, a);
        window->publish_all();
      }
      CHECK_EQUAL(value(*window, a), 2.0f);
      CHECK_EQUAL(value(*window, c, size - 1), 6.0f);
      CHECK_EQUAL(value(*window, e, size - 1), 8.0f);
      CHECK(!a.storage->failure && !c.storage->failure && !e.storage->failure);
      for (const Array& poisoned : {bad, b, d}) {
        CHECK(is_poisoned(*window, poisoned));
        CHECK(poisoned.storage->failure->kind == ErrorKind::value);
        CHECK(starts_with(poisoned.storage->failure->message, "[subtract]"));
      }
      finish(*window);
      CHECK(window->statistics().fused > 0);
      CHECK(window->failures().take_first() != nullptr);
      CHECK(window->failures().take_first() == nullptr);  // one failure, however far it went
    }
  }
}

TEST("a group whose intermediates die gives right values where one input is poisoned") {
  auto window = fusing(2);
  const Array x = filled({50000}, 1);
  Array good, poisoned;
  {
    Gate gate(*window);
    lazy::inject_failure(0, ErrorKind::type);
    const Array bad = apply(*window, "add", x, 1.0);
    const Array root = apply(*window, "multiply", x, 2.0);
    good = apply(*window, "add", apply(*window, "multiply", root, 2.0), 1.0);
    poisoned = apply(*window, "add", apply(*window, "multiply", root, bad), 1.0);
    window->publish_all();
  }
  CHECK_EQUAL(value(*window, good), 5.0f);
  CHECK(is_poisoned(*window, poisoned));
  CHECK(poisoned.storage->failure->kind == ErrorKind::type);
  finish(*window);
}

TEST("the message names the op that failed, in the middle of what would have been a group") {
  auto window = fusing(2);
  const Array x = filled({30, 40}, 1);
  Array before, after;
  {
    Gate gate(*window);
    before = apply(*window, "add", x, 1.0);
    lazy::inject_failure(1, ErrorKind::value);
    const Array doubled = apply(*window, "multiply", before, 2.0);
    after = apply(*window, "maximum", doubled, x);
    after = apply(*window, "minimum", after, 7.0);
    window->publish_all();
  }
  CHECK_EQUAL(value(*window, before), 2.0f);
  CHECK(is_poisoned(*window, after));
  CHECK(starts_with(after.storage->failure->message, "[maximum]"));
  CHECK(after.storage->failure->message.find("(30, 40) float32, (30, 40) float32") !=
        std::string::npos);
  finish(*window);
}

TEST("reductions and products carry poison on, and only where they read it") {
  auto window = fusing(2);
  const Array x = filled({64, 64}, 1);
  Array sum, softmax, product, clean;
  {
    Gate gate(*window);
    lazy::inject_failure(0, ErrorKind::value);
    const Array bad = apply(*window, "add", x, 1.0);
    const std::vector<Argument> by_row = {Shape{1}, true};
    softmax = apply(*window, "subtract", x, call(*window, "max", {bad}, by_row));
    sum = call(*window, "sum", {apply(*window, "multiply", x, 2.0)}, by_row);
    product = call(*window, "relu", {apply(*window, "add", dot(*window, x, x), bad)});
    clean = call(*window, "relu", {apply(*window, "add", dot(*window, x, x), x)});
    window->publish_all();
  }
  CHECK(is_poisoned(*window, softmax));
  CHECK(is_poisoned(*window, product));
  CHECK_EQUAL(value(*window, sum), 128.0f);
  CHECK_EQUAL(value(*window, clean), 65.0f);
  CHECK(!clean.storage->failure);
  finish(*window);
}

TEST("an in-place failure is healed by a full overwrite, before, in and after a group") {
  for (const int threads : {1, 2}) {
    auto window = fusing(threads);
    const Array x = filled({20000}, 1), y = filled({20000}, 1);
    Array before, after, chained;
    {
      Gate gate(*window);
      lazy::inject_failure(0, ErrorKind::value);
      apply(*window, "add", y, 1.0, &y);
      before = apply(*window, "multiply", y, 2.0);
      apply(*window, "add", x, 7.0, &y);
      after = apply(*window, "multiply", y, 2.0);
      apply(*window, "add", y, 1.0, &y);
      chained = apply(*window, "add", after, y);
      window->publish_all();
    }
    CHECK(is_poisoned(*window, before));
    CHECK_EQUAL(value(*window, after), 16.0f);
    CHECK_EQUAL(value(*window, y), 9.0f);
    CHECK_EQUAL(value(*window, chained), 25.0f);
    CHECK(!y.storage->failure && !after.storage->failure && !chained.storage->failure);
    finish(*window);
  }
}

TEST("a partial write within a group heals nothing") {
  auto window = fusing(1);
  const Array x = filled({20000}, 1), y = filled({20000}, 1);
  Array read, elsewhere;
  {
    Gate gate(*window);
    lazy::inject_failure(0, ErrorKind::value);
    apply(*window, "add", y, 1.0, &y);
    const Array part = slice(y, 0, 10000), whole_part = slice(x, 0, 10000);
    apply(*window, "add", whole_part, 1.0, &part);
    read = apply(*window, "multiply", part, 2.0);
    elsewhere = apply(*window, "multiply", whole_part, 2.0);
    window->publish_all();
  }
  CHECK(is_poisoned(*window, read));
  CHECK(is_poisoned(*window, y));
  CHECK_EQUAL(value(*window, elsewhere), 2.0f);
  finish(*window);
}

TEST("a group that gets no memory at all fails call by call, and heals later") {
  auto window = fusing(2);
  const Array x = filled({20000}, 1);
  Array a, b, later;
  {
    Gate gate(*window);
    a = apply(*window, "add", x, 1.0);
    b = apply(*window, "multiply", a, 2.0);
    memory::pool().fail_allocation(0, 1000000);
    window->publish_all();
  }
  CHECK(is_poisoned(*window, a));
  CHECK(is_poisoned(*window, b));
  memory::pool().fail_allocation(-1);
  CHECK(a.storage->failure->kind == ErrorKind::memory);
  CHECK(starts_with(a.storage->failure->message, "[add]"));
  CHECK(b.storage->failure == a.storage->failure);
  apply(*window, "add", x, 4.0, &a);
  CHECK_EQUAL(value(*window, a), 5.0f);
  finish(*window);
}

TEST("random groups with one failure: each value is right or poisoned as in the serial engine") {
  for (unsigned seed = 0; seed < random_programs(60); ++seed) {
    const auto run = [&](Window& window) {
      std::vector<Array> arrays;
      const auto issue_all = [&] {
        std::uint32_t state = seed * 2654435761u + 1;
        const auto below = [&](std::size_t limit) {
          state = state * 1664525u + 1013904223u;
          return (state >> 8) % limit;
        };
        arrays.push_back(filled({5000}, 1));
        arrays.push_back(filled({5000}, 2));
        lazy::inject_failure(static_cast<std::int64_t>(below(20)), ErrorKind::value);
        for (int i = 0; i < 30; ++i) {
          const Array left = arrays[below(arrays.size())], right = arrays[below(arrays.size())];
          if (below(4) == 0) {
            apply(window, "maximum", left, right, &left);
          } else {
            arrays.push_back(apply(window, below(2) ? "minimum" : "maximum", left, right));
          }
        }
        window.publish_all();
      };
      if (window.serial()) {
        issue_all();
      } else {
        Gate gate(window);
        issue_all();
      }
      finish(window);
      std::vector<float> values;
      for (const Array& array : arrays) {
        const bool failed = array.storage->failure != nullptr;
        values.push_back(failed ? -1 : reinterpret_cast<const float*>(array.data())[4999]);
      }
      return values;
    };
    const auto expected = run(*serial());
    for (const int threads : {1, 2}) {
      auto window = fusing(threads);
      CHECK(run(*window) == expected);
    }
  }
  lazy::inject_failure(-1, ErrorKind::value);
}

CHECK_MAIN
