// SPDX-License-Identifier: Apache-2.0
// The whole test framework: TEST("name") { CHECK(...); }, one program per topic. Arguments select
// tests whose names contain them.
#pragma once

#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace check {

struct Case {
  const char* name;
  std::function<void()> body;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Register {
  Register(const char* name, std::function<void()> body) {
    cases().push_back({name, std::move(body)});
  }
};

[[noreturn]] inline void fail(const char* file, int line, const std::string& text) {
  std::ostringstream message;
  message << file << ":" << line << ": " << text;
  throw std::runtime_error(message.str());
}

inline int run(int count, char** arguments) {
  int failed = 0, passed = 0;
  for (const Case& test : cases()) {
    bool selected = count < 2;
    for (int i = 1; i < count; ++i) selected |= std::strstr(test.name, arguments[i]) != nullptr;
    if (!selected) continue;
    try {
      test.body();
      ++passed;
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED %s\n  %s\n", test.name, error.what());
    }
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed || !passed;
}

}  // namespace check

#define CHECK_JOIN2(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN2(a, b)
#define TEST(name)                                                                           \
  static void CHECK_JOIN(test_, __LINE__)();                                                 \
  static check::Register CHECK_JOIN(register_, __LINE__)(name, CHECK_JOIN(test_, __LINE__)); \
  static void CHECK_JOIN(test_, __LINE__)()
#define CHECK(condition) \
  if (!(condition)) check::fail(__FILE__, __LINE__, "CHECK(" #condition ")")
#define CHECK_EQUAL(left, right)                                                    \
  do {                                                                              \
    auto&& left_value = (left);                                                     \
    auto&& right_value = (right);                                                   \
    if (!(left_value == right_value)) {                                             \
      std::ostringstream text;                                                      \
      text << #left " == " #right ": " << left_value << " against " << right_value; \
      check::fail(__FILE__, __LINE__, text.str());                                  \
    }                                                                               \
  } while (0)
/// The expression must throw a std::exception whose text has this part: any other one is a failure.
#define CHECK_THROWS(part, ...)                                                               \
  do {                                                                                        \
    std::optional<std::string> thrown;                                                        \
    try {                                                                                     \
      __VA_ARGS__;                                                                            \
    } catch (const std::exception& error) {                                                   \
      thrown = error.what();                                                                  \
    }                                                                                         \
    if (!thrown) check::fail(__FILE__, __LINE__, #__VA_ARGS__ " did not throw");              \
    if (thrown->find(part) == std::string::npos)                                              \
      check::fail(__FILE__, __LINE__, #__VA_ARGS__ " threw \"" + *thrown + "\", not " #part); \
  } while (0)
#define CHECK_MAIN                        \
  int main(int count, char** arguments) { \
    return check::run(count, arguments);  \
  }
