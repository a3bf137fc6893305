// SPDX-License-Identifier: Apache-2.0
// Elements are turned into unsigned keys in the same order. Where places are wanted they travel
// below the keys, so that equal elements keep their order whatever the method: the digits of a
// radix sort for long lines, comparisons for short ones (many lines at a time where there are
// many), and where only few are wanted a search for those that beat the last of them. Without
// places, integers from a small range are counted.
#include "kernels/sort.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/element_types.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {

struct SortPass::Plan {
  virtual ~Plan() = default;
  virtual void run(int share) = 0;
  virtual void finish() {}
  int shares = 0;
};

namespace {

constexpr std::int64_t share_size = 1 << 14;  // elements
constexpr std::int64_t most_columns = 16;     // lines side by side are read a cache line at a time
constexpr std::int64_t short_line = 400;      // is sorted by comparisons
constexpr std::int64_t few_lines = 4;         // and by itself, if it has no company
constexpr std::int64_t long_line = 1 << 17;   // is cut by its keys, for several threads
constexpr std::int64_t few = 32;              // are found by a search

// --- keys ---

template <class Number>
struct Integers {
  using Element = Number;
  using Key = std::make_unsigned_t<Number>;
  static constexpr Key sign =
      std::is_signed_v<Number> ? static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1)) : Key{0};
  static Key key(Number value) { return static_cast<Key>(static_cast<Key>(value) ^ sign); }
  static Number value(Key key) { return static_cast<Number>(static_cast<Key>(key ^ sign)); }
};

/// Reals, given as their bits.
template <class Bits, Bits infinity>
struct Reals {
  using Element = Bits;
  using Key = Bits;
  using Signed = std::make_signed_t<Bits>;
  static constexpr Bits greatest = infinity;
  static constexpr int sign_place = 8 * sizeof(Bits) - 1;
  static constexpr Bits sign = static_cast<Bits>(Bits{1} << sign_place);
  /// All bits where the sign is set: signed shifts and comparisons vectorise on any machine.
  static Bits spread_sign(Bits bits) {
    return static_cast<Bits>(static_cast<Signed>(bits) >> sign_place);
  }
  static Key key(Bits bits) {
    const auto size = static_cast<Signed>(bits & static_cast<Bits>(~sign));
    const auto ordered = static_cast<Bits>(bits ^ (spread_sign(bits) | sign));
    return size > static_cast<Signed>(infinity) ? std::numeric_limits<Bits>::max() : ordered;
  }
  static Bits value(Key key) {
    return static_cast<Bits>(key ^ (static_cast<Bits>(~spread_sign(key)) | sign));
  }
};

using Float32 = Reals<std::uint32_t, 0x7f800000u>;
using Float64 = Reals<std::uint64_t, 0x7ff0000000000000u>;
using Float16 = Reals<std::uint16_t, 0x7c00>;

template <class Codec>
constexpr bool is_integral = std::is_same_v<Codec, Integers<typename Codec::Element>>;

/// The key under which elements are ordered when equal ones must keep their order.
template <class Codec>
typename Codec::Key equal_key(typename Codec::Element element) {
  if constexpr (!is_integral<Codec>) {
    if (element == Codec::sign) element = 0;  // -0
  }
  return Codec::key(element);
}

/// The same keys, for the machine's own functions.
template <class Codec>
KeyRule<typename Codec::Key> key_rule(bool descending) {
  using Key = typename Codec::Key;
  const Key all = std::numeric_limits<Key>::max(), flip = descending ? all : Key{0};
  if constexpr (is_integral<Codec>)
    return {Codec::sign, 0, all >> 1, flip};
  else
    return {Codec::sign, all, Codec::greatest, flip};
}

/// Only words of four and eight bytes have functions of the machine's own.
template <class Key>
constexpr bool has_functions = sizeof(Key) >= 4;

template <class Key>
const LineFunctions<Key>& line_functions() {
  if constexpr (sizeof(Key) == 4)
    return kernel_table().lines;
  else
    return kernel_table().long_lines;
}

template <class Number>
struct CodecOf {
  using Codec = Integers<Number>;
};
template <>
struct CodecOf<float> {
  using Codec = Float32;
};
template <>
struct CodecOf<double> {
  using Codec = Float64;
};
template <>
struct CodecOf<HalfBits> {
  using Codec = Float16;
};

template <class Function>
void with_codec(DType dtype, Function&& function) {
  with_type(dtype, [&](auto element) { function(typename CodecOf<decltype(element)>::Codec{}); });
}

