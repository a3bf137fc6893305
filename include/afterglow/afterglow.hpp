// SPDX-License-Identifier: Apache-2.0
// The C++ front end of Afterglow: this header, over the C interface (c_api.h), for C++17. Classes
// have the names of MXNet's cpp-package.
//
//   using namespace afterglow::cpp;
//   NDArray x = random_uniform({2000, 2000});
//   NDArray y = dot(x, x);               // returns at once
//   std::vector<float> numbers = y.read<float>();  // waits
//
// What the library refuses is thrown as Error. Arrays are handles: copies of an NDArray are the
// same array. Objects may be used from any thread, one object by one thread at a time.
#ifndef AFTERGLOW_AFTERGLOW_HPP_
#define AFTERGLOW_AFTERGLOW_HPP_

#include <afterglow/c_api.h>

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace afterglow::cpp {

/// What the library refused, or what a call failed with that was read.
class Error : public std::runtime_error {
 public:
  Error(const char* kind, const char* text) : std::runtime_error(text), kind_(kind) {}
  /// The name of Python's class: "ValueError".
  const std::string& kind() const { return kind_; }

 private:
  std::string kind_;
};

inline void ensure(int outcome) {
  if (outcome) throw Error(AGGetLastErrorKind(), AGGetLastError());
}

/// A line of the program, which errors name. As the default of an argument it is the caller's.
struct Site {
  const char* file;
  int line;
  const char* function;

  static Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                   const char* function = __builtin_FUNCTION()) {
    return {file, line, function};
  }
  void set() const { ensure(AGSetSite(file, line, function)); }
};

/// A type of its own, so that elements are never taken for extents.
struct Shape : std::vector<std::int64_t> {
  using vector::vector;
};

/// Of the types of C++ that elements have.
template <class T>
constexpr int type_number() {
  if constexpr (std::is_same_v<T, float>)
    return AG_FLOAT32;
  else if constexpr (std::is_same_v<T, double>)
    return AG_FLOAT64;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return AG_UINT8;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return AG_INT32;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return AG_INT8;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return AG_INT64;
  else {
    static_assert(std::is_same_v<T, bool>, "no array has elements of this type");
    return AG_BOOL;
  }
}

class Context {
 public:
  static Context cpu(int id = 0) { return Context(AG_CPU, id); }

  int GetDeviceType() const { return type_; }
  int GetDeviceId() const { return id_; }
  std::string text() const { return "cpu(" + std::to_string(id_) + ")"; }

 private:
  friend class NDArray;
  explicit Context(int type, int id) : type_(type), id_(id) {}
  int type_, id_;
};

class NDArray {
 public:
  /// None at all, as an input that is left out.
  NDArray() = default;
  /// Takes the handle over.
  explicit NDArray(AGArrayHandle handle)
      : blob_(handle, [](AGArrayHandle owned) { AGArrayFree(owned); }) {}
  /// Zeros.
  explicit NDArray(const Shape& shape, Context context = Context::cpu(), int dtype = AG_FLOAT32,
                   Site site = Site::here()) {
    site.set();
    AGArrayHandle made;
    ensure(AGArrayCreate(shape.data(), static_cast<int>(shape.size()), dtype, context.type_,
                         context.id_, &made));
    *this = NDArray(made);
  }
  /// A copy of elements in C order.
  template <class T>
  NDArray(const std::vector<T>& elements, const Shape& shape, Context context = Context::cpu())
      : NDArray(elements.data(), elements.size() * sizeof(T), shape, type_number<T>(), context) {}
  NDArray(const void* data, std::size_t bytes, const Shape& shape, int dtype = AG_FLOAT32,
          Context context = Context::cpu()) {
    AGArrayHandle made;
    ensure(AGArrayFromMemory(data, bytes, shape.data(), static_cast<int>(shape.size()), dtype,
                             context.type_, context.id_, &made));
    *this = NDArray(made);
  }

  explicit operator bool() const { return static_cast<bool>(blob_); }
  AGArrayHandle GetHandle() const { return blob_.get(); }

  Shape GetShape() const {
    int rank = 0;
    const std::int64_t* extents = nullptr;
    ensure(AGArrayGetShape(GetHandle(), &rank, &extents));
    return Shape(extents, extents + rank);
  }
  std::size_t Size() const {
    int rank = 0;
    const std::int64_t* extents = nullptr;
    ensure(AGArrayGetShape(GetHandle(), &rank, &extents));
    std::size_t size = 1;
    for (int i = 0; i < rank; ++i) size *= static_cast<std::size_t>(extents[i]);
    return size;
  }
  int GetDType() const {
    int dtype;
    ensure(AGArrayGetType(GetHandle(), &dtype));
    return dtype;
  }
  Context GetContext() const {
    Context context = Context::cpu();
    ensure(AGArrayGetContext(GetHandle(), &context.type_, &context.id_));
    return context;
  }

