// SPDX-License-Identifier: Apache-2.0
// Statements return at once, reads wait: docs/asynchrony.md in C++.
#include <afterglow/afterglow.hpp>
#include <chrono>
#include <cstdio>

using namespace afterglow::cpp;

static double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

int main() {
  try {
    NDArray x = random_uniform({500, 500});
    x.WaitToRead();

    auto begin = std::chrono::steady_clock::now();
    NDArray y = dot(x, x);
    std::printf("issued after %.3f ms, %s\n", milliseconds_since(begin),
                y.IsReady() ? "computed already" : "not computed yet");
    y.WaitToRead();
    std::printf("computed after %.3f ms\n", milliseconds_since(begin));

    // A loop issues its products while the first ones are computed; one read at the end waits.
    begin = std::chrono::steady_clock::now();
    NDArray total = sum(y);
    for (int i = 1; i < 10; ++i) total = total + sum(dot(x, x + i));
    std::printf("ten products issued after %.3f ms\n", milliseconds_since(begin));
    const float number = total.item();
    std::printf("their sum: %g, after %.3f ms\n", static_cast<double>(number),
                milliseconds_since(begin));

    // What nobody reads is not computed.
    for (int i = 0; i < 1000; ++i) y = dot(x, x + i);
    begin = std::chrono::steady_clock::now();
    y = NDArray();
    NDArray::WaitAll();
    std::printf("nothing was left to wait for after %.3f ms\n", milliseconds_since(begin));

    // Errors: at the statement where they can be known, else at the read; with the line.
    try {
      dot(x, NDArray({3, 3}));
    } catch (const Error& error) {
      std::printf("at the statement: %s: %s\n", error.kind().c_str(), error.what());
    }
    NDArray taken = Operator("take")(x, NDArray(std::vector<float>{1000}, {1}))
                        .SetParam("mode", "raise")
                        .Invoke();
    try {
      taken.WaitToRead();
    } catch (const Error& error) {
      std::printf("at the read: %s: %s\n", error.kind().c_str(), error.what());
    }
    return 0;
  } catch (const Error& error) {
    std::printf("%s: %s\n", error.kind().c_str(), error.what());
    return 1;
  }
}
