// SPDX-License-Identifier: Apache-2.0
#include "kernels/gather.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "base/element_types.h"
#include "base/error.h"
#include "base/half.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// Positions whose offsets are found at a time: few enough for the first-level cache.
constexpr std::int64_t chunk = 512;
constexpr std::int64_t share_bytes = 1 << 18;
/// How many rows ahead of the one that is copied memory is asked for the next.
constexpr std::int64_t prefetch_distance = 8;

std::int64_t count_of(const Axes& axes) {
  std::int64_t count = 1;
  for (int axis = 0; axis < axes.rank; ++axis) count *= axes.shape[axis];
  return count;
}

int shares_for(std::int64_t bytes) {
  return static_cast<int>(std::clamp<std::int64_t>(bytes / share_bytes, 1, 1024));
}

/// The offsets of the elements of some axes, in C order.
class Walk {
 public:
  explicit Walk(const Axes& axes) { view_.join(axes.rank, axes.shape, 1, &axes.strides); }
  Walk(const Axes& axes, const std::int64_t* strides)
      : Walk(Axes{axes.rank, axes.shape, strides}) {}

  std::int64_t offset(std::int64_t position) const {
    return offset(Odometer(view_.rank, view_.shape, position));
  }

  /// The offsets are 0, 1, 2...
  bool is_run() const { return view_.rank == 1 && view_.strides[0][0] == 1; }

  /// There is just one offset.
  bool stands_still() const { return view_.all_zero(0); }

  /// function(i, offset) for the elements begin + i.
  template <class Function>
  void for_each(std::int64_t begin, std::int64_t count, Function&& function) const {
    const int last = view_.rank - 1;
    const std::int64_t step = view_.strides[0][last];
    Odometer odometer(view_.rank, view_.shape, begin);
    for (std::int64_t done = 0; done < count;) {
      const std::int64_t start = offset(odometer);
      const std::int64_t run = std::min(view_.shape[last] - odometer.index[last], count - done);
      for (std::int64_t i = 0; i < run; ++i) function(done + i, start + i * step);
      done += run;
      odometer.index[last] += run - 1;
      odometer.advance();
    }
  }

 private:
  std::int64_t offset(const Odometer& odometer) const {
    std::int64_t sum = 0;
    for (int axis = 0; axis < view_.rank; ++axis) {
      sum += odometer.index[axis] * view_.strides[0][axis];
    }
    return sum;
  }

  JointView<1> view_;
};

std::int64_t to_index(double value) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (value >= 9223372036854775808.0) return Limits::max();
  return value >= -9223372036854775808.0 ? static_cast<std::int64_t>(value) : Limits::min();
}

std::int64_t to_index(HalfBits value) {
  return to_index(static_cast<double>(half_to_float(value.bits)));
}

template <std::integral Integer>
std::int64_t to_index(Integer value) {
  return value;
}

/// An index array that is read in its own type.
class IndexReader {
 public:
  IndexReader(const IndexArray& array, const Axes& positions)
      : array_(array), walk_(positions, array.strides) {}

  const IndexArray& array() const { return array_; }
  bool is_run() const { return walk_.is_run(); }

  void read(std::int64_t begin, std::int64_t count, std::int64_t* indices) const {
    with_type(array_.dtype, [&]<class T>(T) {
      const T* data = static_cast<const T*>(array_.data);
      walk_.for_each(begin, count, [&](std::int64_t i, std::int64_t offset) {
        indices[i] = to_index(data[offset]);
      });
    });
  }

 private:
  IndexArray array_;
  Walk walk_;
};

[[noreturn]] void refuse(std::int64_t index, std::int64_t extent) {
  throw Error(ErrorKind::index, "index " + std::to_string(index) +
                                    " is out of bounds for an axis of size " +
                                    std::to_string(extent));
}

[[noreturn]] void refuse_label(std::int64_t label, std::int64_t classes) {
  throw Error(ErrorKind::index, "label " + std::to_string(label) + " is not one of the " +
                                    std::to_string(classes) + " classes, 0 to " +
                                    std::to_string(classes - 1));
}

