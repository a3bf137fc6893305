// SPDX-License-Identifier: Apache-2.0
// The plain forms of functions that rearrange elements: what afterglow/numpy/shape.py and its
// neighbours do for all forms. A composition returns nullptr for everything that is not plain.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "bindings/operations.h"
#include "bindings/shortcuts.h"
#include "bindings/site.h"
#include "bindings/waiting.h"
#include "kernels/sort.h"
#include "lazy/immediate.h"
#include "ops/table.h"

namespace afterglow::bindings {
namespace {

using Given = std::span<PyObject* const>;

/// So many are worked on where they are read.
constexpr std::int64_t few_elements = 64;

const lazy::Op& op_named(const char* name) {
  return *ops::table().find(name);
}

/// An array that lies in memory as it looks, which all arrays that programs hold do.
const Array* plain_array(PyObject* object, bool legacy) {
  if (!object || !is_plain_array(object, legacy)) return nullptr;
  const Array& array = as_array(object).array;
  return array.layout->is_contiguous() ? &array : nullptr;
}

/// The argument, or nullptr where it is None and that is the default.
PyObject* unless_none(PyObject* object) {
  return object == Py_None ? nullptr : object;
}

std::optional<int> plain_axis(PyObject* object, int rank) {
  const auto axis = plain_integer(object);
  if (!axis || *axis < -rank || *axis >= rank) return {};
  return static_cast<int>(*axis < 0 ? *axis + rank : *axis);
}

Array part(const Array& array, std::int64_t offset, const Shape& shape, const Shape& strides) {
  Array result = array;
  result.offset += offset;
  result.layout = Layout::strided(shape, strides);
  check_inside(result, array);
  return result;
}

Array shaped(const Array& array, std::span<const std::int64_t> shape) {
  Array result = array;
  result.layout = Layout::contiguous(shape);
  return result;
}

void set_input(lazy::Operand& operand, const Array& array) {
  static_cast<Array&>(operand) = array;
}

Array issue_call(const lazy::Op& op, std::span<const Array> inputs,
                 std::span<const lazy::Argument> arguments, bool legacy,
                 const Array* out = nullptr) {
  lazy::Draft draft(op);
  for (const Array& input : inputs) set_input(draft->inputs.emplace_back(), input);
  draft->site = capture_site();
  return autograd::issue_statement(draft, {arguments, legacy, {}, out});
}

Array copied(const Array& view, bool legacy) {
  static const lazy::Op& copy = op_named("copy");
  const lazy::Argument arguments[3];
  return issue_call(copy, {&view, 1}, arguments, legacy);
}

Array joined(std::span<const Array> arrays, std::int64_t axis, bool legacy) {
  static const lazy::Op& concat = op_named("concat");
  const lazy::Argument arguments[] = {axis};
  return issue_call(concat, arrays, arguments, legacy);
}

/// A new array with the same number everywhere.
Array filled(std::int64_t value, Shape shape, DType dtype, Context context, bool legacy) {
  static const lazy::Op& copy = op_named("copy");
  lazy::Draft draft(copy);
  lazy::set_immediate(draft->inputs.emplace_back(), value);
  draft->site = capture_site();
  const lazy::Argument arguments[] = {static_cast<std::int64_t>(dtype), std::move(shape),
                                      std::monostate{}};
  return autograd::issue_statement(draft, {arguments, legacy, context, nullptr});
}

/// target[...] = value.
template <class Value>
void write(const Array& target, const Value& value, bool legacy) {
  static const lazy::Op& copy = op_named("copy");
  lazy::Draft draft(copy);
  if constexpr (std::is_same_v<Value, Array>) {
    set_input(draft->inputs.emplace_back(), value);
  } else {
    lazy::set_immediate(draft->inputs.emplace_back(), value);
  }
  draft->site = capture_site();
  const Context context = target.context();
  const lazy::Argument arguments[] = {static_cast<std::int64_t>(target.dtype),
                                      Shape(target.shape().begin(), target.shape().end()),
                                      Shape{context.type, context.id}};
  autograd::issue_statement(draft, {arguments, legacy, context, &target});
}

Shape extents_of(const Array& array) {
  return {array.shape().begin(), array.shape().end()};
}

Shape strides_of(const Array& array) {
  return {array.layout->strides().begin(), array.layout->strides().end()};
}

/// Copies a view that repeats elements into an array of another shape with as many. Nothing where
/// it repeats runs too short for a loop over them: see afterglow/_rearrange.py.
PyObject* stored(const Array& view, const Shape& shape, bool legacy) {
  constexpr std::int64_t tiny = 256;
  std::int64_t run = 1;
  for (int axis = view.layout->rank() - 1; axis >= 0 && view.size() >= tiny; --axis) {
    run *= view.shape()[axis];
    if (run <= 0 || run > 3) break;
    if (view.shape()[axis] > 1 && view.layout->strides()[axis] == 0) return nullptr;
  }
  return wrap(shaped(copied(view, legacy), shape), legacy);
}

// --- other orders ---

PyObject* swapaxes(Given given, bool legacy) {
  const Array* array = plain_array(given[0], legacy);
  if (!array) return nullptr;
  const auto first = plain_axis(given[1], array->layout->rank());
  const auto second = plain_axis(given[2], array->layout->rank());
  if (!first || !second) return nullptr;
  Shape shape = extents_of(*array), strides = strides_of(*array);
  std::swap(shape[*first], shape[*second]);
  std::swap(strides[*first], strides[*second]);
  return wrap(copied(part(*array, 0, shape, strides), legacy), legacy);
}

PyObject* flip(Given given, bool legacy) {
  const Array* array = plain_array(given[0], legacy);
  if (!array || !array->size()) return nullptr;
  const int rank = array->layout->rank();
  PyObject* const named = unless_none(given[1]);
  const auto only = named ? plain_axis(named, rank) : std::nullopt;
  if (named && !only) return nullptr;
  Shape strides = strides_of(*array);
  std::int64_t offset = 0;
  const int first = only.value_or(0), last = only.value_or(rank - 1);
  for (int axis = first; axis <= last; ++axis) {
    offset += (array->shape()[axis] - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return wrap(copied(part(*array, offset, extents_of(*array), strides), legacy), legacy);
}

PyObject* roll(Given given, bool legacy) {
  const Array* array = plain_array(given[0], legacy);
  const auto shift = array ? plain_integer(given[1]) : std::nullopt;
  if (!shift || !array->size()) return nullptr;
  PyObject* const named = unless_none(given[2]);
  const std::int64_t all[] = {array->size()};
  const Array flat = named ? *array : shaped(*array, all);
  const auto axis = named ? plain_axis(named, flat.layout->rank()) : std::optional(0);
  if (!axis) return nullptr;
  const std::int64_t extent = flat.shape()[*axis];
  const std::int64_t cut = extent - ((*shift % extent) + extent) % extent;
  if (cut == extent) return nullptr;
  const Shape strides = strides_of(flat);
  Shape tail = extents_of(flat), head = tail;
  tail[*axis] = extent - cut;
  head[*axis] = cut;
  const Array ends[] = {part(flat, cut * strides[*axis], tail, strides),
                        part(flat, 0, head, strides)};
  const Array result = joined(ends, *axis, legacy);
  return wrap(named ? result : shaped(result, array->shape()), legacy);
}

// --- more elements ---

PyObject* tile(Given given, bool legacy) {
  const Array* array = plain_array(given[0], legacy);
  std::optional<Shape> counts = array ? plain_integers(given[1]) : std::nullopt;
  if (!counts) return nullptr;
  Shape extents = extents_of(*array), steps = strides_of(*array);
  const std::size_t rank = std::max(extents.size(), counts->size());
  steps.insert(steps.begin(), rank - extents.size(), 0);
  extents.insert(extents.begin(), rank - extents.size(), 1);
  counts->insert(counts->begin(), rank - counts->size(), 1);
  Shape shape, strides, result;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::int64_t count = (*counts)[axis];
    if (count < 0) return nullptr;
    if (count != 1) {
      shape.push_back(count);
      strides.push_back(0);
    }
    shape.push_back(extents[axis]);
    strides.push_back(steps[axis]);
    result.push_back(extent_product(count, extents[axis]));
  }
  if (shape.size() > static_cast<std::size_t>(max_rank)) return nullptr;
  return stored(part(*array, 0, shape, strides), result, legacy);
}

PyObject* repeat(Given given, bool legacy) {
  const Array* array = plain_array(given[0], legacy);
  const auto count = array ? plain_integer(given[1]) : std::nullopt;
  if (!count || *count < 0 || array->layout->rank() >= max_rank) return nullptr;
  PyObject* const named = unless_none(given[2]);
  const std::int64_t all[] = {array->size()};
  const Array flat = named ? *array : shaped(*array, all);
  const auto axis = named ? plain_axis(named, flat.layout->rank()) : std::optional(0);
  if (!axis) return nullptr;
  Shape shape = extents_of(flat), strides = strides_of(flat), result = shape;
  shape.insert(shape.begin() + *axis + 1, *count);
  strides.insert(strides.begin() + *axis + 1, 0);
  result[*axis] = extent_product(result[*axis], *count);
  return stored(part(flat, 0, shape, strides), result, legacy);
}

/// Zeros around an array: `widths` is one number, or a tuple with a pair for each axis.
PyObject* pad(Given given, bool legacy) {
  constexpr std::int64_t small = 1 << 15;  // larger ones write their frame only
  const Array* array = plain_array(given[0], legacy);
  if (!array || !given[1] || !array->size() || array->size() >= small) return nullptr;
  Shape shape = extents_of(*array);
  const auto one = plain_integer(given[1]);
  if (!one && (!PyTuple_CheckExact(given[1]) ||
               PyTuple_GET_SIZE(given[1]) != static_cast<Py_ssize_t>(shape.size()))) {
    return nullptr;
  }
  Shape before(shape.size(), one.value_or(0));
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t after = one.value_or(0);
    if (!one) {
      PyObject* const item = PyTuple_GET_ITEM(given[1], static_cast<Py_ssize_t>(axis));
      const auto pair = PyTuple_CheckExact(item) ? plain_integers(item) : std::nullopt;
      if (!pair || pair->size() != 2) return nullptr;
      before[axis] = (*pair)[0];
      after = (*pair)[1];
    }
    if (before[axis] < 0 || after < 0) return nullptr;
    shape[axis] = extent_sum(shape[axis], extent_sum(before[axis], after));
  }
  const Array whole = filled(0, shape, array->dtype, array->context(), legacy);
  const Shape strides = strides_of(whole);
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) offset += before[axis] * strides[axis];
  write(part(whole, offset, extents_of(*array), strides), *array, legacy);
  return wrap(whole, legacy);
}

PyObject* stack(Given given, bool legacy) {
  PyObject* const items = given[0];
  if (!items || (!PyTuple_CheckExact(items) && !PyList_CheckExact(items))) return nullptr;
  std::vector<Array> arrays;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
    const Array* array = plain_array(PySequence_Fast_GET_ITEM(items, i), legacy);
    if (!array || (i && !same_shape(*array->layout, *arrays[0].layout))) return nullptr;
    arrays.push_back(*array);
  }
  if (arrays.empty() || arrays[0].layout->rank() >= max_rank) return nullptr;
  Shape shape = extents_of(arrays[0]);
  const int rank = arrays[0].layout->rank() + 1;
  const auto axis = given[1] ? plain_axis(given[1], rank) : std::optional(0);
  if (!axis) return nullptr;
  shape.insert(shape.begin() + *axis, 1);
  const Reference<Layout> layout = Layout::contiguous(shape);
  for (Array& array : arrays) array.layout = layout;
  return wrap(joined(arrays, *axis, legacy), legacy);
}

