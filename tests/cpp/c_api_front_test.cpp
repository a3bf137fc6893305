// SPDX-License-Identifier: Apache-2.0
// The C++ front end over the C interface: parameters in text, gradients, threads, forks.
#include <sys/wait.h>
#include <unistd.h>
#include <afterglow/afterglow.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "check.h"

using namespace afterglow::cpp;

namespace {

using Numbers = std::vector<float>;

Numbers read(const NDArray& array) {
  return array.read<float>();
}

TEST("operators take arrays and numbers on either side") {
  const NDArray x(Numbers{1, 2, 4}, {3}), y(Numbers{8, 8, 8}, {3});
  CHECK(read(x + y) == Numbers({9, 10, 12}));
  CHECK(read(y - 1) == Numbers({7, 7, 7}));
  CHECK(read(1 - x) == Numbers({0, -1, -3}));
  CHECK(read(8 / x * 0.5) == Numbers({4, 2, 1}));
  CHECK(read(y / x) == Numbers({8, 4, 2}));
}

TEST("parameters are read as Python writes them") {
  const NDArray x(Numbers{1, 2, 3, 4, 5, 6}, {2, 3});
  const auto summed = [&](const char* axis) {
    return read(Operator("sum")(x).SetParam("axis", axis).Invoke());
  };
  CHECK(summed("1") == Numbers({6, 15}));
  CHECK(summed("(1,)") == Numbers({6, 15}));
  CHECK(summed("[ 0 ]") == Numbers({5, 7, 9}));
  CHECK(summed("(0L, 1L)") == Numbers({21}));
  CHECK(summed("None") == Numbers({21}));
  for (const char* wrong : {"", "1.5", "(1", "1)", "(1,,)", "one", "((((1))))", "1 2"})
    CHECK_THROWS("axis is", summed(wrong));
  CHECK_EQUAL(Operator("cast")(x).SetParam("dtype", "float64").Invoke().GetDType(), AG_FLOAT64);
  CHECK_THROWS("dtype", Operator("cast")(x).SetParam("dtype", "float65").Invoke());
  CHECK_THROWS("'relv'", Operator("Activation")(x).SetParam("act_type", "relv").Invoke());
  const NDArray padded = Operator("np.pad")(x).SetParam("pad_width", "((0, 1), (0, 0))").Invoke();
  CHECK(padded.GetShape() == Shape({3, 3}));
  const NDArray kept = Operator("sum")(x).SetParam("keepdims", true).SetParam("axis", 1).Invoke();
  CHECK(kept.GetShape() == Shape({2, 1}));
  CHECK_THROWS("keepdims is 'maybe'", Operator("sum")(x).SetParam("keepdims", "maybe").Invoke());
}

TEST("inputs may be left out, but not those that are needed") {
  const NDArray x(Numbers{1, 2}, {1, 2}), weight(Numbers{1, 1, 2, 2, 3, 3}, {3, 2});
  Operator dense("FullyConnected");
  dense(x, weight).SetParam("num_hidden", 3).SetParam("no_bias", true);
  CHECK(read(dense.Invoke()) == Numbers({3, 6, 9}));
  CHECK_THROWS("'weight' is missing",
               Operator("FullyConnected")(x).SetParam("num_hidden", 3).Invoke());
  CHECK_THROWS("num_hidden", Operator("FullyConnected")(x, weight, NDArray({3})).Invoke());
}

TEST("views share the memory of what they are views of") {
  NDArray x(Numbers{1, 2, 3, 4}, {4});
  NDArray part = x.Slice(1, 3);
  part.assign(NDArray(Numbers{20, 30}, {2}));
  CHECK(read(x) == Numbers({1, 20, 30, 4}));
  CHECK(read(x.Reshape({2, -1}).At(1)) == Numbers({30, 4}));
  CHECK(x.At(-1).GetShape().empty());
  const Numbers others = {7, 8};
  part.SyncCopyFromCPU(others.data(), 8);
  CHECK(read(x) == Numbers({1, 7, 8, 4}));
}

TEST("gradients go where they are asked for, and add up") {
  NDArray x(Numbers{1, 2, 3}, {3});
  x.attach_grad(AG_GRADIENT_ADD);
  for (int i = 0; i < 2; ++i) {
    NDArray y;
    {
      const autograd::Record recording;
      y = sum(x * x);
    }
    y.backward();
  }
  CHECK(read(x.grad()) == Numbers({4, 8, 12}));
  CHECK(!x.detach().grad());
  CHECK_THROWS("is no head", sum(x).backward());
  int recording = 1;
  ensure(AGIsRecording(&recording));
  CHECK_EQUAL(recording, 0);
}

TEST("recording belongs to a thread") {
  const autograd::Record recording;
  int other = 1;
  std::thread([&] { ensure(AGIsRecording(&other)); }).join();
  CHECK_EQUAL(other, 0);
}

TEST("threads issue and read large arrays side by side") {
  constexpr int size = 100000;  // copied out by a task
  NDArray shared(Numbers(size, 1), {size});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 30; ++i) {
        if (t == 0) shared.assign(shared);
        const Numbers numbers = read(shared * t + i);
        wrong += std::ranges::count(numbers, static_cast<float>(t + i)) != size;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0);
}