template <IndexMode mode>
std::int64_t inside(std::int64_t index, std::int64_t extent) {
  if (static_cast<std::uint64_t>(index) < static_cast<std::uint64_t>(extent)) return index;
  if constexpr (mode == IndexMode::clip) return index < 0 ? 0 : extent - 1;
  if constexpr (mode == IndexMode::wrap) {
    const std::int64_t rest = index % extent;
    return rest < 0 ? rest + extent : rest;
  }
  if constexpr (mode == IndexMode::from_end) {
    if (index < 0 && index >= -extent) return index + extent;
  }
  if constexpr (mode == IndexMode::label) {
    if (index < 0) return 0;
    refuse_label(index, extent);
  }
  refuse(index, extent);
}

/// Where in the indexed array each position leads.
class Positions {
 public:
  explicit Positions(const Indexed& indexed)
      : count_(count_of(indexed.positions)), mode_(indexed.mode) {
    for (const IndexArray& array : indexed.indices) readers_.emplace_back(array, indexed.positions);
    if (indexed.positions.strides) own_.emplace_back(indexed.positions);
  }

  std::int64_t count() const { return count_; }

  /// `count` is `chunk` at most.
  void find(std::int64_t begin, std::int64_t count, std::int64_t* offsets) const {
    if (own_.empty()) {
      std::fill_n(offsets, count, 0);
    } else {
      own_[0].for_each(begin, count, [&](std::int64_t i, std::int64_t at) { offsets[i] = at; });
    }
    std::int64_t indices[chunk];
    for (const IndexReader& reader : readers_) {
      reader.read(begin, count, indices);
      switch (mode_) {
        case IndexMode::clip:
          add<IndexMode::clip>(reader.array(), indices, count, offsets);
          break;
        case IndexMode::wrap:
          add<IndexMode::wrap>(reader.array(), indices, count, offsets);
          break;
        case IndexMode::from_end:
          add<IndexMode::from_end>(reader.array(), indices, count, offsets);
          break;
        case IndexMode::strict:
          add<IndexMode::strict>(reader.array(), indices, count, offsets);
          break;
        case IndexMode::label:
          add<IndexMode::label>(reader.array(), indices, count, offsets);
          break;
      }
    }
  }

  /// Calls function(indices, stride) for some positions where one array of integers names them and
  /// none needs a second look; false where this does not do.
  template <class Function>
  bool with_plain_indices(std::int64_t begin, std::int64_t count, Function&& function) const {
    if (readers_.size() != 1 || !own_.empty() || !readers_[0].is_run()) return false;
    const IndexArray& array = readers_[0].array();
    const auto look = [&](const auto* indices) {
      indices += begin;
      using Index = std::remove_cvref_t<decltype(*indices)>;
      using Unsigned = std::make_unsigned_t<Index>;
      // An index is inside if neither it nor its distance to the last one is negative: signs add up
      // in any vector unit, where comparisons without a sign do not.
      const auto last = static_cast<Unsigned>(
          std::min<std::int64_t>(array.extent - 1, std::numeric_limits<Index>::max()));
      Unsigned signs = array.extent ? 0 : std::numeric_limits<Unsigned>::max();
      for (std::int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<Unsigned>(indices[i]);
        signs |= index | (last - index);
      }
      if (static_cast<Index>(signs) < 0) return false;
      function(indices, array.stride);
      return true;
    };
    if (array.dtype == DType::int32) return look(static_cast<const std::int32_t*>(array.data));
    if (array.dtype == DType::int64) return look(static_cast<const std::int64_t*>(array.data));
    return false;
  }

  template <class T>
  bool copy_plainly(const T* source, std::int64_t begin, std::int64_t count, T* target) const {
    return with_plain_indices(begin, count, [&](const auto* indices, std::int64_t stride) {
      if (stride == 1) {
        for (std::int64_t i = 0; i < count; ++i) target[i] = source[indices[i]];
      } else {
        for (std::int64_t i = 0; i < count; ++i) target[i] = source[indices[i] * stride];
      }
    });
  }

