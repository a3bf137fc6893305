// SPDX-License-Identifier: Apache-2.0
#include "kernels/colours.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

#include "base/element_types.h"
#include "base/half.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

constexpr std::int64_t share_size = 1 << 16;

/// How bright the eye sees red, green and blue.
constexpr float grey_of[3] = {0.299f, 0.587f, 0.114f};

template <class Real, class Element>
Real number_of(Element element) {
  if constexpr (std::is_same_v<Element, HalfBits>)
    return half_to_float(element.bits);
  else
    return static_cast<Real>(element);
}

template <class Element, class Real>
Element element_of(Real number) {
  if constexpr (std::is_same_v<Element, HalfBits>) {
    return {float_to_half(number)};
  } else if constexpr (std::is_floating_point_v<Element>) {
    return static_cast<Element>(number);
  } else if constexpr (sizeof(Element) == 1) {
    // Both bounds are numbers of the type: loops stay vectors.
    using Bounds = std::numeric_limits<Element>;
    const Real bounded = std::min(std::max(static_cast<Real>(Bounds::min()), number),
                                  static_cast<Real>(Bounds::max()));
    return static_cast<Element>(static_cast<int>(bounded));
  } else {
    using Bounds = std::numeric_limits<Element>;
    constexpr Real past = -static_cast<Real>(Bounds::min());
    if (!(number >= -past)) return Bounds::min();
    return number >= past ? Bounds::max() : static_cast<Element>(number);
  }
}

/// Colours of some pixels, each in a row of its own.
struct Planes {
  static constexpr int size = 256;
  alignas(64) float red[size], green[size], blue[size];

  template <class Element>
  void load(const Element* source, int count) {
    if constexpr (std::is_same_v<Element, std::uint8_t>) return load_bytes(source, count);
    for (int i = 0; i < count; ++i) {
      red[i] = number_of<float>(source[3 * i]);
      green[i] = number_of<float>(source[3 * i + 1]);
      blue[i] = number_of<float>(source[3 * i + 2]);
    }
  }
  template <class Element>
  void store(Element* target, int count) const {
    if constexpr (std::is_same_v<Element, std::uint8_t>) return store_bytes(target, count);
    for (int i = 0; i < count; ++i) {
      target[3 * i] = element_of<Element>(red[i]);
      target[3 * i + 1] = element_of<Element>(green[i]);
      target[3 * i + 2] = element_of<Element>(blue[i]);
    }
  }

  /// Between the grey of each pixel, at 0, and itself, at 1; or farther.
  void saturate(float factor) {
    for (int i = 0; i < size; ++i) {
      const float grey = red[i] * grey_of[0] + green[i] * grey_of[1] + blue[i] * grey_of[2],
                  rest = grey * (1 - factor);
      red[i] = rest + red[i] * factor;
      green[i] = rest + green[i] * factor;
      blue[i] = rest + blue[i] * factor;
    }
  }

  /// Turns the hue by a part of the circle. The greatest and the least of the three stay what they
  /// are, as lightness and saturation do.
  void turn(float part) {
    const float turned = 6 * (part - std::floor(part));
    for (int i = 0; i < size; ++i) {
      const float r = red[i], g = green[i], b = blue[i];
      const float greatest = std::max(std::max(r, g), b), least = std::min(std::min(r, g), b);
      const float range = greatest - least, by = 1 / (range > 0 ? range : 1.0f);
      // From 0, at red, through 2 and 4, at green and blue, to 6.
      float place = greatest == r   ? (g - b) * by
                    : greatest == g ? (b - r) * by + 2
                                    : (r - g) * by + 4;
      place += turned;
      place = place < 0 ? place + 6 : place;
      place = place >= 6 ? place - 6 : place;
      red[i] = least + range * between_0_and_1(std::abs(place - 3) - 1);
      green[i] = least + range * between_0_and_1(2 - std::abs(place - 2));
      blue[i] = least + range * between_0_and_1(2 - std::abs(place - 4));
    }
  }

 private:
  /// Bytes, which most images have, are taken apart and put together by vectors.
  void load_bytes(const std::uint8_t* source, int count) {
    alignas(64) std::uint8_t bytes[3 * size];
    move_function(DType::uint8)({const_cast<std::uint8_t*>(source), 3, 1}, {bytes, 1, size}, count,
                                3);
    const CastFunction cast = cast_function(DType::uint8, DType::float32);
    float* const planes[] = {red, green, blue};
    for (int colour = 0; colour < 3; ++colour) cast(bytes + colour * size, planes[colour], count);
  }

