// SPDX-License-Identifier: Apache-2.0
// Results whose shape depends on values: these wait.
#include <algorithm>

#include "bindings/array_type.h"
#include "bindings/functions.h"
#include "bindings/waiting.h"
#include "kernels/sort.h"
#include "ops/operators.h"
#include "ops/views.h"

namespace afterglow::bindings {
namespace {

/// So many are worked on where they are read.
constexpr std::int64_t few_elements = 64;

/// The different ones of a few elements, in order. None where one of them is nan.
template <class T>
nb::object unique_of_few(const Array& array) {
  T values[few_elements];
  T* end = values + array.size();
  read_value(array, values);
  if (std::any_of(values, end, [](T value) { return value != value; })) return nb::none();
  std::sort(values, end);
  end = std::unique(values, end);
  const std::int64_t shape[] = {end - values};
  Array result = Array::create(Layout::contiguous(shape), array.dtype, array.context());
  fill_from_host(result, values);
  return nb::steal(wrap(std::move(result), false));
}

/// The different elements, in order. None for what is left to NumPy, and where they are recorded.
nb::object unique(nb::handle object) {
  if (!is_array(object.ptr())) return nb::none();
  const autograd::Handle& given = as_array(object.ptr());
  const Array& array = given.array;
  if (!array.size() || !array.layout->is_contiguous() || autograd::state().recording)
    return nb::none();
  if (array.size() <= few_elements) {
    switch (array.dtype) {
      case DType::float32:
        return unique_of_few<float>(array);
      case DType::float64:
        return unique_of_few<double>(array);
      case DType::int32:
        return unique_of_few<std::int32_t>(array);
      case DType::int64:
        return unique_of_few<std::int64_t>(array);
      default:
        return nb::none();
    }
  }
  const lazy::Argument arguments[] = {std::int64_t{0}, true, std::int64_t{0}};
  const Array sorted =
      ops::apply(ops::the_op<"sort">(), arguments, ops::Value(ops::shaped(given, {array.size()})))
          .array;
  wait_for(sorted);
  check_value(sorted);
  std::int64_t kept = 0;
  {
    WithoutGil released;
    kept = kernels::drop_equal_neighbours(sorted.data(), sorted.dtype, sorted.size());
  }
  autograd::Handle front = ops::contiguous_view(autograd::Handle{sorted, {}, {}, false}, 0, {kept});
  // A few of many must not keep the memory of all.
  return nb::steal(wrap(kept > sorted.size() / 2 ? std::move(front) : ops::copy(front)));
}

}  // namespace

void bind_unique(nb::module_& module) {
  add_quick_function<unique>(
      module, "unique",
      "The different elements of an np array in order, or None for what Python does.");
}

}  // namespace afterglow::bindings