// --- new arrays ---

/// shape, dtype.
template <std::int64_t value>
PyObject* constant(Given given, bool legacy) {
  std::optional<Shape> shape = given[0] ? plain_integers(given[0]) : std::nullopt;
  const auto number =
      unless_none(given[1]) ? plain_dtype(given[1]) : std::optional<std::int64_t>(0);
  if (!shape || !number || !contexts_are_plain()) return nullptr;
  for (const std::int64_t extent : *shape) {
    if (extent < 0) return nullptr;
  }
  return wrap(filled(value, std::move(*shape), static_cast<DType>(*number), {}, legacy), legacy);
}

PyObject* eye(Given given, bool legacy) {
  const auto rows = given[0] ? plain_integer(given[0]) : std::nullopt;
  const auto columns = unless_none(given[1]) ? plain_integer(given[1]) : rows;
  const auto offset = given[2] ? plain_integer(given[2]) : std::optional<std::int64_t>(0);
  const auto number =
      unless_none(given[3]) ? plain_dtype(given[3]) : std::optional<std::int64_t>(0);
  if (!contexts_are_plain() || !rows || !columns || !offset || !number) return nullptr;
  if (*rows < 0 || *columns < 0) return nullptr;
  const std::int64_t k = *offset;
  if (k > *columns || k < -*rows) return nullptr;
  const Array result = filled(0, {*rows, *columns}, static_cast<DType>(*number), {}, legacy);
  const std::int64_t length =
      k >= 0 ? std::min(*rows, *columns - k) : std::min(*rows + k, *columns);
  if (length > 0) {
    const Array line = part(result, k >= 0 ? k : -k * *columns, {length}, {*columns + 1});
    write(line, std::int64_t{1}, legacy);
  }
  return wrap(result, legacy);
}