// --- what is sorted: keys, or keys with places ---

template <class Key>
struct Alone {
  Key key;
  bool operator<(const Alone& other) const { return key < other.key; }
};

/// A key of up to 32 bits above its place.
struct Packed {
  std::uint64_t bits;
  Packed() = default;
  Packed(std::uint64_t key, std::uint64_t place) : bits(key << 32 | place) {}
  std::uint32_t place() const { return static_cast<std::uint32_t>(bits); }
  bool operator<(const Packed& other) const { return bits < other.bits; }
};

struct Wide {
  std::uint64_t key, index;
  Wide() = default;
  Wide(std::uint64_t key_, std::uint64_t place) : key(key_), index(place) {}
  std::uint64_t place() const { return index; }
  bool operator<(const Wide& other) const {
    return key < other.key || (key == other.key && index < other.index);
  }
};

template <class Key>
std::uint64_t key_of(Alone<Key> item) {
  return item.key;
}
std::uint64_t key_of(Packed item) {
  return item.bits >> 32;
}
std::uint64_t key_of(const Wide& item) {
  return item.key;
}

template <class Item>
constexpr int key_bits = std::is_same_v<Item, Packed> ? 32 : 64;
template <class Key>
constexpr int key_bits<Alone<Key>> = 8 * sizeof(Key);

/// Half a word has room for the places of a line of up to 2^32 elements.
template <class Key>
using Placed = std::conditional_t<sizeof(Key) == 8, Wide, Packed>;

/// The bits in which the keys differ, from the lowest on.
template <class Item>
struct Digits {
  Digits(const Item* items, std::int64_t count) {
    const std::uint64_t first = key_of(items[0]);
    std::uint64_t differ = 0;
    for (std::int64_t i = 1; i < count; ++i) differ |= key_of(items[i]) ^ first;
    low = differ ? std::countr_zero(differ) : 0;
    bits = differ ? 64 - std::countl_zero(differ) - low : 0;
  }
  int low, bits;
};

