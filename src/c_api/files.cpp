// SPDX-License-Identifier: Apache-2.0
#include "c_api/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "c_api/interface.h"

namespace afterglow::c_api {
namespace {

constexpr std::uint64_t list_magic = 0x112;
constexpr std::uint32_t first_magic = 0xF993FAC8, classic_magic = 0xF993FAC9,
                        numpy_magic = 0xF993FACA;

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  NamedArrays read() {
    if (number<std::uint64_t>("the header") != list_magic)
      damaged("it does not begin as a file of arrays does");
    number<std::uint64_t>("the header");
    NamedArrays result;
    const std::uint64_t count = counted("arrays");
    for (std::uint64_t i = 0; i < count; ++i) result.arrays.push_back(array());
    const std::uint64_t names = counted("names");
    for (std::uint64_t i = 0; i < names; ++i) {
      const auto length = number<std::uint64_t>("a name");
      result.names.emplace_back(take(length, "a name"));
    }
    if (names && names != count)
      damaged("it has " + std::to_string(names) + " names for " + std::to_string(count) +
              " arrays");
    return result;
  }

 private:
  autograd::Handle array() {
    const auto magic = number<std::uint32_t>("an array");
    if (magic == classic_magic || magic == numpy_magic) {
      if (const auto storage = number<std::int32_t>("a storage type"))
        refuse("[load] " + source_ + " holds a sparse array (storage type " +
                   std::to_string(storage) + "), which the C interface does not have",
               ErrorKind::not_implemented);
    }
    Shape shape;
    if (magic == first_magic || magic == classic_magic || magic == numpy_magic) {
      read_shape<std::int64_t>(number<std::int32_t>("a rank"), shape);
    } else {
      read_shape<std::uint32_t>(magic, shape);
    }
    if (shape.empty() && magic != numpy_magic) damaged("one of its arrays was never given a shape");
    number<std::int32_t>("a device");
    number<std::int32_t>("a device");
    const auto type = number<std::int32_t>("a type");
    if (type < 0 || type >= dtype_count)
      damaged("type number " + std::to_string(type) + " is none");
    const auto dtype = static_cast<DType>(type);
    std::int64_t size = 0;
    try {
      size = element_count(shape);
    } catch (const Error&) {
      damaged("an array of shape " + to_string(shape));
    }
    if (static_cast<std::uint64_t>(size) > bytes_.size()) damaged("an array is larger than it");
    const std::string_view data =
        take(static_cast<std::uint64_t>(size) * size_of(dtype), "an array");
    return array_from(data.data(), data.size(), shape, dtype, {});
  }

  template <class Extent>
  void read_shape(std::int64_t rank, Shape& shape) {
    if (rank < 0 || rank > max_rank) damaged("an array of " + std::to_string(rank) + " dimensions");
    for (std::int64_t i = 0; i < rank; ++i)
      shape.push_back(static_cast<std::int64_t>(number<Extent>("a shape")));
  }

  /// Every array and name takes at least 8 bytes.
  std::uint64_t counted(const char* what) {
    const auto count = number<std::uint64_t>(what);
    if (count > (bytes_.size() - place_) / 8)
      damaged(std::to_string(count) + " " + what + " are announced");
    return count;
  }

  template <class T>
  T number(const char* what) {
    T value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::string_view take(std::uint64_t length, const char* what) {
    if (length > bytes_.size() - place_)
      damaged(std::string(what) + " needs " + std::to_string(length) + " bytes, " +
              std::to_string(bytes_.size() - place_) + " are left");
    const std::string_view taken = bytes_.substr(place_, length);
    place_ += length;
    return taken;
  }

  [[noreturn]] void damaged(const std::string& what) const {
    refuse("[load] " + source_ + " is no file of arrays, or damaged, at byte " +
               std::to_string(place_) + ": " + what,
           ErrorKind::mxnet);
  }

  const std::string_view bytes_;
  const std::string source_;
  std::size_t place_ = 0;
};

/// What a file of arrays is made of, in memory.
class Writer {
 public:
  explicit Writer(std::span<const std::shared_ptr<ArrayObject>> arrays,
                  std::span<const char* const> names) {
    bool has_numpy_shapes = false;
    for (const auto& object : arrays) {
      const Array& array = object->handle.array;
      has_numpy_shapes = has_numpy_shapes || !array.size() || !array.layout->rank();
    }
    add(list_magic), add(std::uint64_t{0}), add(std::uint64_t{arrays.size()});
    for (const auto& object : arrays)
      add(object->handle, has_numpy_shapes ? numpy_magic : classic_magic);
    add(std::uint64_t{names.size()});
    for (const char* name : names) {
      const std::string_view text = need_text(name, "a name");
      add(std::uint64_t{text.size()});
      bytes_ += text;
    }
  }