  void WaitToRead() const { ensure(AGArrayWait(GetHandle(), -1)); }
  void WaitToWrite() const { ensure(AGArrayWaitToWrite(GetHandle(), -1)); }
  bool IsReady() const {
    int ready;
    ensure(AGArrayIsReady(GetHandle(), &ready));
    return ready != 0;
  }
  static void WaitAll() { ensure(AGWaitAll()); }

  /// Waits; a copy of the elements in C order. T must be their type.
  template <class T = float>
  std::vector<T> read() const {
    static_assert(!std::is_same_v<T, bool>, "read truth values with SyncCopyToCPU");
    need_type(type_number<T>());
    std::vector<T> elements(Size());
    ensure(AGArrayRead(GetHandle(), elements.data(), elements.size() * sizeof(T)));
    return elements;
  }
  /// Waits; the one element.
  template <class T = float>
  T item() const {
    const std::vector<T> elements = read<T>();
    if (elements.size() != 1) throw Error("TypeError", "the array has not one element");
    return elements[0];
  }
  void SyncCopyToCPU(void* data, std::size_t bytes) const {
    ensure(AGArrayRead(GetHandle(), data, bytes));
  }
  void SyncCopyFromCPU(const void* data, std::size_t bytes, Site site = Site::here()) {
    site.set();
    ensure(AGArrayWrite(GetHandle(), data, bytes));
  }
  /// this[...] = value.
  void assign(const NDArray& value, Site site = Site::here()) {
    site.set();
    ensure(AGArrayAssign(GetHandle(), value.GetHandle()));
  }

  /// Views.
  NDArray Slice(std::int64_t begin, std::int64_t end) const {
    AGArrayHandle view;
    ensure(AGArraySlice(GetHandle(), begin, end, &view));
    return NDArray(view);
  }
  NDArray At(std::int64_t index) const {
    AGArrayHandle view;
    ensure(AGArrayAt(GetHandle(), index, &view));
    return NDArray(view);
  }
  NDArray Reshape(const Shape& shape, Site site = Site::here()) const {
    site.set();
    AGArrayHandle view;
    ensure(AGArrayReshape(GetHandle(), shape.data(), static_cast<int>(shape.size()), &view));
    return NDArray(view);
  }

  /// Makes it a variable.
  void attach_grad(int request = AG_GRADIENT_WRITE) {
    ensure(AGArrayAttachGradient(GetHandle(), request));
  }
  NDArray grad() const {
    AGArrayHandle gradient;
    ensure(AGArrayGetGradient(GetHandle(), &gradient));
    return gradient ? NDArray(gradient) : NDArray();
  }
  void backward(bool keeps_graph = false, Site site = Site::here()) const {
    site.set();
    const AGArrayHandle head = GetHandle();
    ensure(AGBackward(1, &head, nullptr, keeps_graph, 1));
  }
  NDArray detach() const {
    AGArrayHandle detached;
    ensure(AGArrayDetach(GetHandle(), &detached));
    return NDArray(detached);
  }

  /// Arrays in a file of MXNet's (.params), by name.
  static std::map<std::string, NDArray> LoadToMap(const std::string& path) {
    std::size_t count, name_count;
    AGArrayHandle* arrays;
    const char** names;
    ensure(AGArraysLoad(path.c_str(), &count, &arrays, &name_count, &names));
    std::map<std::string, NDArray> result;
    for (std::size_t i = 0; i < count; ++i)
      result[i < name_count ? names[i] : std::to_string(i)] = NDArray(arrays[i]);
    return result;
  }
  /// Waits; writes such a file.
  static void Save(const std::string& path, const std::map<std::string, NDArray>& arrays) {
    std::vector<AGArrayHandle> handles;
    std::vector<const char*> names;
    for (const auto& [name, array] : arrays) {
      names.push_back(name.c_str());
      handles.push_back(array.GetHandle());
    }
    ensure(AGArraysSave(path.c_str(), handles.size(), handles.data(), names.data()));
  }

 private:
  void need_type(int wanted) const {
    if (GetDType() == wanted) return;
    throw Error("TypeError", ("the elements are of type " + std::to_string(GetDType()) +
                              ", and are read as type " + std::to_string(wanted))
                                 .c_str());
  }