/// arange of integers.
PyObject* arange(Given given, bool legacy) {
  static const lazy::Op& op = op_named("arange");
  auto start = plain_integer(given[0]);
  PyObject* const end = unless_none(given[1]);
  auto stop = end ? plain_integer(end) : start;
  const auto step = given[2] ? plain_integer(given[2]) : std::optional<std::int64_t>(1);
  const auto number =
      unless_none(given[3]) ? plain_dtype(given[3]) : std::optional<std::int64_t>(0);
  // Numbers so large are counted by Python.
  const auto is_far = [](std::int64_t number) {
    constexpr std::int64_t far = std::int64_t{1} << 61;
    return number <= -far || number >= far;
  };
  if (!contexts_are_plain() || !start || !stop || !step || !number || *step == 0) return nullptr;
  if (!end) start = 0;
  if (is_far(*start) || is_far(*stop) || is_far(*step)) return nullptr;
  const auto dtype = static_cast<DType>(*number);
  if (dtype == DType::boolean || dtype == DType::float16) return nullptr;
  const std::int64_t distance = *stop - *start, sign = *step > 0 ? 1 : -1;
  const std::int64_t count = std::max<std::int64_t>(0, (distance + *step - sign) / *step);
  const lazy::Argument arguments[] = {*start, *step, count, std::int64_t{1}, *number};
  return wrap(issue_call(op, {}, arguments, legacy), legacy);
}

