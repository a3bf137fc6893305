// SPDX-License-Identifier: Apache-2.0
// Updating many parameters: which of them have a gradient, and one call for all.
#include <cstddef>
#include <vector>

#include "autograd/anomaly.h"
#include "autograd/call_builder.h"
#include "bindings/functions.h"
#include "bindings/site.h"
#include "bindings/tape.h"
#include "lazy/aggregate.h"
#include "lazy/capture.h"

namespace afterglow::bindings {
namespace {

/// The arrays of all rows, one row after another. None stands for the gradient of the first array
/// of its row. Nothing where a row is of another length or has no gradient.
std::vector<Array> arrays_of(nb::list rows, std::size_t width) {
  std::vector<Array> arrays;
  arrays.reserve(nb::len(rows) * width);
  for (nb::handle row : rows) {
    if (!PyTuple_Check(row.ptr()) || nb::len(row) != width) return {};
    PyObject* const first = PyTuple_GET_ITEM(row.ptr(), 0);
    for (std::size_t i = 0; i < width; ++i) {
      PyObject* const item = PyTuple_GET_ITEM(row.ptr(), static_cast<Py_ssize_t>(i));
      if (item != Py_None) {
        arrays.push_back(need_array(item).array);
        continue;
      }
      const autograd::Origin& origin = as_array(first).origin;
      if (!origin || !origin.node->gradient.storage) return {};
      arrays.push_back(origin.node->gradient);
    }
  }
  return arrays;
}

/// Calls `function`, which works on the arrays of the first row, and lets one call do the same to
/// all rows. Returns how many rows were served: only the first where the calls are not elementwise,
/// none (and nothing is called) where the rows do not suit one call.
std::size_t issue_for_rows(nb::callable function, nb::list rows) {
  lazy::Window& window = lazy::window();
  const std::size_t count = nb::len(rows);
  // What is captured is issued again call by call.
  if (count < 2 || window.serial() || lazy::Capture::current() || autograd::detects_anomalies())
    return 0;
  const std::size_t width = nb::len(nb::handle(rows[0]));
  std::vector<Array> arrays = arrays_of(rows, width);
  if (arrays.empty() || !lazy::suit_one_call(arrays, width)) return 0;
  autograd::wait_while_full();
  lazy::Diversion diversion;
  try {
    function();
  } catch (...) {
    diversion.give_up(window);  // what was issued before the exception counts, as everywhere
    throw;
  }
  const auto row = std::span(arrays).first(width);
  auto aggregate = lazy::Aggregate::make(diversion.calls(), row);
  // The call for all rows makes nothing but their arrays.
  if (!aggregate || diversion.is_observed(row)) {
    diversion.give_up(window);
    return 1;
  }
  lazy::issue_aggregate(window, std::move(aggregate), std::move(arrays), capture_site());
  return count;
}

bool is_fresh(PyObject* array) {
  const autograd::Origin& origin = need_array(array).origin;
  return origin && origin.node->fresh;
}

/// The first array whose gradient no backward pass has computed since it was used; -1 for none.
std::ptrdiff_t first_stale(nb::list arrays) {
  std::ptrdiff_t index = 0;
  for (nb::handle array : arrays) {
    if (!is_fresh(array.ptr())) return index;
    ++index;
  }
  return -1;
}

void set_stale(nb::list arrays, bool stale) {
  for (nb::handle array : arrays) {
    const autograd::Origin& origin = need_array(array.ptr()).origin;
    if (origin) origin.node->fresh = !stale;
  }
}

}  // namespace

void bind_update(nb::module_& module) {
  module.def("issue_for_rows", issue_for_rows, nb::arg("function"), nb::arg("rows"));
  module.def("first_stale", first_stale, nb::arg("arrays"));
  module.def("set_stale", set_stale, nb::arg("arrays"), nb::arg("stale") = true);
}

}  // namespace afterglow::bindings