  void store_bytes(std::uint8_t* target, int count) const {
    alignas(64) std::uint8_t bytes[3][size];
    const CastFunction cast = cast_function(DType::float32, DType::uint8);
    const float* const planes[] = {red, green, blue};
    for (int colour = 0; colour < 3; ++colour) {
      alignas(64) float bounded[size];
      for (int i = 0; i < size; ++i)
        bounded[i] = std::min(std::max(0.0f, planes[colour][i]), 255.0f);
      cast(bounded, bytes[colour], count);
    }
    const void* const sources[] = {bytes[0], bytes[1], bytes[2]};
    kernel_table().interleave[0](sources, 3, target, count);
  }

  static float between_0_and_1(float number) { return std::min(std::max(number, 0.0f), 1.0f); }
};

template <class Element>
void multiply_add(const Element* source, std::int64_t size, float factor, float more,
                  Element* target) {
  for (std::int64_t i = 0; i < size; ++i)
    target[i] = element_of<Element>(number_of<float>(source[i]) * factor + more);
}

/// Adds up elements by their places in pixels of one or three, so many columns at a time that each
/// is of one channel.
template <class Element, class Sum>
void add_up(const Element* source, std::int64_t size, int channels, Sum* sums) {
  constexpr int columns = 192;
  Sum lanes[columns] = {};
  for (; size >= columns; size -= columns, source += columns)
    for (int i = 0; i < columns; ++i) lanes[i] += number_of<Sum>(source[i]);
  for (int i = 0; i < size; ++i) lanes[i] += number_of<Sum>(source[i]);
  for (int i = 0; i < columns; ++i) sums[i % channels] += lanes[i];
}

/// The mean grey of an image.
template <class Element>
float mean_grey(const Element* source, std::int64_t pixels, int channels) {
  constexpr bool is_byte = sizeof(Element) == 1;
  using Sum = std::conditional_t<is_byte, std::int64_t, double>;
  Sum sums[3] = {};
  if constexpr (is_byte) {
    // In pieces whose sums are words of four bytes.
    constexpr std::int64_t most = 3 << 20;
    for (std::int64_t begin = 0; begin < pixels * channels; begin += most) {
      std::int32_t some[3] = {};
      add_up(source + begin, std::min(most, pixels * channels - begin), channels, some);
      for (int channel = 0; channel < 3; ++channel) sums[channel] += some[channel];
    }
  } else {
    for (std::int64_t i = 0; i < pixels; ++i)
      for (int channel = 0; channel < channels; ++channel)
        sums[channel] += number_of<Sum>(source[i * channels + channel]);
  }
  double sum = static_cast<double>(sums[0]);
  if (channels == 3) {
    sum = 0;
    for (int channel = 0; channel < 3; ++channel)
      sum += static_cast<double>(sums[channel]) * static_cast<double>(grey_of[channel]);
  }
  return static_cast<float>(sum / static_cast<double>(pixels));
}

template <class Element, class Function>
void change_planes(const Element* source, std::int64_t pixels, Element* target,
                   const Function& function) {
  Planes planes = {};
  for (std::int64_t begin = 0; begin < pixels; begin += Planes::size) {
    const int count = static_cast<int>(std::min<std::int64_t>(Planes::size, pixels - begin));
    planes.load(source + 3 * begin, count);
    function(planes);
    planes.store(target + 3 * begin, count);
  }
}

template <class Element>
void change(ColourChange how, float factor, const Element* source, std::int64_t pixels,
            int channels, Element* target) {
  if (how == ColourChange::brightness) {
    multiply_add(source, pixels * channels, factor, 0.0f, target);
  } else if (how == ColourChange::contrast) {
    const float rest = (1 - factor) * mean_grey(source, pixels, channels);
    multiply_add(source, pixels * channels, factor, rest, target);
  } else if (channels == 1) {
    if (source != target) std::copy_n(source, pixels, target);
  } else if (how == ColourChange::saturation) {
    change_planes(source, pixels, target, [&](Planes& planes) { planes.saturate(factor); });
  } else {
    change_planes(source, pixels, target, [&](Planes& planes) { planes.turn(factor); });
  }
}

/// The changes of a plan, in the order in which they are made.
void put_in_order(const ColourPlan& plan, const float* draws, int* order) {
  std::iota(order, order + plan.count, 0);
  if (!plan.is_shuffled) return;
  std::stable_sort(order, order + plan.count, [&](int one, int other) {
    return draws[plan.count + one] < draws[plan.count + other];
  });
}

bool needs_whole_images(const ColourPlan& plan) {
  return std::find(plan.changes, plan.changes + plan.count, ColourChange::contrast) !=
         plan.changes + plan.count;
}

}  // namespace