PyObject* permutation(Given given, bool legacy) {
  static const lazy::Op &op = op_named("arange"), &shuffle = op_named("shuffle");
  const auto count = given[0] ? plain_integer(given[0]) : std::nullopt;
  if (!contexts_are_plain() || !count || *count < 0) return nullptr;
  const lazy::Argument arguments[] = {std::int64_t{0}, std::int64_t{1}, *count, std::int64_t{1},
                                      static_cast<std::int64_t>(DType::int64)};
  const Array numbers = issue_call(op, {}, arguments, legacy);
  return wrap(issue_call(shuffle, {&numbers, 1}, {}, legacy), legacy);
}

/// What NumPy tells about an array of its own: see its documentation of the array interface.
struct HostArray {
  int two;
  int rank;
  char kind;
  int item_size;
  int flags;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  void* data;
};

std::optional<DType> host_dtype(const HostArray& host) {
  const auto of_size = [&](DType eight, DType four, std::optional<DType> two,
                           std::optional<DType> one) -> std::optional<DType> {
    switch (host.item_size) {
      case 8:
        return eight;
      case 4:
        return four;
      case 2:
        return two;
      case 1:
        return one;
    }
    return {};
  };
  if (host.kind == 'f') return of_size(DType::float64, DType::float32, DType::float16, {});
  if (host.kind == 'i') return of_size(DType::int64, DType::int32, {}, DType::int8);
  if (host.kind == 'u' && host.item_size == 1) return DType::uint8;
  if (host.kind == 'b' && host.item_size == 1) return DType::boolean;
  return {};
}

