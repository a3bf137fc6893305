// SPDX-License-Identifier: Apache-2.0
// Memory shared with other libraries: DLPack both ways, and NumPy's memory taken over. What is
// shared is marked so in its storage, see Storage::share().
#include "bindings/dlpack.h"

#include <optional>
#include <string>
#include <utility>

#include "bindings/array_type.h"
#include "bindings/functions.h"
#include "bindings/operations.h"
#include "bindings/waiting.h"

namespace afterglow::bindings {
namespace {

// --- the structures that DLPack 1 defines, besides its tensor ---

/// In capsules named "dltensor".
struct ManagedTensor {
  nb::dlpack::dltensor tensor;
  void* manager = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;

  static constexpr const char* name = "dltensor";
  static constexpr const char* used_name = "used_dltensor";
  bool is_read_only() const { return false; }
  void describe(bool) {}
};

/// In capsules named "dltensor_versioned".
struct VersionedTensor {
  std::uint32_t major = nb::dlpack::major_version, minor = 0;
  void* manager = nullptr;
  void (*deleter)(VersionedTensor*) = nullptr;
  std::uint64_t flags = 0;
  nb::dlpack::dltensor tensor;

  static constexpr const char* name = "dltensor_versioned";
  static constexpr const char* used_name = "used_dltensor_versioned";
  static constexpr std::uint64_t read_only = 1, copied = 2;
  bool is_read_only() const { return flags & read_only; }
  void describe(bool is_copy) { flags = is_copy ? copied : 0; }
};

constexpr std::int32_t cpu_device = 1;

// --- lending ---

/// An array that other code reads or writes, until it calls the deleter.
template <class Managed>
struct Loan {
  explicit Loan(const Array& lent)
      : array(lent),
        shape(lent.shape().begin(), lent.shape().end()),
        strides(lent.layout->strides().begin(), lent.layout->strides().end()) {
    array.storage->share();
  }
  ~Loan() { array.storage->end_sharing(); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  Managed managed;
  Array array;
  Shape shape, strides;
};

/// May be called on any thread, with or without the GIL, also while the interpreter ends; then the
/// memory stays.
template <class Managed>
void end_loan(Managed* managed) {
  auto* loan = static_cast<Loan<Managed>*>(managed->manager);
  if (is_exiting() || !Py_IsInitialized()) return;
  nb::gil_scoped_acquire gil;
  delete loan;
}

/// Of a capsule that nobody took.
template <class Managed>
void drop_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, Managed::name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
  if (managed->deleter) managed->deleter(managed);
}

template <class Managed>
nb::object lend(const Array& array, bool is_copy, engine::WaitFor what) {
  // Shared before the wait: what other threads issue meanwhile is done when they go on.
  auto loan = std::make_unique<Loan<Managed>>(array);
  wait_for(array, what);
  check_value(array);
  nb::dlpack::dltensor& tensor = loan->managed.tensor;
  tensor.data = array.size() ? array.data() : nullptr;
  tensor.device = {cpu_device, 0};
  tensor.ndim = array.layout->rank();
  tensor.dtype = dlpack_type(array.dtype);
  tensor.shape = loan->shape.data();
  tensor.strides = loan->strides.data();
  loan->managed.describe(is_copy);
  loan->managed.manager = loan.get();
  loan->managed.deleter = end_loan<Managed>;
  nb::object capsule =
      nb::steal(PyCapsule_New(&loan->managed, Managed::name, drop_capsule<Managed>));
  if (!capsule.is_valid()) throw nb::python_error();
  loan.release();
  return capsule;
}

/// Waits for the value, and for those that still read it if the other side may write.
nb::object to_dlpack(nb::handle source, bool versioned, bool is_copy, bool to_write) {
  if (!is_array(source.ptr())) throw Error(ErrorKind::type, "[to_dlpack] an array is needed");
  const Array array = as_array(source.ptr()).array;
  const auto what = to_write ? engine::WaitFor::write : engine::WaitFor::read;
  return versioned ? lend<VersionedTensor>(array, is_copy, what)
                   : lend<ManagedTensor>(array, is_copy, what);
}

// --- borrowing ---

/// Keeps a Python object that owns the memory.
class ObjectLender : public Lender {
 public:
  explicit ObjectLender(nb::object owner) : owner_(std::move(owner)) {}

 private:
  nb::object owner_;
};

template <class Managed>
class TensorLender : public Lender {
 public:
  explicit TensorLender(Managed* managed) : managed_(managed) {}
  ~TensorLender() override {
    if (managed_->deleter) managed_->deleter(managed_);
  }

