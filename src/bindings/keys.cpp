// SPDX-License-Identifier: Apache-2.0
#include "bindings/keys.h"

#include <algorithm>
#include <vector>

#include "base/element_types.h"
#include "bindings/array_type.h"
#include "bindings/functions.h"
#include "bindings/waiting.h"
#include "ops/operators.h"

namespace afterglow::bindings {
namespace {

/// Reads a key item by item, from the first axis on.
class KeyReader {
 public:
  explicit KeyReader(const Layout& layout) : layout_(layout) {}

  /// False where the item is of another kind or does not fit. `rest` counts the axes that the items
  /// behind it use.
  bool read(PyObject* item, int rest) {
    if (item == Py_None) {
      place_.shape.push_back(1);
      place_.strides.push_back(0);
      return true;
    }
    if (item == Py_Ellipsis) {
      keep_until(layout_.rank() - rest);
      return true;
    }
    if (axis_ == layout_.rank()) return false;
    return PySlice_Check(item) ? read_slice(item) : read_integer(item);
  }

  ops::Part finish() {
    keep_until(layout_.rank());
    return std::move(place_);
  }

 private:
  void keep_until(int end) {
    for (; axis_ < end; ++axis_) {
      place_.shape.push_back(layout_.shape()[axis_]);
      place_.strides.push_back(layout_.strides()[axis_]);
    }
  }

  bool read_integer(PyObject* item) {
    if (!PyLong_CheckExact(item)) return false;
    int overflow = 0;
    long long index = PyLong_AsLongLongAndOverflow(item, &overflow);
    const std::int64_t extent = layout_.shape()[axis_];
    if (overflow || index < -extent || index >= extent) return false;
    if (index < 0) index += extent;
    place_.offset += index * layout_.strides()[axis_++];
    return true;
  }

  bool read_slice(PyObject* item) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(item, &start, &stop, &step)) {
      PyErr_Clear();
      return false;
    }
    const Py_ssize_t length = PySlice_AdjustIndices(layout_.shape()[axis_], &start, &stop, step);
    const std::int64_t stride = layout_.strides()[axis_++];
    if (length) place_.offset += start * stride;
    place_.shape.push_back(length);
    place_.strides.push_back(step * stride);
    return true;
  }

  const Layout& layout_;
  ops::Part place_;
  int axis_ = 0;
};

/// So many are worth several threads.
constexpr std::int64_t many_elements = 1 << 16;

/// Which elements are not 0. Waits for them.
std::vector<std::uint8_t> truth_of(const Array& array) {
  const auto count = static_cast<std::size_t>(array.size());
  std::vector<std::uint8_t> truth(count);
  if (array.dtype == DType::boolean) {
    read_value(array, truth.data());
    return truth;
  }
  with_type(array.dtype, [&]<class T>(T) {
    std::vector<T> values(count);
    read_value(array, values.data());
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, HalfBits>)
        truth[i] = (values[i].bits & 0x7fff) != 0;  // not -0 either
      else
        truth[i] = values[i] != 0;
    }
  });
  return truth;
}

nb::object positions_in_vector(nb::handle object) {
  const bool is_vector = is_array(object.ptr()) && as_array(object.ptr()).array.layout->rank() == 1;
  return is_vector ? true_positions(object) : nb::none();
}

}  // namespace

std::optional<ops::Part> place_of_key(const Layout& layout, PyObject* key) {
  KeyReader reader(layout);
  if (!PyTuple_Check(key)) {
    if (!reader.read(key, 0)) return {};
    return reader.finish();
  }
  int used = 0, ellipses = 0;
  const Py_ssize_t count = PyTuple_GET_SIZE(key);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(key, i);
    ellipses += item == Py_Ellipsis;
    used += item != Py_Ellipsis && item != Py_None;
  }
  if (ellipses > 1 || used > layout.rank()) return {};
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(key, i);
    used -= item != Py_Ellipsis && item != Py_None;
    if (!reader.read(item, used)) return {};
  }
  return reader.finish();
}

nb::object true_positions(nb::handle mask) {
  const autograd::Handle& given = as_array(mask.ptr());
  Array array = given.array;
  if (array.dtype != DType::boolean && array.size() >= many_elements) {
    const autograd::Unrecorded pause;
    array = ops::not_equal(given, 0).array;
  }
  const std::vector<std::uint8_t> truth = truth_of(array);
  const auto count = static_cast<std::int64_t>(truth.size()) - std::ranges::count(truth, 0);
  const std::int64_t shape[] = {count};
  Array positions = Array::create(Layout::contiguous(shape), DType::int64, array.context());
  take_buffer_or_wait(*positions.storage);
  const auto fill = [&] {
    auto* target = reinterpret_cast<std::int64_t*>(positions.data());
    // Without a branch, which a mask makes hard to foresee.
    std::int64_t found = 0;
    for (std::int64_t i = 0; found < count; ++i) {
      target[found] = i;
      found += truth[static_cast<std::size_t>(i)] != 0;
    }
  };
  if (array.size() > bytes_worth_releasing) {
    WithoutGil released;
    fill();
  } else {
    fill();
  }
  return nb::steal(wrap(std::move(positions), given.legacy));
}

void bind_keys(nb::module_& module) {
  add_quick_function<positions_in_vector>(
      module, "true_positions",
      "Waits for an array of one axis; the numbers of its elements that are not 0 as an array of "
      "int64. None for what is no such array.");
}

}  // namespace afterglow::bindings