/// Puts the items in order; `spare` has room for as many. Digits that all keys share are left out.
template <class Item>
void radix_sort(Item* items, Item* spare, std::int64_t count) {
  constexpr int width = 11;
  constexpr int passes = (key_bits<Item> + width - 1) / width;
  constexpr std::uint64_t mask = (1 << width) - 1;
  static_assert(passes <= 6);
  std::vector<std::array<std::uint32_t, mask + 1>> starts(passes);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t key = key_of(items[i]);
    for (int pass = 0; pass < passes; ++pass) {
      ++starts[static_cast<std::size_t>(pass)][key >> (pass * width) & mask];
    }
  }
  Item *from = items, *to = spare;
  for (int pass = 0; pass < passes; ++pass) {
    auto& next = starts[static_cast<std::size_t>(pass)];
    const int shift = pass * width;
    if (next[key_of(items[0]) >> shift & mask] == count) continue;
    std::uint32_t sum = 0;
    for (std::uint32_t& start : next) sum += std::exchange(start, sum);
    for (std::int64_t i = 0; i < count; ++i) to[next[key_of(from[i]) >> shift & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy_n(from, count, items);
}

/// Items that are nothing but a word of this size, by the machine's own method. False where there
/// is none.
template <class Item>
bool sort_as_words(Item* items, std::int64_t count) {
  if constexpr (std::is_same_v<Item, Alone<std::uint32_t>> ||
                std::is_same_v<Item, Alone<std::uint64_t>> || std::is_same_v<Item, Packed>) {
    using Word = std::conditional_t<sizeof(Item) == 4, std::uint32_t, std::uint64_t>;
    const auto sort = line_functions<Word>().sort;
    return sort && sort(reinterpret_cast<Word*>(items), count);
  } else {
    return false;
  }
}

template <class Item>
void sort_items(Item* items, Item* spare, std::int64_t count) {
  if (sort_as_words(items, count)) return;
  if (count <= short_line || count > std::numeric_limits<std::uint32_t>::max()) {
    std::sort(items, items + count);
  } else {
    radix_sort(items, spare, count);
  }
}

/// How often each of the integers of a small range occurs, by which they are put in order.
template <class Number>
class Counts {
 public:
  /// Whether the elements are of such a range, as some of them tell first.
  bool find_range(const Number* elements, std::int64_t count) {
    constexpr std::int64_t samples = 64;
    if (count < shortest || !spans(elements, samples, count / samples, count)) return false;
    return spans(elements, count, 1, count);
  }
  /// How often they occur in a part of the line. The same integer often comes twice in a row, and
  /// then its count would have to wait for itself.
  std::vector<std::uint32_t> of(const Number* elements, std::int64_t count) const {
    const auto size = static_cast<std::size_t>(range_);
    constexpr std::int64_t side_by_side = 4;
    std::vector<std::uint32_t> counts(side_by_side * size);
    std::uint32_t* const first = counts.data();
    std::int64_t i = 0;
    for (; i + side_by_side <= count; i += side_by_side) {
      for (std::int64_t k = 0; k < side_by_side; ++k)
        ++first[static_cast<std::size_t>(k) * size + place(elements[i + k])];
    }
    for (; i < count; ++i) ++first[place(elements[i])];
    for (std::size_t at = size; at < counts.size(); ++at) first[at % size] += first[at];
    counts.resize(size);
    return counts;
  }
  void write(const std::vector<std::uint32_t>& counts, bool descending, Number* target) const {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t at = descending ? counts.size() - 1 - i : i;
      const auto number = static_cast<Number>(static_cast<Unsigned>(least_) + at);
      target = std::fill_n(target, counts[at], number);
    }
  }

 private:
  using Unsigned = std::make_unsigned_t<Number>;
  static constexpr std::int64_t shortest = 512, most = 4096;

  bool spans(const Number* elements, std::int64_t count, std::int64_t step, std::int64_t length) {
    Number least = elements[0], greatest = elements[0];
    for (std::int64_t i = 0; i < count; ++i) {
      least = std::min(least, elements[i * step]);
      greatest = std::max(greatest, elements[i * step]);
    }
    const std::uint64_t distance =
        static_cast<Unsigned>(static_cast<Unsigned>(greatest) - static_cast<Unsigned>(least));
    if (distance >= static_cast<std::uint64_t>(std::min(most, length / 8))) return false;
    least_ = least;
    range_ = static_cast<std::int64_t>(distance) + 1;
    return true;
  }
  std::size_t place(Number element) const {
    return static_cast<Unsigned>(static_cast<Unsigned>(element) - static_cast<Unsigned>(least_));
  }

  Number least_ = 0;
  std::int64_t range_ = 0;
};

/// Leaves the first `keep` items, in order, at the front.
template <class Item>
void select_items(Item* items, Item* spare, std::int64_t count, std::int64_t keep) {
  if (keep < count) {
    // Digits alone do not tell equal keys apart, so that these must not leave their order before.
    std::copy_n(items, count, spare);
    std::nth_element(spare, spare + keep, spare + count);
    const Item bound = spare[keep];
    std::remove_if(items, items + count, [&](const Item& item) { return !(item < bound); });
  }
  sort_items(items, spare, keep);
}

/// Memory that grows, and holds nothing until it is written.
template <class T>
class Room {
 public:
  T* of_size(std::int64_t count) {
    if (count > size_) {
      data_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(count));
      size_ = count;
    }
    return data_.get();
  }

 private:
  std::unique_ptr<T[]> data_;
  std::int64_t size_ = 0;
};

/// The results of one line, at their place among the lines beside it.
class LineWriter {
 public:
  LineWriter(const SortResults& results, std::int64_t inner) : results_(results), inner_(inner) {}

  template <class T>
  void values(std::int64_t outer, std::int64_t column, std::int64_t first, std::int64_t count,
              const T* source) const {
    T* target = static_cast<T*>(results_.values) + start(outer, column) + first * inner_;
    if (inner_ == 1) {
      std::copy_n(source, count, target);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) target[i * inner_] = source[i];
  }

  void places(std::int64_t outer, std::int64_t column, std::int64_t first, std::int64_t count,
              const std::int64_t* source) const {
    const auto item = static_cast<std::int64_t>(size_of(results_.places_dtype));
    const CastFunction cast = cast_function(DType::int64, results_.places_dtype);
    auto* target =
        static_cast<char*>(results_.places) + (start(outer, column) + first * inner_) * item;
    if (inner_ == 1) return cast(source, target, count);
    alignas(64) char block[block_size * 8];
    for (std::int64_t begin = 0; begin < count; begin += block_size) {
      const std::int64_t some = std::min(block_size, count - begin);
      cast(source + begin, block, some);
      for (std::int64_t i = 0; i < some; ++i) {
        std::memcpy(target + (begin + i) * inner_ * item, block + i * item,
                    static_cast<std::size_t>(item));
      }
    }
  }

