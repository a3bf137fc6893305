// SPDX-License-Identifier: Apache-2.0
// A system that refuses threads: those that wait do all the work.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <vector>

#include "engine_support.h"

using namespace support;

namespace {

std::atomic<int> allowed{0};  // threads that may still be started

}  // namespace

// In front of the library's own.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*body)(void*), void* argument) noexcept {
  if (allowed.fetch_sub(1) <= 0) return EAGAIN;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, body, argument);
}

TEST("tasks of all kinds run with however few threads there are") {
  for (int threads : {0, 1, 2, 3}) {
    allowed = threads;
    auto engine = make_threaded_engine(2);
    Variable x, y, z;
    int value = 0;
    for (int i = 0; i < 20; ++i) {
      push(*engine, [&] { value = 2 * value + 1; }, {&y}, {&x}, {.aside = i % 3 == 0});
      push(*engine, [&] { value %= 1000; }, {&x}, {&y}, {.aside = i % 2 == 0});
    }
    // One that waits inside for another aside.
    push(*engine,
         [&] {
           Variable inner;
           push(*engine, [&] { ++value; }, {}, {&inner}, {.aside = true});
           CHECK(engine->wait(inner) == WaitResult::done);
         },
         {&y}, {&z}, {.aside = true});
    CHECK(engine->wait(z) == WaitResult::done);
    CHECK(engine->wait_all() == WaitResult::done);
    int expected = 0;
    for (int i = 0; i < 20; ++i) expected = (2 * expected + 1) % 1000;
    CHECK_EQUAL(value, expected + 1);
    engine.reset();
  }
  allowed = 1000;
}

int main(int count, char** arguments) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  std::printf("skipped: the sanitizer has a pthread_create of its own\n");
  return 0;
#endif
  return check::run(count, arguments);
}