  std::shared_ptr<AGArrayOfLibrary> blob_;
};

/// A parameter in text, as the library takes it.
inline std::string as_text(const std::string& text) {
  return text;
}
inline std::string as_text(const char* text) {
  return text;
}
inline std::string as_text(bool truth) {
  return truth ? "True" : "False";
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
std::string as_text(T number) {
  if constexpr (std::is_integral_v<T>) return std::to_string(number);
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", static_cast<double>(number));
  std::string result = text;
  for (char& one : result)
    if (one == ',') one = '.';  // whatever the locale writes
  return result;
}
inline std::string as_text(const Shape& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) text += std::to_string(extent) + ",";
  return text + ")";
}
inline std::string as_text(std::initializer_list<std::int64_t> shape) {
  return as_text(Shape(shape));
}

/// A call of an op of the table: inputs, parameters, then Invoke().
class Operator {
 public:
  explicit Operator(std::string name) : name_(std::move(name)) {}

  template <class T>
  Operator& SetParam(const std::string& name, const T& value) {
    names_.push_back(name);
    values_.push_back(as_text(value));
    return *this;
  }
  Operator& SetParam(const std::string& name, std::initializer_list<std::int64_t> shape) {
    return SetParam(name, Shape(shape));
  }
  Operator& PushInput(const NDArray& array) {
    inputs_.push_back(array);
    return *this;
  }
  template <class... Arrays>
  Operator& operator()(const Arrays&... arrays) {
    (PushInput(arrays), ...);
    return *this;
  }

  /// All results, which are new arrays.
  std::vector<NDArray> InvokeAll(Site site = Site::here()) const {
    int count = 0;
    AGArrayHandle* results = nullptr;
    call(site, &count, &results);
    std::vector<NDArray> made;
    for (int i = 0; i < count; ++i) made.emplace_back(results[i]);
    return made;
  }
  /// The first result.
  NDArray Invoke(Site site = Site::here()) const { return InvokeAll(site)[0]; }
  /// Writes the result there.
  void Invoke(NDArray& output, Site site = Site::here()) const {
    AGArrayHandle handle = output.GetHandle();
    AGArrayHandle* outputs = &handle;
    int count = 1;
    call(site, &count, &outputs);
  }

 private:
  void call(Site site, int* count, AGArrayHandle** outputs) const {
    std::vector<AGArrayHandle> inputs;
    for (const NDArray& input : inputs_) inputs.push_back(input.GetHandle());
    std::vector<const char*> names, values;
    for (const std::string& name : names_) names.push_back(name.c_str());
    for (const std::string& value : values_) values.push_back(value.c_str());
    site.set();
    ensure(AGInvoke(name_.c_str(), static_cast<int>(inputs.size()), inputs.data(),
                    static_cast<int>(names.size()), names.data(), values.data(), count, outputs));
  }

  std::string name_;
  std::vector<NDArray> inputs_;
  std::vector<std::string> names_, values_;
};

// --- operators; numbers may stand on either side ---

/// An operand of an operator, and the line that it stands on.
struct Operand {
  Operand(const NDArray& its, Site its_site = Site::here()) : array(its), site(its_site) {}
  const NDArray& array;
  Site site;
};

#define AFTERGLOW_OPERATOR(sign, name, scalar_name, swapped_name)                           \
  inline NDArray operator sign(Operand left, Operand right) {                               \
    return Operator(name)(left.array, right.array).Invoke(left.site);                       \
  }                                                                                         \
  inline NDArray operator sign(Operand left, double right) {                                \
    return Operator(scalar_name)(left.array).SetParam("scalar", right).Invoke(left.site);   \
  }                                                                                         \
  inline NDArray operator sign(double left, Operand right) {                                \
    return Operator(swapped_name)(right.array).SetParam("scalar", left).Invoke(right.site); \
  }
AFTERGLOW_OPERATOR(+, "broadcast_add", "_plus_scalar", "_plus_scalar")
AFTERGLOW_OPERATOR(-, "broadcast_sub", "_minus_scalar", "_rminus_scalar")
AFTERGLOW_OPERATOR(*, "broadcast_mul", "_mul_scalar", "_mul_scalar")
AFTERGLOW_OPERATOR(/, "broadcast_div", "_div_scalar", "_rdiv_scalar")
#undef AFTERGLOW_OPERATOR

// --- a few functions; Operator calls all others ---