 private:
  std::int64_t start(std::int64_t outer, std::int64_t column) const {
    return outer * results_.keep * inner_ + column;
  }

  const SortResults& results_;
  std::int64_t inner_;
};

template <class Codec>
class SortLines : public SortPass::Plan {
  using Key = typename Codec::Key;
  using Element = typename Codec::Element;

 public:
  SortLines(const Lines& input, const SortResults& results)
      : input_(input), results_(results), writer_(results_, input.inner) {
    if (!input.outer || !input.inner || !results.keep) return;
    const bool by_search = results.keep < input.length && results.keep <= few;
    const bool as_words = has_functions<Key> && kernel_table().lines.sort;
    together_ = input.length <= short_line && input.outer * input.inner > few_lines && !by_search &&
                !as_words && !(places_travel() && sizeof(Key) == 8);
    tile_ = std::min(input.inner, together_ ? lanes() : most_columns);
    units_ = input.outer * divide_up(input.inner, tile_);
    const std::int64_t size = input.outer * input.length * input.inner;
    shares = static_cast<int>(std::clamp<std::int64_t>(divide_up(size, share_size), 1, units_));
  }

  void run(int share) override {
    const Range range = range_of(units_, shares, share);
    Scratch scratch;
    for (std::int64_t unit = range.begin; unit < range.end && together_;) {
      unit += sizeof(Key) == 8 || places_travel() ? sort_together<std::uint64_t>(unit, range.end)
                                                  : sort_together<std::uint32_t>(unit, range.end);
    }
    for (std::int64_t unit = range.begin; unit < range.end && !together_; ++unit) {
      const std::int64_t tiles = divide_up(input_.inner, tile_);
      const std::int64_t outer = unit / tiles, column = unit % tiles * tile_;
      const std::int64_t columns = std::min(tile_, input_.inner - column);
      if (places_travel()) {
        sort_placed(scratch, outer, column, columns);
      } else {
        sort_alone(scratch, outer, column, columns);
      }
    }
  }

 private:
  struct Scratch {
    Room<Element> lines;
    Room<Alone<Key>> alone;
    Room<Placed<Key>> placed;
    Room<Element> values;
    Room<std::int64_t> places;
  };

  bool places_travel() const { return results_.places || results_.keep < input_.length; }
  std::int64_t lanes() const { return sizeof(Key) == 8 || places_travel() ? 8 : 16; }

  /// As many short lines as a network takes; how many units that are. Lines are rows, or columns of
  /// one tile.
  template <class Word>
  std::int64_t sort_together(std::int64_t unit, std::int64_t last_unit) const {
    constexpr std::int64_t lanes = 64 / sizeof(Word);
    const std::int64_t length = input_.length, keep = results_.keep, inner = input_.inner;
    const bool rows = inner == 1, placed = places_travel();
    const std::int64_t tiles = divide_up(inner, tile_);
    const std::int64_t outer = unit / tiles, column = unit % tiles * tile_;
    const std::int64_t count =
        rows ? std::min(lanes, last_unit - unit) : std::min(tile_, inner - column);
    const Key flip = results_.descending ? std::numeric_limits<Key>::max() : Key{0};
    alignas(64) Word words[short_line * lanes];
    if (count < lanes) std::fill_n(words, length * lanes, Word{0});
    const Element* source = elements(outer, column);
    for (std::int64_t i = 0; i < length; ++i) {
      for (std::int64_t lane = 0; lane < count; ++lane) {
        const Element element = source[rows ? lane * length + i : i * inner + lane];
        if (placed) {
          const Word key = static_cast<Key>(equal_key<Codec>(element) ^ flip);
          words[i * lanes + lane] = static_cast<Word>(key << (4 * sizeof(Word)) | Word(i));
        } else {
          words[i * lanes + lane] = static_cast<Key>(Codec::key(element) ^ flip);
        }
      }
    }
    if constexpr (sizeof(Word) == 8) {
      kernel_table().sort_long_words(words, length);
    } else {
      kernel_table().sort_words(words, length);
    }
    Element values[short_line];
    std::int64_t places[short_line];
    for (std::int64_t lane = 0; lane < count; ++lane) {
      const std::int64_t first = rows ? lane * length : lane;
      for (std::int64_t i = 0; i < keep; ++i) {
        const Word word = words[i * lanes + lane];
        if (placed) {
          places[i] = static_cast<std::int64_t>(word & 0xffffffffu);
          values[i] = source[first + places[i] * inner];
        } else {
          values[i] = Codec::value(static_cast<Key>(static_cast<Key>(word) ^ flip));
        }
      }
      const std::int64_t own_outer = rows ? outer + lane : outer;
      const std::int64_t own_column = rows ? 0 : column + lane;
      if (results_.values) writer_.values(own_outer, own_column, 0, keep, values);
      if (results_.places) writer_.places(own_outer, own_column, 0, keep, places);
    }
    return rows ? count : 1;
  }