  std::vector<std::int64_t> find_all() const {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(count_));
    for (std::int64_t begin = 0; begin < count_; begin += chunk) {
      find(begin, std::min(chunk, count_ - begin), offsets.data() + begin);
    }
    return offsets;
  }

 private:
  template <IndexMode mode>
  static void add(const IndexArray& array, const std::int64_t* indices, std::int64_t count,
                  std::int64_t* offsets) {
    const std::int64_t extent = array.extent, stride = array.stride;
    bool outside = false;
    for (std::int64_t i = 0; i < count; ++i) {
      outside |= static_cast<std::uint64_t>(indices[i]) >= static_cast<std::uint64_t>(extent);
    }
    if (!outside) {
      for (std::int64_t i = 0; i < count; ++i) offsets[i] += indices[i] * stride;
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      offsets[i] += inside<mode>(indices[i], extent) * stride;
    }
  }

  std::int64_t count_;
  IndexMode mode_;
  std::vector<IndexReader> readers_;
  std::vector<Walk> own_;  // one, or none where only the indices count
};

struct Store {
  template <class T>
  void operator()(T& target, T value) const {
    target = value;
  }
};

/// Adds elements of a data type, given as the unsigned type of their size.
template <class Number>
struct Add {
  template <class T>
  void operator()(T& target, T value) const {
    if constexpr (sizeof(T) == sizeof(Number)) {
      Number left, right;
      std::memcpy(&left, &target, sizeof left);
      std::memcpy(&right, &value, sizeof right);
      left = static_cast<Number>(left + right);
      std::memcpy(&target, &left, sizeof left);
    }
  }
};

struct AddHalf {
  template <class T>
  void operator()(T& target, T value) const {
    if constexpr (sizeof(T) == 2) {
      target = float_to_half(half_to_float(target) + half_to_float(value));
    }
  }
};

struct Either {
  template <class T>
  void operator()(T& target, T value) const {
    target |= value;
  }
};

template <class Function>
void with_change(DType dtype, bool add, Function&& function) {
  if (!add) return function(Store{});
  switch (dtype) {
    case DType::float32:
      return function(Add<float>{});
    case DType::float64:
      return function(Add<double>{});
    case DType::float16:
      return function(AddHalf{});
    case DType::uint8:
    case DType::int8:
      return function(Add<std::uint8_t>{});
    case DType::int32:
      return function(Add<std::uint32_t>{});
    case DType::int64:
      return function(Add<std::uint64_t>{});
    case DType::boolean:
      return function(Either{});
  }
}

}  // namespace

// --- gather ---

struct GatherPass::Plan {
  Plan(const Indexed& indexed, std::byte* target)
      : data(indexed.data),
        result(target),
        item(size_of(indexed.dtype)),
        positions(indexed),
        before(indexed.before),
        after(indexed.after),
        before_count(count_of(indexed.before)),
        after_count(count_of(indexed.after)) {
    // Offsets that serve more than once are found once, and bad indices are told of in any case.
    const bool empty = before_count * after_count == 0;
    if (before_count > 1 || empty) offsets = positions.find_all();
    contiguous =
        !empty && is_contiguous(indexed.after.rank, indexed.after.shape, indexed.after.strides);
  }

  std::int64_t rows() const { return before_count * positions.count(); }

  void copy_rows(std::int64_t begin, std::int64_t end) const {
    std::int64_t found[chunk];
    for (std::int64_t row = begin; row < end;) {
      const std::int64_t outer = row / positions.count(), first = row % positions.count();
      const std::int64_t count = std::min({chunk, end - row, positions.count() - first});
      const std::int64_t* at = offsets.empty() ? found : offsets.data() + first;
      const auto bytes = static_cast<std::int64_t>(item);
      const std::byte* source = data + before.offset(outer) * bytes;
      std::byte* target = result + row * after_count * bytes;
      with_word(item, [&](auto element) {
        using T = decltype(element);
        const T* from = reinterpret_cast<const T*>(source);
        T* to = reinterpret_cast<T*>(target);
        if (offsets.empty()) {
          if (after_count == 1 && positions.copy_plainly(from, first, count, to)) return;
          positions.find(first, count, found);
        }
        copy_some(from, at, count, to);
      });
      row += count;
    }
  }

