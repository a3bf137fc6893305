// SPDX-License-Identifier: Apache-2.0
// Arrays with more elements around them.
#include <algorithm>

#include "ops/compositions.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

enum class PadMode { constant, edge, reflect, symmetric, maximum, minimum, wrap };

constexpr auto choices(PadMode) {
  return in_order<PadMode>("constant", "edge", "reflect", "symmetric", "maximum", "minimum",
                           "wrap");
}

struct Pad {
  std::string_view mode = "constant";
  std::optional<lazy::Pairs> pad_width;
  lazy::Number constant_value = std::int64_t{0};
  static constexpr auto fields = std::tuple{
      field("mode", &Pad::mode, "what the new elements are"),
      field("pad_width", &Pad::pad_width,
            "how many before and behind each axis; two numbers or one stand for all axes"),
      field("constant_value", &Pad::constant_value, "the new elements of mode 'constant'")};
};

/// NumPy has more of them.
PadMode mode_of(const Composition& c, const Pad& given) {
  std::string known;
  for (const auto& [name, mode] : choices(PadMode{})) {
    if (given.mode == name) return mode;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  c.refuse("mode is '" + std::string(given.mode) + "'; it must be one of " + known,
           ErrorKind::unknown_form);
}

const Shape& widths_of(const Composition& c, const Pad& given) {
  if (!given.pad_width) c.refuse("needs pad_width", ErrorKind::type);
  return given.pad_width->numbers;
}

/// How far the array lies inside of the padded one along an axis.
struct Margin {
  std::int64_t before, extent, after;
};

class Padding {
 public:
  Padding(const Composition& c, const Pad& given)
      : c_(c),
        mode_(mode_of(c, given)),
        constant_(std::visit([](auto number) { return Value(number); }, given.constant_value)) {
    const Shape& widths = widths_of(c, given);
    const Shape own = shape_of(c[0]);
    const bool for_each = widths.size() == 2 * own.size();
    if (!for_each && widths.size() != 1 && widths.size() != 2) refuse_widths(widths);
    for (std::size_t axis = 0; axis < own.size(); ++axis) {
      const Margin margin = {for_each ? widths[2 * axis] : widths.front(), own[axis],
                             for_each ? widths[2 * axis + 1] : widths.back()};
      if (margin.before < 0 || margin.after < 0) refuse_widths(widths);
      shape_.push_back(extent_sum(margin.before, extent_sum(margin.extent, margin.after)));
      margins_.push_back(margin);
    }
  }

  Value pad() {
    constexpr std::int64_t small = 1 << 15;  // up to so many a pass more costs less than calls
    const Value& x = c_[0];
    const DType dtype = x.array.dtype;
    if (std::ranges::find(shape_, 0) != shape_.end()) return shaped(copy(x), shape_);
    if (mode_ == PadMode::constant && x.array.size() < small) {
      whole_ = full(constant_, shape_, dtype, x.array.context());
    } else {
      whole_ = empty(shape_, dtype, x.array.context());
    }
    if (x.array.size()) write(whole_, x, middle(0));
    if (mode_ == PadMode::constant && x.array.size() < small) return std::move(whole_);
    // Axis by axis: the earlier ones are complete, the later ones still hold the middle only.
    for (std::size_t axis = 0; axis < margins_.size(); ++axis) {
      const Value band = view(whole_, middle(axis + 1));
      if (band.array.size() && (margins_[axis].before || margins_[axis].after))
        pad_axis(band, static_cast<std::int64_t>(axis));
    }
    return std::move(whole_);
  }

 private:
  [[noreturn]] void refuse_widths(const Shape& widths) const {
    c_.refuse("pad_width " + to_string(widths) +
              " must hold two numbers, not negative, for each axis");
  }

  /// The middle of the axes from `first` on.
  Part middle(std::size_t first) const {
    Part part = whole(whole_.array);
    for (std::size_t axis = first; axis < margins_.size(); ++axis) {
      part.shape[axis] = margins_[axis].extent;
      if (whole_.array.size()) part.offset += margins_[axis].before * part.strides[axis];
    }
    return part;
  }

  /// To a view of the whole; the tape knows it for a write to all.
  void write_to(const Value& place, const Value& value) {
    if (!place.array.size()) return;
    Part part = whole(place.array);
    part.offset = place.array.offset - whole_.array.offset;
    write(whole_, value, part);
  }

  /// Fills what lies before and behind the middle of an axis.
  void pad_axis(const Value& band, std::int64_t axis) {
    const Margin& margin = margins_[static_cast<std::size_t>(axis)];
    const std::int64_t begin = margin.before, end = begin + margin.extent;
    const Value left = between(band, axis, 0, begin);
    const Value right = between(band, axis, end, end + margin.after);
    if (mode_ == PadMode::constant) {
      write_to(left, constant_);
      return write_to(right, constant_);
    }
    if (!margin.extent) c_.refuse("an axis without elements can be padded with constants only");
    switch (mode_) {
      case PadMode::maximum:
      case PadMode::minimum: {
        const Value middle = copy(between(band, axis, begin, end));
        const Value value =
            mode_ == PadMode::maximum ? max(middle, {axis}, true) : min(middle, {axis}, true);
        write_to(left, value);
        return write_to(right, value);
      }
      case PadMode::edge:
        return repeat_edges(band, axis, left, right);
      case PadMode::reflect:
        if (margin.extent == 1) return repeat_edges(band, axis, left, right);
        [[fallthrough]];
      default:
        continue_to_right(band, axis, margin);
        return continue_to_right(reversed(band, {axis}), axis,
                                 {margin.after, margin.extent, margin.before});
    }
  }

  void repeat_edges(const Value& band, std::int64_t axis, const Value& left, const Value& right) {
    const Margin& margin = margins_[static_cast<std::size_t>(axis)];
    const std::int64_t begin = margin.before, end = begin + margin.extent;
    write_to(left, between(band, axis, begin, begin + 1));
    write_to(right, between(band, axis, end - 1, end));
  }

  /// Continues the middle of an axis by "reflect", "symmetric" or "wrap", as often as it fits. Of a
  /// band that is turned that is its left.
  void continue_to_right(const Value& band, std::int64_t axis, const Margin& margin) {
    const std::int64_t end = margin.before + margin.extent;
    const Value middle = between(band, axis, margin.before, end);
    const Value mirrored = reversed(middle, {axis});
    const std::int64_t skipped = mode_ == PadMode::reflect ? 1 : 0;  // the edge comes once
    const std::int64_t period = margin.extent - skipped;
    bool is_turned = mode_ != PadMode::wrap;
    for (std::int64_t done = 0; done < margin.after; done += period) {
      const std::int64_t length = std::min(period, margin.after - done);
      write_to(between(band, axis, end + done, end + done + length),
               between(is_turned ? mirrored : middle, axis, skipped, skipped + length));
      if (mode_ != PadMode::wrap) is_turned = !is_turned;
    }
  }

  const Composition& c_;
  const PadMode mode_;
  const Value constant_;
  Shape shape_;  ///< of the result
  SmallVector<Margin, 4> margins_;
  Value whole_;
};

Value pad(Composition& c, const Pad& given) {
  return Padding(c, given).pad();
}

Value legacy_pad(Composition& c, const Pad& given) {
  if (given.mode != "constant" && given.mode != "edge" && given.mode != "reflect")
    c.refuse("mode is '" + std::string(given.mode) + "'; it must be constant, edge or reflect");
  const Shape& widths = widths_of(c, given);
  if (widths.size() != 2 * static_cast<std::size_t>(rank_of(c[0])))
    c.refuse("pad_width " + to_string(widths) + " must hold two numbers for each axis");
  return pad(c, given);
}

}  // namespace