  const Element* elements(std::int64_t outer, std::int64_t column) const {
    return static_cast<const Element*>(input_.data) + outer * input_.length * input_.inner + column;
  }

  /// Lines side by side, one behind the other; a line that is so already as it is.
  const Element* read(Scratch& scratch, std::int64_t outer, std::int64_t column,
                      std::int64_t columns) const {
    const Element* source = elements(outer, column);
    if (input_.inner == 1) return source;
    Element* lines = scratch.lines.of_size(columns * input_.length);
    for (std::int64_t i = 0; i < input_.length; ++i, source += input_.inner) {
      for (std::int64_t c = 0; c < columns; ++c) lines[c * input_.length + i] = source[c];
    }
    return lines;
  }

  void sort_alone(Scratch& scratch, std::int64_t outer, std::int64_t column,
                  std::int64_t columns) const {
    const std::int64_t length = input_.length;
    const Element* line = read(scratch, outer, column, columns);
    const bool in_place = input_.inner == 1;
    Element* values = in_place ? static_cast<Element*>(results_.values) + outer * length
                               : scratch.values.of_size(length);
    for (std::int64_t c = 0; c < columns; ++c, line += length) {
      sort_line(scratch, line, values);
      if (!in_place) writer_.values(outer, column + c, 0, length, values);
    }
  }

  void sort_line(Scratch& scratch, const Element* line, Element* values) const {
    const std::int64_t length = input_.length;
    if constexpr (is_integral<Codec>) {
      Counts<Element> counts;
      if (length <= std::numeric_limits<std::uint32_t>::max() && counts.find_range(line, length))
        return counts.write(counts.of(line, length), results_.descending, values);
    }
    auto* const items = reinterpret_cast<Alone<Key>*>(values);
    if constexpr (has_functions<Key>) {
      const auto& functions = line_functions<Key>();
      const KeyRule<Key> rule = key_rule<Codec>(results_.descending);
      auto* const words = reinterpret_cast<Key*>(values);
      functions.make_keys(reinterpret_cast<const Key*>(line), length, rule, words);
      if (!sort_as_words(items, length)) sort_items(items, scratch.alone.of_size(length), length);
      functions.take_values(words, length, rule, words);
    } else {
      const Key flip = results_.descending ? std::numeric_limits<Key>::max() : Key{0};
      for (std::int64_t i = 0; i < length; ++i)
        items[i].key = static_cast<Key>(Codec::key(line[i]) ^ flip);
      sort_items(items, scratch.alone.of_size(length), length);
      for (std::int64_t i = 0; i < length; ++i)
        values[i] = Codec::value(static_cast<Key>(items[i].key ^ flip));
    }
  }

  void sort_placed(Scratch& scratch, std::int64_t outer, std::int64_t column,
                   std::int64_t columns) const {
    const std::int64_t length = input_.length, keep = results_.keep;
    const Element* line = read(scratch, outer, column, columns);
    std::int64_t* places = scratch.places.of_size(keep);
    Element* values = scratch.values.of_size(keep);
    for (std::int64_t c = 0; c < columns; ++c, line += length) {
      const Placed<Key>* items = first_items(scratch, line);
      for (std::int64_t i = 0; i < keep; ++i) {
        const auto place = static_cast<std::int64_t>(items[i].place());
        places[i] = place;
        values[i] = line[place];
      }
      if (results_.values) writer_.values(outer, column + c, 0, keep, values);
      if (results_.places) writer_.places(outer, column + c, 0, keep, places);
    }
  }

  const Placed<Key>* first_items(Scratch& scratch, const Element* line) const {
    const std::int64_t length = input_.length, keep = results_.keep;
    const Key flip = results_.descending ? std::numeric_limits<Key>::max() : Key{0};
    if (keep <= few && keep < length) {
      Placed<Key>* best = scratch.placed.of_size(keep);
      find_few(line, flip, best);
      return best;
    }
    Placed<Key>* items = scratch.placed.of_size(2 * length);
    for (std::int64_t i = 0; i < length; ++i) items[i] = item(line, i, flip);
    select_items(items, items + length, length, keep);
    return items;
  }