 private:
  Managed* managed_;
};

std::optional<DType> own_type(nb::dlpack::dtype wanted) {
  for (int number = 0; number < dtype_count; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (dlpack_type(dtype) == wanted) return dtype;
  }
  return {};
}

struct Borrowed {
  nb::object array;
  bool read_only;
};

template <class Managed>
Borrowed borrow(PyObject* capsule, bool legacy) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Managed::name));
  const nb::dlpack::dltensor& tensor = managed->tensor;
  if (tensor.device.device_type != cpu_device) {
    throw Error(ErrorKind::type, "[from_dlpack] the tensor is on a device of DLPack type " +
                                     std::to_string(tensor.device.device_type) +
                                     "; only memory of the CPU (1) can be shared");
  }
  if (tensor.ndim < 0) throw Error(ErrorKind::value, "[from_dlpack] a negative rank");
  const auto dtype = own_type(tensor.dtype);
  if (!dtype) {
    throw Error(ErrorKind::type, "[from_dlpack] the tensor has DLPack type code " +
                                     std::to_string(tensor.dtype.code) + " with " +
                                     std::to_string(tensor.dtype.bits) +
                                     " bits, which no array can have");
  }
  const std::span<const std::int64_t> shape{tensor.shape, static_cast<std::size_t>(tensor.ndim)};
  Array array;
  array.dtype = *dtype;
  array.layout = tensor.strides ? Layout::strided(shape, {tensor.strides, shape.size()})
                                : Layout::contiguous(shape);
  const auto item = static_cast<std::int64_t>(size_of(*dtype));
  auto [low, high] = array.layout->extent();
  if (!array.size()) low = 0, high = -1;
  std::byte* const first = static_cast<std::byte*>(tensor.data) + tensor.byte_offset + low * item;
  if (reinterpret_cast<std::uintptr_t>(first) % static_cast<std::uintptr_t>(item)) {
    throw Error(ErrorKind::value,
                "[from_dlpack] the tensor is not aligned to the size of its elements");
  }
  array.offset = -low;
  const bool read_only = managed->is_read_only();
  if (PyCapsule_SetName(capsule, Managed::used_name)) throw nb::python_error();
  array.storage = Storage::borrow(first, (high - low + 1) * item, {},
                                  std::make_unique<TensorLender<Managed>>(managed));
  return {nb::steal(wrap(std::move(array), legacy)), read_only};
}

/// The array, and whether it must not be written.
nb::tuple from_dlpack(nb::handle capsule, bool legacy) {
  PyObject* const object = capsule.ptr();
  Borrowed borrowed;
  if (PyCapsule_IsValid(object, VersionedTensor::name)) {
    borrowed = borrow<VersionedTensor>(object, legacy);
  } else if (PyCapsule_IsValid(object, ManagedTensor::name)) {
    borrowed = borrow<ManagedTensor>(object, legacy);
  } else {
    throw Error(ErrorKind::type, "[from_dlpack] needs a DLPack capsule that was not taken yet");
  }
  return nb::make_tuple(borrowed.array, borrowed.read_only);
}

/// The very memory of a C-contiguous buffer, which stays alive with the array.
nb::object from_memory(std::uintptr_t address, nb::tuple shape, int dtype, nb::object owner,
                       bool legacy) {
  Array array;
  array.dtype = static_cast<DType>(dtype);
  array.layout = Layout::contiguous(to_shape(shape.ptr()));
  const std::int64_t bytes = array.size() * static_cast<std::int64_t>(size_of(array.dtype));
  array.storage = Storage::borrow(reinterpret_cast<std::byte*>(address), bytes, {},
                                  std::make_unique<ObjectLender>(std::move(owner)));
  return nb::steal(wrap(std::move(array), legacy));
}

}  // namespace

nb::dlpack::dtype dlpack_type(DType dtype) {
  const auto code = is_floating(dtype)        ? nb::dlpack::dtype_code::Float
                    : dtype == DType::boolean ? nb::dlpack::dtype_code::Bool
                    : dtype == DType::uint8   ? nb::dlpack::dtype_code::UInt
                                              : nb::dlpack::dtype_code::Int;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

void bind_dlpack(nb::module_& module) {
  module.def("to_dlpack", to_dlpack, nb::arg("source"), nb::arg("versioned"), nb::arg("is_copy"),
             nb::arg("to_write"), "A capsule that shares the memory of an array.");
  module.def("from_dlpack", from_dlpack, nb::arg("capsule"), nb::arg("legacy"),
             "An array over the memory of a capsule, and whether it is read-only.");
  module.def("from_memory", from_memory, nb::arg("address"), nb::arg("shape"), nb::arg("dtype"),
             nb::arg("owner"), nb::arg("legacy"),
             "An array over C-contiguous memory that lives as long as its owner.");
}

}  // namespace afterglow::bindings
