// SPDX-License-Identifier: Apache-2.0
#include "c_api/right.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "autograd/anomaly.h"
#include "c_api/front_end.h"
#include "kernels/blas.h"
#include "lazy/random_stream.h"
#include "lazy/window.h"
#include "memory/pool.h"
#include "ops/table.h"

namespace afterglow::c_api {
namespace {

/// Never destroyed: threads may still be here while the process ends.
std::mutex& the_mutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

thread_local int depth = 0;

std::atomic<int> threads{0}, waiting_threads{0};

/// One for each thread that has called us.
struct Known {
  Known() { ++threads; }
  ~Known() { --threads; }
};

// In this order, so that nobody is half-way through issuing a call while the window is copied.
void before_fork() {
  if (!depth) the_mutex().lock();
  lazy::window().before_fork();
  memory::pool().before_fork();
}
void after_fork_in_parent() {
  memory::pool().after_fork();
  lazy::window().after_fork_in_parent();
  if (!depth) the_mutex().unlock();
}
void after_fork_in_child() {
  memory::pool().after_fork();
  lazy::window().after_fork_in_child();
  threads = 1;  // the others did not come along
  waiting_threads = 0;
  if (!depth) the_mutex().unlock();
}

/// The maths library beside this one, unless the environment names another.
void find_blas() {
  const char* const chosen = std::getenv("AFTERGLOW_BLAS");
  Dl_info own;
  if ((chosen && *chosen) || !dladdr(reinterpret_cast<void*>(&find_blas), &own)) return;
  const std::string path = own.dli_fname;
  const std::size_t end = path.rfind('/');
  const std::string beside =
      (end == std::string::npos ? "" : path.substr(0, end + 1)) + "libscipy_openblas.so";
  if (access(beside.c_str(), R_OK) == 0) kernels::set_blas_path(beside.c_str());
}

}  // namespace

Right::Right() {
  thread_local const Known known;
  if (depth++ == 0) the_mutex().lock();
}

Right::~Right() {
  if (--depth == 0) the_mutex().unlock();
}

WithoutRight::WithoutRight() : depth_(std::exchange(depth, 0)) {
  if (depth_) the_mutex().unlock();
}

WithoutRight::~WithoutRight() {
  if (depth_) the_mutex().lock();
  depth = depth_;
}

Waiting::Waiting() {
  ++waiting_threads;
}

Waiting::~Waiting() {
  --waiting_threads;
}

bool all_wait() {
  return waiting_threads >= threads;
}

void start() {
  static const bool started = [] {
    use_front_end();
    find_blas();
    const char* const detect = std::getenv("AFTERGLOW_DETECT_ANOMALY");
    autograd::detects_anomalies_by_default = detect && std::string_view(detect) == "1";
    engine::set_blocking_hook([](const std::function<void()>& body) {
      const WithoutRight released;
      body();
    });
    ops::table();
    lazy::window();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    // Behind what was made above, so before any of that is destroyed.
    std::atexit([] { lazy::window().shutdown(); });
    return true;
  }();
  (void)started;
}

}  // namespace afterglow::c_api