  const std::string& bytes() const { return bytes_; }

 private:
  template <class Number>
  void add(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }

  void add(const autograd::Handle& handle, std::uint32_t magic) {
    const Array& array = handle.array;
    add(magic), add(std::int32_t{0}), add(std::int32_t{array.layout->rank()});
    for (const std::int64_t extent : array.shape()) add(extent);
    add(std::int32_t{Context::cpu}), add(std::int32_t{0});
    add(static_cast<std::int32_t>(array.dtype));
    std::string elements(static_cast<std::size_t>(array.size()) * size_of(array.dtype), '\0');
    read_array(handle, elements.data(), elements.size());
    bytes_ += elements;
  }

  std::string bytes_;
};

void write_file(const std::string& path, const std::string& content) {
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "wb");
  if (!file) refuse("'" + path + "' cannot be written: " + std::strerror(errno), ErrorKind::mxnet);
  const bool is_written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  // Closing writes what is left.
  if (std::fclose(file) == 0 && is_written && std::rename(temporary.c_str(), path.c_str()) == 0)
    return;
  const std::string reason = std::strerror(errno);
  std::remove(temporary.c_str());
  refuse("'" + path + "' cannot be written: " + reason, ErrorKind::mxnet);
}

}  // namespace

std::string read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) refuse("'" + path + "' cannot be opened: " + std::strerror(errno), ErrorKind::mxnet);
  std::string content;
  char buffer[1 << 16];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file.get()))
    content.append(buffer, count);
  if (std::ferror(file.get()))
    refuse("'" + path + "' cannot be read: " + std::strerror(errno), ErrorKind::mxnet);
  return content;
}

NamedArrays arrays_in(std::string_view bytes, const std::string& source) {
  return Reader(bytes, source).read();
}

}  // namespace afterglow::c_api

using namespace afterglow::c_api;

extern "C" {

int AGArraysLoad(const char* path, size_t* count, AGArrayHandle** arrays, size_t* name_count,
                 const char*** names) {
  return guarded([&] {
    thread_local std::vector<AGArrayHandle> handles;
    thread_local std::vector<std::string> texts;
    thread_local std::vector<const char*> pointers;
    need(count, "count"), need(arrays, "arrays"), need(name_count, "name_count");
    need(names, "names");
    const std::string file = need_text(path, "path");
    NamedArrays loaded = arrays_in(read_file(file), "'" + file + "'");
    handles.clear(), pointers.clear();
    handles.reserve(loaded.arrays.size());
    texts = std::move(loaded.names);
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    for (afterglow::autograd::Handle& array : loaded.arrays)
      handles.push_back(new_array(std::move(array)));
    *count = handles.size(), *arrays = handles.data();
    *name_count = pointers.size(), *names = pointers.data();
  });
}

int AGArraysSave(const char* path, size_t count, const AGArrayHandle* arrays,
                 const char* const* names) {
  return guarded([&] {
    const std::string file = need_text(path, "path");
    std::vector<std::shared_ptr<ArrayObject>> alive;
    for (const AGArrayHandle array : need_span(arrays, static_cast<std::int64_t>(count), "arrays"))
      alive.push_back(array_of(array));
    const std::span<const char* const> texts(names, names ? count : 0);
    write_file(file, Writer(alive, texts).bytes());
  });
}

}  // extern "C"
