// SPDX-License-Identifier: Apache-2.0
// A process ends at once and cleanly with work pending, arrays left and a thread that goes on
// issuing, and so does its child.
#include <sys/wait.h>
#include <unistd.h>
#include <afterglow/afterglow.hpp>

#include <cstdlib>
#include <thread>

using namespace afterglow::cpp;

static NDArray destroyed_at_exit;

int main() {
  try {
    const NDArray x = random_uniform({600, 600});
    for (int i = 0; i < 20; ++i) destroyed_at_exit = x * (x + i);
    std::thread([x] {
      try {
        for (;;) (x * x + 1).IsReady();
      } catch (const Error&) {
        // The engine is shut down: the process is ending.
      }
    }).detach();
    for (int i = 0; i < 3; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        (x + 1).WaitToRead();
        std::exit(3);
      }
      int status = -1;
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) {
        std::printf("a child ended with %d\n", status);
        return 1;
      }
    }
    return 0;
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