  static Placed<Key> item(const Element* line, std::int64_t i, Key flip) {
    return {static_cast<Key>(equal_key<Codec>(line[i]) ^ flip), static_cast<std::uint64_t>(i)};
  }

  /// A new element goes in front of those that it beats; most beat none, which is asked for many at
  /// a time.
  void find_few(const Element* line, Key flip, Placed<Key>* best) const {
    const std::int64_t length = input_.length, keep = results_.keep;
    for (std::int64_t i = 0; i < keep; ++i) best[i] = item(line, i, flip);
    std::sort(best, best + keep);
    constexpr std::int64_t many = 32;
    for (std::int64_t begin = keep; begin < length; begin += many) {
      const std::int64_t count = std::min(many, length - begin);
      const auto last = static_cast<Key>(key_of(best[keep - 1]));
      Key keys[many];
      bool beats = false;
      for (std::int64_t i = 0; i < count; ++i) {
        keys[i] = static_cast<Key>(equal_key<Codec>(line[begin + i]) ^ flip);
        beats |= keys[i] < last;
      }
      if (!beats) continue;
      for (std::int64_t i = 0; i < count; ++i) {
        if (keys[i] >= key_of(best[keep - 1])) continue;
        const Placed<Key> better(keys[i], static_cast<std::uint64_t>(begin + i));
        std::int64_t at = keep - 1;
        for (; at > 0 && better < best[at - 1]; --at) best[at] = best[at - 1];
        best[at] = better;
      }
    }
  }

  Lines input_;
  SortResults results_;
  LineWriter writer_;
  bool together_ = false;
  std::int64_t tile_ = 1, units_ = 0;
};

/// The places of one long line: its items are dealt out by their first digit, and then sorted by
/// several threads.
template <class Codec>
class PlaceLongLine : public SortPass::Plan {
  using Key = typename Codec::Key;
  using Element = typename Codec::Element;
  using Item = Placed<Key>;

 public:
  PlaceLongLine(const Lines& input, const SortResults& results)
      : line_(static_cast<const Element*>(input.data)),
        results_(results),
        writer_(results_, 1),
        items_(new Item[static_cast<std::size_t>(input.length)]),
        spare_(new Item[static_cast<std::size_t>(input.length)]) {
    const std::int64_t length = input.length;
    const Key flip = results.descending ? std::numeric_limits<Key>::max() : Key{0};
    for (std::int64_t i = 0; i < length; ++i) {
      spare_[i] =
          Item(static_cast<Key>(equal_key<Codec>(line_[i]) ^ flip), static_cast<std::uint64_t>(i));
    }
    constexpr int width = 11;
    const Digits<Item> digits(spare_.get(), length);
    const int shift = digits.low + std::max(0, digits.bits - width);
    constexpr std::uint64_t mask = (1 << width) - 1;
    starts_.resize(mask + 2);
    for (std::int64_t i = 0; i < length; ++i) ++starts_[(key_of(spare_[i]) >> shift & mask) + 1];
    for (std::uint64_t digit = 0; digit <= mask; ++digit) starts_[digit + 1] += starts_[digit];
    std::vector<std::int64_t> next(starts_.begin(), starts_.end() - 1);
    for (std::int64_t i = 0; i < length; ++i) {
      items_[next[key_of(spare_[i]) >> shift & mask]++] = spare_[i];
    }
    // As many elements in each share, as far as whole digits allow.
    const std::int64_t wanted = divide_up(length, 8 * share_size);
    bounds_.push_back(0);
    for (std::uint64_t digit = 0; digit <= mask; ++digit) {
      const std::int64_t end = starts_[digit + 1];
      if (end - starts_[bounds_.back()] >= length / wanted || digit == mask) {
        bounds_.push_back(digit + 1);
      }
    }
    shares = static_cast<int>(bounds_.size()) - 1;
  }

  void run(int share) override {
    for (std::uint64_t digit = bounds_[static_cast<std::size_t>(share)];
         digit < bounds_[static_cast<std::size_t>(share) + 1]; ++digit) {
      const std::int64_t begin = starts_[digit], count = starts_[digit + 1] - begin;
      if (!count) continue;
      sort_items(items_.get() + begin, spare_.get() + begin, count);
      write(begin, count);
    }
  }

