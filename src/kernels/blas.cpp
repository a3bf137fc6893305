// SPDX-License-Identifier: Apache-2.0
#include "kernels/blas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>

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

Blas load() {
  const std::string path = library_path();
  void* library = nullptr;
  {
    // Read by the library while it loads: with one thread it starts none.
    const ScopedVariable one_thread("OPENBLAS_NUM_THREADS", "1");
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!library)
    throw std::runtime_error("cannot load the maths library: " + std::string(dlerror()));
  Blas functions;
  resolve(library, "cblas_sgemm", functions.sgemm);
  resolve(library, "cblas_dgemm", functions.dgemm);
  resolve(library, "cblas_sgemv", functions.sgemv);
  resolve(library, "cblas_dgemv", functions.dgemv);
  resolve(library, "cblas_sdot", functions.sdot);
  resolve(library, "cblas_ddot", functions.ddot);
  // Where someone else had loaded the same file before, with threads.
  void (*set_threads)(int) = nullptr;
  resolve(library, "openblas_set_num_threads", set_threads);
  set_threads(1);
  return functions;
}

}  // namespace

void set_blas_path(const char* path) {
  const std::lock_guard lock(path_mutex);
  chosen_path() = path;
}

void load_blas() {
  blas();
}

const Blas& blas() {
  static const Blas functions = load();
  return functions;
}

}  // namespace afterglow::kernels