/// A copy of a NumPy array of a type that arrays can have.
PyObject* array(Given given, bool legacy) {
  static PyObject* const numpy_array =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  static PyObject* const interface = PyUnicode_InternFromString("__array_struct__");
  constexpr int contiguous = 1, native = 0x200;
  if (!contexts_are_plain() || reinterpret_cast<PyObject*>(Py_TYPE(given[0])) != numpy_array)
    return nullptr;
  nb::object capsule = nb::steal(PyObject_GetAttr(given[0], interface));
  const auto* host =
      capsule.is_valid()
          ? static_cast<const HostArray*>(PyCapsule_GetPointer(capsule.ptr(), nullptr))
          : nullptr;
  if (!host) throw nb::python_error();
  const auto dtype = host_dtype(*host);
  if (!dtype || (host->flags & (contiguous | native)) != (contiguous | native) ||
      host->rank > max_rank) {
    return nullptr;
  }
  const Shape shape(host->shape, host->shape + host->rank);
  Array result = Array::create(Layout::contiguous(shape), *dtype, {});
  fill_from_host(result, host->data);
  return wrap(std::move(result), legacy);
}

// --- statistics ---

/// The standard deviation over one axis or all.
PyObject* deviation(Given given, bool legacy) {
  static const lazy::Op &mean = op_named("mean"), &subtract = op_named("subtract"),
                        &square = op_named("square"), &root = op_named("sqrt");
  const Array* array = plain_array(given[0], legacy);
  if (!array || !array->size() || !array->layout->rank()) return nullptr;
  if (array->dtype != DType::float32 && array->dtype != DType::float64) return nullptr;
  PyObject* const named = unless_none(given[1]);
  lazy::Argument axes;
  if (named) {
    const auto axis = plain_axis(named, array->layout->rank());
    if (!axis) return nullptr;
    axes = Shape{*axis};
  }
  const lazy::Argument kept[] = {axes, true, false, std::monostate{}};
  const lazy::Argument reduced[] = {axes, false, false, std::monostate{}};
  const Array pair[] = {*array, issue_call(mean, {array, 1}, kept, legacy)};
  const Array distances = issue_call(subtract, pair, {}, legacy);
  const Array squares = issue_call(square, {&distances, 1}, {}, legacy);
  const Array variance = issue_call(mean, {&squares, 1}, reduced, legacy);
  return wrap(issue_call(root, {&variance, 1}, {}, legacy), legacy);
}

/// Whether any element (or with `all`, each) along the axes is not 0.
PyObject* decide(Given given, bool legacy, const lazy::Op& reduction) {
  static const lazy::Op& not_equal = op_named("not_equal");
  const Array* array = plain_array(given[0], legacy);
  if (!array || !array->size() || !array->layout->rank()) return nullptr;
  lazy::Argument axes;
  if (PyObject* const named = unless_none(given[1])) {
    std::optional<Shape> numbers = plain_integers(named);
    if (!numbers) return nullptr;
    axes = std::move(*numbers);
  }
  if (given[2] && !PyBool_Check(given[2])) return nullptr;
  Array truth = *array;
  if (array->dtype != DType::boolean) {
    lazy::Draft draft(not_equal);
    set_input(draft->inputs.emplace_back(), *array);
    lazy::set_immediate(draft->inputs.emplace_back(), std::int64_t{0});
    draft->site = capture_site();
    truth = autograd::issue_statement(draft, {{}, legacy, {}, nullptr});
  }
  const lazy::Argument arguments[] = {std::move(axes), given[2] == Py_True, false,
                                      std::monostate{}};
  return wrap(issue_call(reduction, {&truth, 1}, arguments, legacy), legacy);
}

PyObject* any(Given given, bool legacy) {
  static const lazy::Op& greatest = op_named("max");
  return decide(given, legacy, greatest);
}