void declare_pad(Table& table) {
  table.compose<Pad>({.name = "pad",
                      .mxnet_names = {"_npi_pad"},
                      .spellings = {"np.pad(x, pad_width=None, mode='constant', **kwargs)"},
                      .doc = R"(Return the array with more elements around it.

``pad_width`` holds (before, after) for each axis, or one such pair or number for all. The new
elements are ``constant_values``, the nearest element ("edge"), mirror images ("reflect",
"symmetric"), the other end ("wrap"), or the greatest or smallest ("maximum", "minimum").

>>> np.pad(np.array([1, 2, 3]), (2, 1), mode="reflect")
array([3., 2., 1., 2., 3., 2.])
>>> np.pad(np.array([[1, 2]]), ((0, 0), (1, 1)), constant_values=5)
array([[5., 1., 2., 5.]]))",
                      .inputs = {"data"},
                      .compose = pad});
  table.compose<Pad>(
      {.name = "Pad",
       .mxnet_names = {"Pad", "pad"},
       .spellings = {"nd.pad|Pad(data, mode, pad_width, constant_value=0, out=None, name=None)"},
       .doc = R"(Return the array with more elements around it; two widths per axis in one tuple.

The new elements are a constant, the nearest element ("edge") or a mirror image ("reflect").

>>> x = nd.array([[[[1, 2]]]])
>>> nd.pad(x, mode="edge", pad_width=(0, 0, 0, 0, 0, 0, 1, 2)).asnumpy()
array([[[[1., 1., 2., 2., 2.]]]], dtype=float32))",
       .inputs = {"data"},
       .compose = legacy_pad});
}

}  // namespace afterglow::ops