  template <class T>
  void copy_some(const T* source, const std::int64_t* at, std::int64_t count, T* target) const {
    if (after_count == 1) {
      for (std::int64_t i = 0; i < count; ++i) target[i] = source[at[i]];
      return;
    }
    const auto row_bytes = static_cast<std::size_t>(after_count) * sizeof(T);
    for (std::int64_t i = 0; i < count; ++i, target += after_count) {
      const T* row = source + at[i];
      if (contiguous) {
        if (i + prefetch_distance < count) {
          __builtin_prefetch(source + at[i + prefetch_distance]);
        }
        std::memcpy(target, row, row_bytes);
      } else {
        after.for_each(0, after_count,
                       [&](std::int64_t j, std::int64_t offset) { target[j] = row[offset]; });
      }
    }
  }

  std::byte* data;
  std::byte* result;
  std::size_t item;
  Positions positions;
  Walk before, after;
  std::int64_t before_count, after_count;
  bool contiguous = false;
  std::vector<std::int64_t> offsets;
};

GatherPass::GatherPass(const Indexed& indexed, std::byte* result)
    : plan_(std::make_unique<Plan>(indexed, result)) {
  const std::int64_t bytes =
      plan_->rows() * plan_->after_count * static_cast<std::int64_t>(plan_->item);
  const std::int64_t most = std::max<std::int64_t>(plan_->rows(), 1);
  shares_ = bytes ? static_cast<int>(std::min<std::int64_t>(shares_for(bytes), most)) : 0;
}

GatherPass::~GatherPass() = default;

void GatherPass::run(int share) const {
  const Range rows = range_of(plan_->rows(), shares_, share);
  plan_->copy_rows(rows.begin, rows.end);
}

// --- scatter ---

struct ScatterPass::Plan {
  Plan(const Indexed& indexed, const ScatterSource& source, bool add_)
      : data(indexed.data),
        values(source.data),
        dtype(indexed.dtype),
        add(add_),
        before(indexed.before),
        after(indexed.after),
        value_before(indexed.before, source.before),
        value_positions(indexed.positions, source.positions),
        value_after(indexed.after, source.after),
        before_count(count_of(indexed.before)),
        after_count(count_of(indexed.after)),
        positions(indexed) {
    plain = before_count == 1 && after_count == 1 &&
            positions.with_plain_indices(0, positions.count(), [](const auto*, std::int64_t) {});
    if (!plain) offsets = positions.find_all();
    if (!before_count || !after_count || !positions.count()) return;
    const auto is_run = [&](const std::int64_t* strides) {
      return is_contiguous(indexed.after.rank, indexed.after.shape, strides);
    };
    if (is_run(indexed.after.strides)) {
      rows = is_run(source.after)         ? Rows::of_elements
             : value_after.stands_still() ? Rows::of_one_value
                                          : Rows::strided;
    }
    const auto item = static_cast<std::int64_t>(size_of(dtype));
    const int wanted = shares_for(before_count * positions.count() * after_count * item);
    // Threads share columns, not positions: the order of writes to an element stays the same. A
    // part is a cache line at least.
    parts = static_cast<int>(std::clamp<std::int64_t>(
        divide_up(wanted, before_count), 1, std::max<std::int64_t>(1, after_count * item / 64)));
    shares = static_cast<int>(std::min<std::int64_t>(wanted, before_count * parts));
  }

  /// Parts [begin, end) of all axes before.
  void write_parts(Range range) const {
    for (std::int64_t part = range.begin; part < range.end; ++part) {
      write(part / parts, range_of(after_count, parts, static_cast<int>(part % parts)));
    }
  }

  void write(std::int64_t outer, Range columns) const {
    with_word(size_of(dtype), [&](auto element) {
      using T = decltype(element);
      T* target = reinterpret_cast<T*>(data) + before.offset(outer);
      const T* value = reinterpret_cast<const T*>(values) + value_before.offset(outer);
      with_change(dtype, add, [&](auto change) { write_some(target, value, columns, change); });
    });
  }

