// SPDX-License-Identifier: Apache-2.0
// What concerns the whole process, or the thread that asks.
#include "c_api/front_end.h"
#include "c_api/interface.h"
#include "c_api/waiting.h"
#include "kernels/blas.h"
#include "lazy/random_stream.h"

using namespace afterglow;
using namespace afterglow::c_api;

extern "C" {

int AGSetSite(const char* file, int line, const char* function) {
  return guarded([&] { set_site(file ? file : "", line, function ? function : ""); });
}

int AGGetVersion(int* version) {
  return guarded([&] { need(version, "version") = AG_VERSION; });
}

int AGSetBlasPath(const char* path) {
  return guarded([&] { kernels::set_blas_path(need_text(path, "path")); });
}

int AGGetThreadCount(int* count) {
  return guarded([&] { need(count, "count") = lazy::window().engine().thread_limit(); });
}

int AGRandomSeed(uint64_t seed) {
  return guarded([&] { lazy::seed_random(seed); });
}

int AGWaitAll(void) {
  return guarded([] { wait_for_all(); });
}

}  // extern "C"