PyObject* all(Given given, bool legacy) {
  static const lazy::Op& smallest = op_named("min");
  return decide(given, legacy, smallest);
}

/// The different ones of a few elements, in order. Nothing where one of them is nan.
template <class T>
PyObject* unique_of_few(const Array& array, bool legacy) {
  T values[few_elements];
  T* end = values + array.size();
  read_value(array, values);
  if (std::any_of(values, end, [](T value) { return value != value; })) return nullptr;
  std::sort(values, end);
  end = std::unique(values, end);
  const std::int64_t shape[] = {end - values};
  Array result = Array::create(Layout::contiguous(shape), array.dtype, array.context());
  fill_from_host(result, values);
  return wrap(std::move(result), legacy);
}

/// The different elements, in order. Waits for them.
PyObject* unique(Given given, bool legacy) {
  static const lazy::Op& sort = op_named("sort");
  const Array* array = plain_array(given[0], legacy);
  if (!array || !array->size()) return nullptr;
  if (array->size() <= few_elements) {
    switch (array->dtype) {
      case DType::float32:
        return unique_of_few<float>(*array, legacy);
      case DType::float64:
        return unique_of_few<double>(*array, legacy);
      case DType::int32:
        return unique_of_few<std::int32_t>(*array, legacy);
      case DType::int64:
        return unique_of_few<std::int64_t>(*array, legacy);
      default:
        return nullptr;
    }
  }
  const std::int64_t all[] = {array->size()};
  const Array flat = shaped(*array, all);
  const lazy::Argument arguments[] = {std::int64_t{0}, true, std::int64_t{0}};
  const Array sorted = issue_call(sort, {&flat, 1}, arguments, legacy);
  wait_for(sorted);
  check_value(sorted);
  std::int64_t kept = 0;
  {
    WithoutGil released;
    kept = kernels::drop_equal_neighbours(sorted.data(), sorted.dtype, sorted.size());
  }
  const std::int64_t shape[] = {kept};
  const Array front = shaped(sorted, shape);
  // A few of many must not keep the memory of all.
  return wrap(kept > sorted.size() / 2 ? front : copied(front, legacy), legacy);
}

// --- products ---

PyObject* outer(Given given, bool legacy) {
  static const lazy::Op& multiply = op_named("multiply");
  const Array *left = plain_array(given[0], legacy), *right = plain_array(given[1], legacy);
  if (!left || !right || left->dtype != right->dtype) return nullptr;
  const std::int64_t column[] = {left->size(), 1}, row[] = {1, right->size()};
  const Array factors[] = {shaped(*left, column), shaped(*right, row)};
  return wrap(issue_call(multiply, factors, {}, legacy), legacy);
}

// --- elements picked ---

PyObject* nonzero(Given given, bool legacy) {
  const Array* array = plain_array(given[0], legacy);
  constexpr std::int64_t large = 1 << 16;  // worth several threads
  if (!array || array->layout->rank() != 1) return nullptr;
  if (array->size() >= large && array->dtype != DType::boolean) return nullptr;
  nb::object places = true_positions(given[0]);
  return PyTuple_Pack(1, places.ptr());
}

}  // namespace

Composition find_composition(std::string_view name) {
  static const std::map<std::string_view, Composition> known = {{"swapaxes", swapaxes},
                                                                {"flip", flip},
                                                                {"roll", roll},
                                                                {"tile", tile},
                                                                {"repeat", repeat},
                                                                {"pad", pad},
                                                                {"stack", stack},
                                                                {"zeros", constant<0>},
                                                                {"ones", constant<1>},
                                                                {"eye", eye},
                                                                {"arange", arange},
                                                                {"outer", outer},
                                                                {"nonzero", nonzero},
                                                                {"permutation", permutation},
                                                                {"array", array},
                                                                {"std", deviation},
                                                                {"unique", unique},
                                                                {"any", any},
                                                                {"all", all}};
  const auto found = known.find(name);
  return found == known.end() ? nullptr : found->second;
}

}  // namespace afterglow::bindings
