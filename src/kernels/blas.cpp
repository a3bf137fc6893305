// SPDX-License-Identifier: Apache-2.0
#include "kernels/blas.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"

namespace afterglow::kernels {

namespace {

std::mutex path_mutex;
std::string& chosen_path() {
  static std::string path;
  return path;
}

std::string library_path() {
  {
    const std::lock_guard lock(path_mutex);
    if (!chosen_path().empty()) return chosen_path();
  }
  const char* path = std::getenv("AFTERGLOW_BLAS");
  if (path && *path) return path;
  throw std::runtime_error(
      "no maths library for matrix products: call set_blas_path or set AFTERGLOW_BLAS to the path "
      "of libscipy_openblas");
}

/// Sets an environment variable for its lifetime and then puts back what was there.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  ~ScopedVariable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

template <class Function>
void resolve(void* library, const char* name, Function& function) {
  // Builds of the library for several packages differ in this prefix.
  for (const char* prefix : {"scipy_", ""}) {
    if (void* symbol = dlsym(library, (prefix + std::string(name)).c_str())) {
      function = reinterpret_cast<Function>(symbol);
      return;
    }
  }
  throw std::runtime_error(std::string("the maths library has no function ") + name);
}

// As measured: the library with its data takes 54 MB of addresses, a buffer 32 MB, and the stack
// and heap of a thread 72 MB.
constexpr std::size_t megabyte = std::size_t{1} << 20;
constexpr std::size_t for_library = 64 * megabyte, for_buffer = 32 * megabyte,
                      for_thread = 80 * megabyte, for_others = 256 * megabyte;

bool can_map(std::size_t bytes) {
  void* const area = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return false;
  munmap(area, bytes);
  return true;
}

void need_room(std::size_t bytes) {
  if (can_map(bytes)) return;
  throw Error(ErrorKind::memory, "out of memory: the maths library needs " +
                                     std::to_string(bytes / megabyte) +
                                     " MB of addresses, and the system refuses them");
}

std::atomic<bool> scarce{false};
std::mutex one_at_a_time;

/// Lets the library take one buffer, which it keeps.
void take_buffer() {
  constexpr int side = 256;  // more than what it computes without one
  std::vector<float> matrix(side * side), product(side * side);
  blas<float>().gemm(blas_row_major, blas_plain, blas_plain, side, side, side, 1, matrix.data(),
                     side, matrix.data(), side, 0, product.data(), side);
}

void* open_library() {
  const std::string path = library_path();
  void* library = nullptr;
  {
    // Read by the library while it loads: with one thread it starts none.
    const ScopedVariable one_thread("OPENBLAS_NUM_THREADS", "1");
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!library)
    throw std::runtime_error("cannot load the maths library: " + std::string(dlerror()));
  // Where someone else had loaded the same file before, with threads.
  void (*set_threads)(int) = nullptr;
  resolve(library, "openblas_set_num_threads", set_threads);
  set_threads(1);
  return library;
}

void* library() {
  static void* const opened = open_library();
  return opened;
}

template <class T>
constexpr const char* letter = sizeof(T) == 4 ? "s" : "d";

template <class T>
Blas<T> find_blas() {
  const auto find = [](const char* name, auto& function) {
    resolve(library(), (std::string("cblas_") + letter<T> + name).c_str(), function);
  };
  Blas<T> functions;
  find("gemm", functions.gemm);
  find("gemv", functions.gemv);
  find("dot", functions.dot);
  return functions;
}

template <class T>
Lapack<T> find_lapack() {
  const auto find = [](const char* name, auto& function) {
    resolve(library(), (std::string(letter<T>) + name + "_").c_str(), function);
  };
  Lapack<T> functions;
  find("potrf", functions.potrf);
  find("getrf", functions.getrf);
  find("getri", functions.getri);
  find("gesv", functions.gesv);
  find("gesdd", functions.gesdd);
  return functions;
}

}  // namespace

void set_blas_path(const char* path) {
  const std::lock_guard lock(path_mutex);
  chosen_path() = path;
}

void load_blas(int threads) {
  const bool room_for_all = can_map(for_library + for_others +
                                    static_cast<std::size_t>(threads) * (for_buffer + for_thread));
  if (!room_for_all) need_room(for_library + for_buffer);
  blas<float>();
  blas<double>();
  if (room_for_all) return;
  need_room(for_buffer);
  scarce = true;
  take_buffer();
}

BlasTurn::BlasTurn() : alone_(scarce.load(std::memory_order_relaxed)) {
  if (alone_) one_at_a_time.lock();
}

BlasTurn::~BlasTurn() {
  if (alone_) one_at_a_time.unlock();
}

template <class T>
const Blas<T>& blas() {
  static const Blas<T> functions = find_blas<T>();
  return functions;
}

template <class T>
const Lapack<T>& lapack() {
  static const Lapack<T> functions = find_lapack<T>();
  return functions;
}

template const Blas<float>& blas();
template const Blas<double>& blas();
template const Lapack<float>& lapack();
template const Lapack<double>& lapack();

}  // namespace afterglow::kernels