inline NDArray dot(const NDArray& left, const NDArray& right, Site site = Site::here()) {
  return Operator("dot")(left, right).Invoke(site);
}
inline NDArray sum(const NDArray& x, Site site = Site::here()) {
  return Operator("sum")(x).Invoke(site);
}
inline NDArray mean(const NDArray& x, Site site = Site::here()) {
  return Operator("mean")(x).Invoke(site);
}
inline NDArray relu(const NDArray& x, Site site = Site::here()) {
  return Operator("relu")(x).Invoke(site);
}
inline NDArray random_uniform(const Shape& shape, double low = 0, double high = 1,
                              Context context = Context::cpu(), Site site = Site::here()) {
  return Operator("_random_uniform")
      .SetParam("low", low)
      .SetParam("high", high)
      .SetParam("shape", shape)
      .SetParam("ctx", context.text())
      .Invoke(site);
}
inline NDArray random_normal(const Shape& shape, double loc = 0, double scale = 1,
                             Context context = Context::cpu(), Site site = Site::here()) {
  return Operator("_random_normal")
      .SetParam("loc", loc)
      .SetParam("scale", scale)
      .SetParam("shape", shape)
      .SetParam("ctx", context.text())
      .Invoke(site);
}
inline void random_seed(std::uint64_t seed) {
  ensure(AGRandomSeed(seed));
}

namespace autograd {

/// While it lives its thread records, in training mode unless told otherwise.
class Record {
 public:
  explicit Record(bool is_training = true) {
    ensure(AGSetRecording(1, &recorded_));
    ensure(AGSetTraining(is_training, &trained_));
  }
  ~Record() {
    AGSetRecording(recorded_, nullptr);
    AGSetTraining(trained_, nullptr);
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

 private:
  int recorded_ = 0, trained_ = 0;
};

}  // namespace autograd

/// Changes weights by their gradients.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  template <class T>
  Optimizer* SetParam(const std::string& name, const T& value) {
    parameters_[name] = as_text(value);
    return this;
  }
  /// Issues the update of a weight; `index` names its states.
  virtual void Update(int index, NDArray weight, const NDArray& gradient) = 0;

 protected:
  void set_parameters(Operator& op) const {
    for (const auto& [name, value] : parameters_) op.SetParam(name, value);
  }
  std::map<std::string, std::string> parameters_;
};

/// Parameters: lr, and if wanted momentum, wd, rescale_grad, clip_gradient.
class SGDOptimizer : public Optimizer {
 public:
  void Update(int index, NDArray weight, const NDArray& gradient) override {
    const bool moves = parameters_.count("momentum") != 0;
    Operator update(moves ? "sgd_mom_update" : "sgd_update");
    update(weight, gradient);
    if (moves) {
      NDArray& state = states_[index];
      if (!state) state = NDArray(weight.GetShape(), weight.GetContext(), weight.GetDType());
      update.PushInput(state);
    }
    set_parameters(update);
    update.Invoke(weight);
  }

 private:
  std::map<int, NDArray> states_;
};

/// A graph with its weights (-symbol.json and .params), ready to run.
class Model {
 public:
  Model(const std::string& symbol_path, const std::string& parameters_path) {
    AGModelHandle made;
    ensure(AGModelLoad(symbol_path.c_str(), parameters_path.c_str(), &made));
    blob_ = {made, [](AGModelHandle owned) { AGModelFree(owned); }};
  }
  std::vector<std::string> ListInputs() const { return list(AGModelListInputs); }
  std::vector<std::string> ListOutputs() const { return list(AGModelListOutputs); }
  /// Returns at once.
  std::vector<NDArray> Forward(const std::map<std::string, NDArray>& inputs,
                               Site site = Site::here()) const {
    std::vector<const char*> names;
    std::vector<AGArrayHandle> arrays;
    for (const auto& [name, array] : inputs) {
      names.push_back(name.c_str());
      arrays.push_back(array.GetHandle());
    }
    site.set();
    int count;
    AGArrayHandle* outputs;
    ensure(AGModelRun(blob_.get(), static_cast<int>(names.size()), names.data(), arrays.data(),
                      &count, &outputs));
    std::vector<NDArray> results;
    for (int i = 0; i < count; ++i) results.emplace_back(outputs[i]);
    return results;
  }

 private:
  template <class Function>
  std::vector<std::string> list(Function function) const {
    std::size_t count;
    const char* const* names;
    ensure(function(blob_.get(), &count, &names));
    return {names, names + count};
  }
  std::shared_ptr<AGModelOfLibrary> blob_;
};

}  // namespace afterglow::cpp

#endif  // AFTERGLOW_AFTERGLOW_HPP_