TEST("a thread that runs far ahead is stopped, and others go on") {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      NDArray total({1000});
      // Batches that only pending calls keep alive.
      for (int i = 0; i < 3000; ++i) total = total + NDArray(Numbers(1000, 1), {1000});
      wrong += read(total) != Numbers(1000, 3000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(wrong.load(), 0);
}

TEST("work goes on in a forked child") {
  NDArray x(Numbers(1000, 1), {1000});
  for (int i = 0; i < 50; ++i) x = x + 1;
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) read(NDArray(Numbers{1}, {1}) + 1);
  });
  const pid_t child = fork();
  if (child == 0) _exit(read(x * 2)[999] == 102 && read(x + 1)[0] == 52 ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  ends = true;
  other.join();
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);
  CHECK(read(x)[0] == 51);
}

TEST("numbers are drawn from the seed") {
  random_seed(5);
  const Numbers first = read(random_uniform({4}));
  random_seed(5);
  CHECK(read(random_uniform({4})) == first);
  CHECK(read(random_uniform({4})) != first);
}

TEST("reading as another type is refused") {
  const NDArray x(std::vector<std::int64_t>{1, 2}, {2});
  CHECK_EQUAL(x.GetDType(), AG_INT64);
  CHECK(x.read<std::int64_t>()[1] == 2);
  CHECK_THROWS("read as type 0", read(x));
  CHECK_THROWS("NULL", NDArray().WaitToRead());
}

TEST("files of arrays are read as they were written") {
  const std::string path = "c_api_front_test.params";
  const std::vector<std::uint8_t> bytes = {1, 2, 255};
  const NDArray matrix(Numbers{1, 2, 3, 4}, {2, 2});
  NDArray::Save(path, {{"arg:weight", matrix.Reshape({4}) + 1},
                       {"row", matrix.At(1)},
                       {"bytes", NDArray(bytes, {3})},
                       {"number", NDArray(Numbers{7}, Shape{})},
                       {"nothing", NDArray(Numbers{}, {0, 2})}});
  const auto loaded = NDArray::LoadToMap(path);
  CHECK_EQUAL(loaded.size(), std::size_t{5});
  CHECK(read(loaded.at("arg:weight")) == Numbers({2, 3, 4, 5}));
  CHECK(read(loaded.at("row")) == Numbers({3, 4}));
  CHECK(loaded.at("bytes").read<std::uint8_t>() == bytes);
  CHECK(loaded.at("number").GetShape().empty());
  CHECK(loaded.at("nothing").GetShape() == Shape({0, 2}));
  std::remove(path.c_str());
  CHECK_THROWS("cannot be opened", NDArray::LoadToMap(path));
  CHECK_THROWS("cannot be written", NDArray::Save("no/such/folder/file", loaded));
}

TEST("a device that waits for another one in vain is told so") {
  const NDArray x(Numbers{1, 2, 3, 4}, {2, 2}), one(Numbers{1, 1}, {2});
  if (const char* engine = std::getenv("AFTERGLOW_ENGINE");
      engine && std::string(engine) == "serial")
    return;
  const autograd::Record recording;
  const NDArray normalised = Operator("_contrib_SyncBatchNorm")(x, one, one, one + 0, one + 0)
                                 .SetParam("ndev", 2)
                                 .SetParam("key", "norm")
                                 .Invoke();
  CHECK_THROWS("2 devices meet", normalised.WaitToRead());
}

TEST("any op takes anything, or says what is wrong") {
  std::size_t count;
  const char* const* names;
  ensure(AGListOps(&count, &names));
  const std::vector<NDArray> arrays = {NDArray(Numbers{1, -2, 3, 0.5, 5, 6}, {2, 3}),
                                       NDArray(Numbers{0, 1}, {2}),
                                       NDArray(std::vector<std::int64_t>{1, 0, 1, 1}, {2, 2}),
                                       NDArray(Numbers{2}, Shape{}),
                                       NDArray(Numbers{}, {0, 3}),
                                       NDArray(Numbers(2 * 3 * 4 * 4, 1), {2, 3, 4, 4})};
  int calls = 0, answered = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t inputs = 0; inputs < 5; ++inputs) {
      for (std::size_t first = 0; first < arrays.size(); ++first) {
        Operator op(names[i]);
        for (std::size_t k = 0; k < inputs; ++k) op(arrays[(first + k * (i % 3)) % arrays.size()]);
        ++calls;
        try {
          for (const NDArray& result : op.InvokeAll()) result.WaitToRead();
          ++answered;
        } catch (const Error& error) {
          CHECK(std::string(error.what()).size() > 3);
        }
        if (inputs == 0) break;
      }
    }
  }
  CHECK(calls > 20000);
  CHECK(answered > 2000);
}

TEST("values that take too long are said to") {
  NDArray x(Numbers(1 << 20, 1), {1 << 10, 1 << 10});
  NDArray y = x;
  for (int i = 0; i < 60; ++i) y = dot(y, x) * 0.001;
  const int outcome = AGArrayWait(y.GetHandle(), 0);
  if (outcome) CHECK_EQUAL(std::string(AGGetLastErrorKind()), "TimeoutError");
}

}  // namespace

CHECK_MAIN