 private:
  void write(std::int64_t begin, std::int64_t count) const {
    Element values[block_size];
    std::int64_t places[block_size];
    for (std::int64_t first = begin; first < begin + count; first += block_size) {
      const std::int64_t some = std::min(block_size, begin + count - first);
      const Item* items = items_.get() + first;
      for (std::int64_t i = 0; i < some; ++i) {
        places[i] = static_cast<std::int64_t>(items[i].place());
      }
      writer_.places(0, 0, first, some, places);
      if (!results_.values) continue;
      for (std::int64_t i = 0; i < some; ++i) values[i] = line_[places[i]];
      writer_.values(0, 0, first, some, values);
    }
  }

  const Element* line_;
  SortResults results_;
  LineWriter writer_;
  std::unique_ptr<Item[]> items_, spare_;
  std::vector<std::int64_t> starts_;   ///< of every digit, among the items
  std::vector<std::uint64_t> bounds_;  ///< of every share, among the digits
};

/// The elements of one long line. Each share looks through all of it for the keys that are its own,
/// which costs less than dealing them out before several threads can begin.
template <class Codec>
class SortLongLine : public SortPass::Plan {
  using Key = typename Codec::Key;

 public:
  SortLongLine(const Lines& input, const SortResults& results)
      : line_(static_cast<const Key*>(input.data)),
        length_(input.length),
        target_(static_cast<Key*>(results.values)),
        rule_(key_rule<Codec>(results.descending)) {
    bounds_ = choose_bounds(std::clamp<std::int64_t>(results.threads, 1, most_shares));
    starts_.resize(bounds_.size());
    line_functions<Key>().count_keys(line_, length_, rule_, bounds_.data(),
                                     static_cast<int>(bounds_.size()), starts_.data());
    shares = static_cast<int>(bounds_.size()) + 1;
  }

  void run(int share) override {
    const auto number = static_cast<std::size_t>(share);
    const bool is_first = number == 0, is_last = number == bounds_.size();
    const Key least = is_first ? Key{0} : bounds_[number - 1];
    const Key greatest = is_last ? std::numeric_limits<Key>::max() : bounds_[number] - 1;
    const std::int64_t begin = is_first ? 0 : starts_[number - 1];
    const std::int64_t count = (is_last ? length_ : starts_[number]) - begin;
    const auto& functions = line_functions<Key>();
    Key* const keys = target_ + begin;
    functions.pick_keys(line_, length_, rule_, least, greatest, keys);
    auto* const items = reinterpret_cast<Alone<Key>*>(keys);
    if (!sort_as_words(items, count)) {
      Room<Alone<Key>> spare;
      sort_items(items, spare.of_size(count), count);
    }
    functions.take_values(keys, count, rule_, keys);
  }

 private:
  static constexpr std::int64_t most_shares = 64;

  /// Keys between which about as many elements lie, as some of them tell.
  std::vector<Key> choose_bounds(std::int64_t parts) const {
    constexpr std::int64_t samples_each = 256;
    const std::int64_t samples = parts * samples_each, step = length_ / samples;
    std::vector<Key> keys(static_cast<std::size_t>(samples)), bounds;
    for (std::int64_t i = 0; i < samples; ++i)
      keys[static_cast<std::size_t>(i)] = line_[i * step + step / 2];
    line_functions<Key>().make_keys(keys.data(), samples, rule_, keys.data());
    std::ranges::sort(keys);
    for (std::int64_t i = samples_each; i < samples; i += samples_each) {
      const Key bound = keys[static_cast<std::size_t>(i)];
      if (bound > (bounds.empty() ? Key{0} : bounds.back())) bounds.push_back(bound);
    }
    return bounds;
  }

  const Key* line_;
  std::int64_t length_;
  Key* target_;
  KeyRule<Key> rule_;
  std::vector<Key> bounds_;           ///< the least of every share but the first
  std::vector<std::int64_t> starts_;  ///< where it goes
};

/// One long line of integers from a small range: each share counts some of them.
template <class Number>
class CountLongLine : public SortPass::Plan {
 public:
  CountLongLine(const Counts<Number>& counts, const Lines& input, const SortResults& results)
      : counts_(counts),
        line_(static_cast<const Number*>(input.data)),
        length_(input.length),
        results_(results) {
    shares = static_cast<int>(divide_up(length_, share_length));
    parts_.resize(static_cast<std::size_t>(shares));
  }

  void run(int share) override {
    const Range range = range_of(length_, shares, share);
    parts_[static_cast<std::size_t>(share)] =
        counts_.of(line_ + range.begin, range.end - range.begin);
  }