  template <class T, class Change>
  void write_some(T* target, const T* value, Range columns, Change change) const {
    const std::int64_t count = positions.count();
    if (plain) {
      positions.with_plain_indices(0, count, [&](const auto* indices, std::int64_t stride) {
        value_positions.for_each(0, count, [&](std::int64_t i, std::int64_t value_offset) {
          change(target[indices[i] * stride], value[value_offset]);
        });
      });
      return;
    }
    if (after_count == 1) {
      value_positions.for_each(0, count, [&](std::int64_t i, std::int64_t value_offset) {
        change(target[offsets[static_cast<std::size_t>(i)]], value[value_offset]);
      });
      return;
    }
    value_positions.for_each(0, count, [&](std::int64_t i, std::int64_t value_offset) {
      T* to = target + offsets[static_cast<std::size_t>(i)];
      const T* from = value + value_offset;
      if (rows == Rows::of_elements) {
        for (std::int64_t j = columns.begin; j < columns.end; ++j) change(to[j], from[j]);
      } else if (rows == Rows::of_one_value) {
        const T one = *from;
        for (std::int64_t j = columns.begin; j < columns.end; ++j) change(to[j], one);
      } else {
        std::int64_t from_offsets[chunk];
        for (std::int64_t begin = columns.begin; begin < columns.end; begin += chunk) {
          const std::int64_t some = std::min(chunk, columns.end - begin);
          value_after.for_each(
              begin, some, [&](std::int64_t j, std::int64_t offset) { from_offsets[j] = offset; });
          after.for_each(begin, some, [&](std::int64_t j, std::int64_t offset) {
            change(to[offset], from[from_offsets[j]]);
          });
        }
      }
    });
  }

  /// How a row is written: without gaps, from as many elements or from one; or by offsets.
  enum class Rows : std::uint8_t { of_elements, of_one_value, strided };

  std::byte* data;
  const std::byte* values;
  DType dtype;
  bool add;
  Walk before, after;
  Walk value_before, value_positions, value_after;
  std::int64_t before_count, after_count;
  Positions positions;
  bool plain = false;                 ///< the indices serve as they are
  std::vector<std::int64_t> offsets;  ///< of the positions otherwise
  Rows rows = Rows::strided;
  int parts = 0, shares = 0;
};

ScatterPass::ScatterPass(const Indexed& indexed, const ScatterSource& source, bool add)
    : plan_(std::make_unique<Plan>(indexed, source, add)), shares_(plan_->shares) {}

ScatterPass::~ScatterPass() = default;

void ScatterPass::run(int share) const {
  plan_->write_parts(range_of(plan_->before_count * plan_->parts, shares_, share));
}

// --- one-hot ---

struct OneHotPass::Plan {
  IndexReader reader;
  std::byte* result;
  std::size_t item;
  std::int64_t count, depth;
  std::uint64_t on, off;

  void fill(std::int64_t begin, std::int64_t end) const {
    std::int64_t indices[chunk];
    for (std::int64_t row = begin; row < end; row += chunk) {
      const std::int64_t rows = std::min(chunk, end - row);
      reader.read(row, rows, indices);
      with_word(item, [&](auto element) {
        using T = decltype(element);
        T* target = reinterpret_cast<T*>(result) + row * depth;
        std::fill_n(target, rows * depth, static_cast<T>(off));
        for (std::int64_t i = 0; i < rows; ++i, target += depth) {
          if (indices[i] >= 0 && indices[i] < depth) target[indices[i]] = static_cast<T>(on);
        }
      });
    }
  }
};

OneHotPass::OneHotPass(const IndexArray& indices, const Axes& positions, std::byte* result,
                       DType dtype, std::int64_t depth, std::uint64_t on, std::uint64_t off)
    : plan_(new Plan{IndexReader(indices, positions), result, size_of(dtype), count_of(positions),
                     depth, on, off}) {
  const std::int64_t bytes = plan_->count * depth * static_cast<std::int64_t>(plan_->item);
  shares_ = bytes ? static_cast<int>(std::min<std::int64_t>(shares_for(bytes), plan_->count)) : 0;
}

OneHotPass::~OneHotPass() = default;

void OneHotPass::run(int share) const {
  const Range rows = range_of(plan_->count, shares_, share);
  plan_->fill(rows.begin, rows.end);
}

}  // namespace afterglow::kernels
