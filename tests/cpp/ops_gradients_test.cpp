// SPDX-License-Identifier: Apache-2.0
// Recording, walking backwards and gradients of gradients by a front end that is no Python.
#include <cmath>
#include <vector>

#include "ops/views.h"
#include "ops_support.h"

using namespace afterglow;
using namespace ops;  // the operators
using support::gradients;
using support::Handle;
using support::is_close;
using support::number;
using support::Recorded;
using support::variable;

TEST("a chain of elementwise ops") {
  const Value x = variable({0.5f, 1, 2});
  Value y;
  {
    const Recorded scope;
    y = sum(ops::exp(x) * x + ops::sin(x) / 2, {0}, false);
  }
  const std::vector<Handle> found = gradients(y, {x});
  for (const int i : {0, 1, 2}) {
    const double v = std::vector{0.5, 1.0, 2.0}[static_cast<std::size_t>(i)];
    CHECK(is_close(number(found[0], i), std::exp(v) * (1 + v) + std::cos(v) / 2));
  }
}

TEST("what was broadcast is summed up, and views lead back") {
  const Value x = variable({1, 2, 3, 4}), factor = variable({3});
  Value y;
  {
    const Recorded scope;
    const Value matrix = shaped(x, {2, 2});
    y = sum(matrix * factor * matrix, {0, 1}, false);
  }
  const std::vector<Handle> found = gradients(y, {x, factor});
  CHECK_EQUAL(found[0].array.layout->rank(), 1);
  for (const int i : {0, 1, 2, 3}) CHECK(is_close(number(found[0], i), 2.0 * 3 * (i + 1)));
  CHECK(is_close(number(found[1]), 1 + 4 + 9 + 16));
}

TEST("a gradient of a gradient") {
  const Value x = variable({0.7f});
  Value first;
  {
    const Recorded scope;
    const Value y = x * x * x * ops::exp(x);
    first = gradients(y, {x}, false)[0];
  }
  const double v = 0.7f;
  CHECK(is_close(number(first), std::exp(v) * (v * v * v + 3 * v * v)));
  const std::vector<Handle> second = gradients(first, {x});
  CHECK(is_close(number(second[0]), std::exp(v) * (v * v * v + 6 * v * v + 6 * v)));
}

TEST("a write to a part hides what was there") {
  const Value x = variable({1, 2, 3}), y = variable({5});
  Value total;
  {
    const Recorded scope;
    Value changed = x * 2;
    write(changed, y * y, {1, {1}, {1}});
    total = sum(changed * changed, {0}, false);
  }
  const std::vector<Handle> found = gradients(total, {x, y});
  for (const int i : {0, 1, 2}) CHECK(is_close(number(found[0], i), i == 1 ? 0 : 8.0 * (i + 1)));
  CHECK(is_close(number(found[1]), 4.0 * 125));
}

TEST("a value that was overwritten is refused, and the walk leaves everything as it was") {
  Value x = variable({1, 2});
  Value y;
  {
    const Recorded scope;
    const Value inner = x * 1;
    y = sum(inner * inner, {0}, false);
    const autograd::Unrecorded pause;
    Value target = inner;
    target.origin = {};
    assign(target, 0);
  }
  CHECK_THROWS("overwritten", gradients(y, {x}));
  CHECK_THROWS("overwritten", gradients(y, {x}));  // the graph was not used up
}

CHECK_MAIN