ColourPieces::ColourPieces(const ColourImages& images, bool are_whole) : pixels_(images.pixels) {
  const std::int64_t size = images.pixels * images.channels;
  per_image_ = size ? are_whole ? 1 : divide_up(size, share_size) : 0;
  pieces_ = images.images * per_image_;
  shares_ = static_cast<int>(std::min(pieces_, divide_up(images.images * size, share_size)));
}

template <class Function>
void ColourPieces::each(int share, Function&& function) const {
  const auto [begin, end] = range_of(pieces_, shares_, share);
  for (std::int64_t piece = begin; piece < end; ++piece) {
    const Range range =
        range_of(pixels_, static_cast<int>(per_image_), static_cast<int>(piece % per_image_));
    function(piece / per_image_, range.begin, range.end);
  }
}

ColourPass::ColourPass(const ColourPlan& plan, const ColourImages& images, const void* source,
                       const float* draws, void* target)
    : plan_(plan),
      images_(images),
      pieces_(images, needs_whole_images(plan)),
      source_(source),
      draws_(draws),
      target_(target) {}

void ColourPass::run(int share) const {
  pieces_.each(share, [&](std::int64_t image, std::int64_t begin, std::int64_t end) {
    const float* const draws = draws_ + image * plan_.draws();
    int order[colour_changes];
    put_in_order(plan_, draws, order);
    with_type(images_.dtype, [&](auto element) {
      using Element = decltype(element);
      const std::int64_t first = (image * images_.pixels + begin) * images_.channels;
      const Element* source = static_cast<const Element*>(source_) + first;
      Element* const target = static_cast<Element*>(target_) + first;
      for (int i = 0; i < plan_.count; ++i) {
        const int one = order[i];
        const float low = plan_.lows[one], factor = low + (plan_.highs[one] - low) * draws[one];
        change(plan_.changes[one], factor, source, end - begin, images_.channels, target);
        source = target;
      }
    });
  });
}

LightPass::LightPass(const ColourImages& images, const void* source, const float* strengths,
                     void* target)
    : images_(images),
      pieces_(images, false),
      source_(source),
      strengths_(strengths),
      target_(target) {}

void LightPass::run(int share) const {
  // Directions of the colours of ImageNet, one column each, and how far they reach.
  static constexpr double directions[3][3] = {
      {-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};
  static constexpr double reaches[3] = {55.46, 4.794, 1.148};
  pieces_.each(share, [&](std::int64_t image, std::int64_t begin, std::int64_t end) {
    const float* const strengths = strengths_ + 3 * image;
    float more[3] = {};
    for (int colour = 0; colour < 3; ++colour)
      for (int i = 0; i < 3; ++i)
        more[colour] += static_cast<float>(reaches[i] * directions[colour][i]) * strengths[i];
    with_type(images_.dtype, [&](auto element) {
      using Element = decltype(element);
      const std::int64_t first = (image * images_.pixels + begin) * 3;
      const auto* const source = static_cast<const Element*>(source_) + first;
      auto* const target = static_cast<Element*>(target_) + first;
      for (std::int64_t i = 0; i < end - begin; ++i)
        for (int colour = 0; colour < 3; ++colour)
          target[3 * i + colour] =
              element_of<Element>(number_of<float>(source[3 * i + colour]) + more[colour]);
    });
  });
}

NormalizePass::NormalizePass(const Normalizing& normalizing, DType dtype, const void* source,
                             void* target)
    : normalizing_(normalizing), dtype_(dtype), source_(source), target_(target) {
  shares_ = static_cast<int>(
      std::min(normalizing.planes, divide_up(normalizing.planes * normalizing.length, share_size)));
}

void NormalizePass::run(int share) const {
  const Normalizing& n = normalizing_;
  const auto [begin, end] = range_of(n.planes, shares_, share);
  with_type(dtype_, [&](auto element) {
    using Element = decltype(element);
    constexpr bool is_exact_in_float = sizeof(Element) <= 2 || std::is_same_v<Element, float>;
    using Real = std::conditional_t<is_exact_in_float, float, double>;
    for (std::int64_t plane = begin; plane < end; ++plane) {
      const std::int64_t channel = plane % n.channels;
      const auto mean = static_cast<Real>(n.means[channel]),
                 deviation = static_cast<Real>(n.deviations[channel]);
      const auto* const source = static_cast<const Element*>(source_) + plane * n.length;
      auto* const target = static_cast<Element*>(target_) + plane * n.length;
      for (std::int64_t i = 0; i < n.length; ++i)
        target[i] = element_of<Element>((number_of<Real>(source[i]) - mean) / deviation);
    }
  });
}

}  // namespace afterglow::kernels