  void finish() override {
    std::vector<std::uint32_t>& sum = parts_[0];
    for (std::size_t part = 1; part < parts_.size(); ++part) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts_[part][i];
    }
    counts_.write(sum, results_.descending, static_cast<Number*>(results_.values));
  }

 private:
  static constexpr std::int64_t share_length = 1 << 18;

  Counts<Number> counts_;
  const Number* line_;
  std::int64_t length_;
  SortResults results_;
  std::vector<std::vector<std::uint32_t>> parts_;  ///< the counts of every share
};

template <class Codec>
std::unique_ptr<SortPass::Plan> make_plan(const Lines& input, const SortResults& results) {
  using Key = typename Codec::Key;
  const bool whole = results.keep == input.length;
  if (input.outer * input.inner != 1 || input.length < long_line || !whole ||
      input.length > std::numeric_limits<std::uint32_t>::max()) {
    return std::make_unique<SortLines<Codec>>(input, results);
  }
  if (results.places) return std::make_unique<PlaceLongLine<Codec>>(input, results);
  if constexpr (is_integral<Codec>) {
    using Element = typename Codec::Element;
    Counts<Element> counts;
    if (counts.find_range(static_cast<const Element*>(input.data), input.length))
      return std::make_unique<CountLongLine<Element>>(counts, input, results);
  }
  if constexpr (has_functions<Key>)
    return std::make_unique<SortLongLine<Codec>>(input, results);
  else
    return std::make_unique<SortLines<Codec>>(input, results);
}

}  // namespace

SortPass::SortPass(const Lines& input, const SortResults& results) {
  with_codec(input.dtype, [&](auto codec) { plan_ = make_plan<decltype(codec)>(input, results); });
}

SortPass::~SortPass() = default;

int SortPass::shares() const {
  return plan_->shares;
}

void SortPass::run(int share) {
  plan_->run(share);
}

void SortPass::finish() {
  plan_->finish();
}

std::int64_t drop_equal_neighbours(void* elements, DType dtype, std::int64_t count) {
  std::int64_t kept = 0;
  with_codec(dtype, [&](auto codec) {
    using Codec = decltype(codec);
    using Key = typename Codec::Key;
    if constexpr (has_functions<Key>) {
      // Zeros differ in their signs only.
      const Key apart = is_integral<Codec> ? ~Key{0} : static_cast<Key>(~Codec::sign);
      kept = line_functions<Key>().drop_equals(static_cast<Key*>(elements), count, apart);
    } else {
      auto* const first = static_cast<Key*>(elements);
      const auto key = [](Key bits) {
        return equal_key<Codec>(static_cast<typename Codec::Element>(bits));
      };
      kept = std::unique(first, first + count,
                         [&](Key one, Key other) { return key(one) == key(other); }) -
             first;
    }
  });
  return kept;
}

// --- search ---

SearchPass::SearchPass(const Lines& line, const void* values, std::int64_t count, bool right,
                       std::int64_t* result)
    : line_(line), values_(values), count_(count), right_(right), result_(result) {
  shares_ = static_cast<int>(std::min<std::int64_t>(divide_up(count, 2048), 256));
}

void SearchPass::run(int share) const {
  const Range range = range_of(count_, shares_, share);
  with_codec(line_.dtype, [&](auto codec) {
    using Codec = decltype(codec);
    using Element = typename Codec::Element;
    const auto* line = static_cast<const Element*>(line_.data);
    const auto* values = static_cast<const Element*>(values_);
    // Several searches go on side by side, for each step of one waits for memory.
    constexpr std::int64_t together = 8;
    for (std::int64_t begin = range.begin; begin < range.end; begin += together) {
      const std::int64_t count = std::min(together, range.end - begin);
      typename Codec::Key keys[together] = {};
      std::int64_t bases[together] = {};
      for (std::int64_t i = 0; i < count; ++i) keys[i] = equal_key<Codec>(values[begin + i]);
      const auto belongs_behind = [&](std::int64_t i, std::int64_t at) {
        const auto own = equal_key<Codec>(line[at]);
        return right_ ? own <= keys[i] : own < keys[i];
      };
      std::int64_t length = line_.length;
      for (; length > 1; length -= length / 2) {
        const std::int64_t half = length / 2;
        for (std::int64_t i = 0; i < together; ++i) {
          bases[i] += belongs_behind(i, bases[i] + half - 1) ? half : 0;
        }
      }
      for (std::int64_t i = 0; i < count; ++i) {
        result_[begin + i] = bases[i] + (length == 1 && belongs_behind(i, bases[i]) ? 1 : 0);
      }
    }
  });
}

}  // namespace afterglow::kernels
