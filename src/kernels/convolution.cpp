// SPDX-License-Identifier: Apache-2.0
// What the windows of a block see is put side by side, a column each, and multiplied with the
// weights by the maths library.
#include "kernels/convolution.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/product.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

// What a share should take at least, about 0.2 ms.
constexpr double share_operations = 16e6;
// What moving an element weighs.
constexpr double move_operations = 16;
// Columns of a block take about so many bytes.
constexpr std::int64_t block_bytes = 640 << 10;
constexpr std::int64_t fewest_columns = 128, most_columns = 4096;
// Where there are fewer pieces than this, weights are cut too: whatever the number of threads.
constexpr std::int64_t wanted_items = 8;
// Filters or channels below which a product is slow.
constexpr std::int64_t smallest_part = 32;
// Sums of parts of the windows take at most about so many bytes.
constexpr std::int64_t sum_bytes = 8 << 20;

/// Memory for a block. Blocks come often, so a thread keeps it.
template <class T>
T* scratch(std::size_t slot, std::int64_t count) {
  static thread_local std::vector<T> memory[2];
  if (memory[slot].size() < static_cast<std::size_t>(count))
    memory[slot].resize(static_cast<std::size_t>(count));
  return memory[slot].data();
}

std::int64_t columns_at_once(std::int64_t taps, DType dtype) {
  const std::int64_t column = std::max<std::int64_t>(1, taps) * std::int64_t(size_of(dtype));
  return std::clamp(block_bytes / column, fewest_columns, most_columns);
}

/// How many parts `whole` is cut into so that there are `wanted`, none of them smaller than
/// `smallest`.
std::int64_t parts_of(std::int64_t whole, std::int64_t smallest, std::int64_t wanted) {
  return std::clamp<std::int64_t>(whole / smallest, 1, std::max<std::int64_t>(1, wanted));
}

int shares_of(double operations, std::int64_t items) {
  const double wanted = std::ceil(operations / share_operations);
  return static_cast<int>(std::clamp(wanted, 1.0, std::max(1.0, static_cast<double>(items))));
}

/// Places of the windows, along one axis, that see a place in [begin, end) of the image with place
/// `offset` (of the kernel, less the pad).
Range places_seeing(std::int64_t begin, std::int64_t end, std::int64_t offset, std::int64_t stride,
                    std::int64_t places) {
  const auto first_at = [&](std::int64_t place) {
    const std::int64_t distance = place - offset;
    return std::clamp<std::int64_t>(distance > 0 ? divide_up(distance, stride) : 0, 0, places);
  };
  const std::int64_t first = first_at(begin);
  return {first, std::max(first, first_at(end))};
}

/// Calls `visit(column, count, offset)` for runs of windows of a block, one row of windows or less
/// each: `offset` is where the first of them sees the image with one place of the kernel, and the
/// others see it `stride` further each. `skip(column, count)` is called for windows that see
/// nothing, which is what lies outside of [begin, end).
template <class Visit, class Skip>
void for_each_run(const Windows& w, const Space& at, const Block& block, const Space& begin,
                  const Space& end, Visit visit, Skip skip) {
  Space offset;
  for (std::size_t axis = 0; axis < 3; ++axis)
    offset[axis] = at[axis] * w.dilate[axis] - w.pad[axis];
  const std::int64_t width = w.result[2];
  const Range seeing = places_seeing(begin[2], end[2], offset[2], w.stride[2], width);
  std::int64_t column = 0;
  for (std::int64_t place = block.begin; place < block.end;) {
    const std::int64_t row = place / width, from = place % width;
    const std::int64_t to = std::min(width, from + block.end - place);
    const std::int64_t high = row % w.result[1] * w.stride[1] + offset[1];
    const std::int64_t deep = row / w.result[1] * w.stride[0] + offset[0];
    const bool inside = high >= begin[1] && high < end[1] && deep >= begin[0] && deep < end[0];
    const std::int64_t first = inside ? std::clamp(seeing.begin, from, to) : to;
    const std::int64_t last = inside ? std::clamp(seeing.end, first, to) : to;
    if (first > from) skip(column, first - from);
    if (last > first)
      visit(column + first - from, last - first,
            (deep * w.image[1] + high) * w.image[2] + first * w.stride[2] + offset[2]);
    if (to > last) skip(column + last - from, to - last);
    column += to - from;
    place += to - from;
  }
}

template <class Visit>
void for_each_tap(const Windows& w, Visit visit) {
  std::int64_t tap = 0;
  for (std::int64_t deep = 0; deep < w.kernel[0]; ++deep)
    for (std::int64_t high = 0; high < w.kernel[1]; ++high)
      for (std::int64_t wide = 0; wide < w.kernel[2]; ++wide) visit(tap++, Space{deep, high, wide});
}

/// A matrix with its row stride.
template <class T>
struct Rows {
  T* data;
  std::int64_t stride;
};

/// What the windows of a block see of channels [first, last) of a group: a row for each place of
/// the kernel in each channel. A block of several images has the columns of one behind those of the
/// other.
template <class T>
Rows<const T> columns_of(const Windows& w, const T* images, std::int64_t group, std::int64_t first,
                         std::int64_t last, const Block& block) {
  const std::int64_t plane = places_in(w.image), window = places_in(w.kernel);
  const auto channel = [&](std::int64_t image, std::int64_t number) {
    return images + ((image * w.groups + group) * w.channels + number) * plane;
  };
  if (w.is_pointwise() && block.images == 1)
    return {channel(block.image, first) + block.begin, plane};
  const std::int64_t stride = block.columns(), each = block.end - block.begin;
  T* const columns = scratch<T>(0, (last - first) * window * stride);
  const std::int64_t step = w.stride[2];
  for (std::int64_t number = first; number < last; ++number) {
    T* const rows = columns + (number - first) * window * stride;
    for_each_tap(w, [&](std::int64_t tap, const Space& at) {
      for (std::int64_t image = 0; image < block.images; ++image) {
        const T* const source = channel(block.image + image, number);
        T* const target = rows + tap * stride + image * each;
        for_each_run(
            w, at, block, {}, w.image,
            [&](std::int64_t column, std::int64_t count, std::int64_t offset) {
              if (step == 1) {
                std::memcpy(target + column, source + offset, std::size_t(count) * sizeof(T));
              } else {
                for (std::int64_t i = 0; i < count; ++i)
                  target[column + i] = source[offset + i * step];
              }
            },
            [&](std::int64_t column, std::int64_t count) {
              std::fill_n(target + column, count, T(0));
            });
      }
    });
  }
  return {columns, stride};
}

/// The filters of a group over a block, as columns_of has its windows.
template <class T>
Rows<const T> results_of(const Windows& w, const T* results, std::int64_t group,
                         const Block& block) {
  const std::int64_t places = places_in(w.result), each = block.end - block.begin;
  const auto filters = [&](std::int64_t image) {
    return results + (image * w.groups + group) * w.filters * places + block.begin;
  };
  if (block.images == 1) return {filters(block.image), places};
  const std::int64_t stride = block.columns();
  T* const rows = scratch<T>(1, w.filters * stride);
  for (std::int64_t filter = 0; filter < w.filters; ++filter)
    for (std::int64_t image = 0; image < block.images; ++image)
      std::copy_n(filters(block.image + image) + filter * places, each,
                  rows + filter * stride + image * each);
  return {rows, stride};
}

template <class T>
const DepthwiseFunctions<T>& depthwise_functions() {
  if constexpr (sizeof(T) == 4)
    return kernel_table().depthwise_float;
  else
    return kernel_table().depthwise_double;
}

DepthwisePlane plane_of(const Windows& w) {
  DepthwisePlane plane;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    plane.image[axis] = w.image[axis];
    plane.result[axis] = w.result[axis];
    plane.kernel[axis] = w.kernel[axis];
    plane.stride[axis] = w.stride[axis];
    plane.dilate[axis] = w.dilate[axis];
    plane.pad[axis] = w.pad[axis];
  }
  return plane;
}

}  // namespace

bool Windows::is_pointwise() const {
  constexpr Space ones = {1, 1, 1};
  return kernel == ones && stride == ones && pad == Space{} && image == result;
}

bool Windows::is_depthwise() const {
  return channels == 1 && groups > 1 && filters <= 4;
}

double Windows::operations() const {
  const double windows = static_cast<double>(count * groups) * static_cast<double>(taps()) *
                         static_cast<double>(places_in(result));
  return windows * (2.0 * static_cast<double>(filters) + move_operations);
}

Blocks::Blocks(std::int64_t images, std::int64_t places, std::int64_t wanted)
    : images_(images), places_(places) {
  if (places <= wanted) {
    together_ = std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(1, places), 1,
                                         std::max<std::int64_t>(1, images));
    length_ = places;
  } else {
    length_ = divide_up(divide_up(places, divide_up(places, wanted)), 16) * 16;
    per_image_ = divide_up(places, length_);
  }
  count_ = divide_up(images, together_) * per_image_;
}

Block Blocks::operator[](std::int64_t number) const {
  const std::int64_t image = number / per_image_ * together_;
  const std::int64_t begin = number % per_image_ * length_;
  return {image, std::min(together_, images_ - image), begin, std::min(places_, begin + length_)};
}

// --- convolution ---

ConvolutionPass::ConvolutionPass(const Windows& windows, DType dtype, const void* images,
                                 const void* weights, const void* bias, void* results,
                                 Epilogue epilogue)
    : windows_(windows),
      dtype_(dtype),
      images_(images),
      weights_(weights),
      bias_(bias),
      results_(results),
      epilogue_(std::move(epilogue)),
      blocks_(windows.count, places_in(windows.result), columns_at_once(windows.taps(), dtype)) {
  if (windows.is_depthwise()) {
    items_ = windows.count * windows.groups * windows.filters;
  } else {
    const std::int64_t uncut = std::max<std::int64_t>(1, blocks_.count() * windows.groups);
    parts_ = parts_of(windows.filters, smallest_part, wanted_items / 2 / uncut);
    items_ = blocks_.count() * windows.groups * parts_;
  }
  shares_ = shares_of(windows.operations(), items_);
}

void ConvolutionPass::run(int share) const {
  const Range items = range_of(items_, shares_, share);
  if (dtype_ == DType::float32)
    windows_.is_depthwise() ? run_planes<float>(items.begin, items.end)
                            : run_items<float>(items.begin, items.end);
  else
    windows_.is_depthwise() ? run_planes<double>(items.begin, items.end)
                            : run_items<double>(items.begin, items.end);
}

template <class T>
void ConvolutionPass::run_items(std::int64_t begin, std::int64_t end) const {
  for (std::int64_t item = begin; item < end; ++item) {
    const std::int64_t part = item / blocks_.count();
    const Range filters =
        range_of(windows_.filters, static_cast<int>(parts_), static_cast<int>(part % parts_));
    run_block<T>(part / parts_, filters.begin, filters.end, blocks_[item % blocks_.count()]);
  }
}

template <class T>
void ConvolutionPass::run_block(std::int64_t group, std::int64_t first, std::int64_t last,
                                const Block& block) const {
  const Windows& w = windows_;
  const std::int64_t places = places_in(w.result), filter = group * w.filters + first;
  const std::int64_t each = block.end - block.begin;
  const Rows<const T> columns =
      columns_of(w, static_cast<const T*>(images_), group, 0, w.channels, block);
  const auto row_of = [&](std::int64_t image) { return image * w.groups * w.filters + filter; };
  const auto target_of = [&](std::int64_t image) {
    return static_cast<T*>(results_) + row_of(image) * places + block.begin;
  };
  const bool direct = block.images == 1;
  const Rows<T> product =
      direct ? Rows<T>{target_of(block.image), places}
             : Rows<T>{scratch<T>(1, (last - first) * block.columns()), block.columns()};
  multiply<T>({.m = last - first,
               .n = block.columns(),
               .k = w.taps(),
               .lda = w.taps(),
               .ldb = columns.stride},
              static_cast<const T*>(weights_) + filter * w.taps(), columns.data, product.data,
              product.stride);
  for (std::int64_t image = 0; image < block.images; ++image) {
    T* const target = target_of(block.image + image);
    for (std::int64_t i = 0; i < last - first; ++i) {
      const T* const source = product.data + i * product.stride + image * each;
      T* const row = target + i * places;
      if (bias_) {
        const T bias = static_cast<const T*>(bias_)[filter + i];
        for (std::int64_t place = 0; place < each; ++place) row[place] = source[place] + bias;
      } else if (!direct) {
        std::copy_n(source, each, row);
      }
    }
    const std::int64_t row = row_of(block.image + image);
    if (epilogue_) epilogue_(row, row + last - first, block.begin, block.end);
  }
}

template <class T>
void ConvolutionPass::run_planes(std::int64_t begin, std::int64_t end) const {
  const Windows& w = windows_;
  const DepthwisePlane plane = plane_of(w);
  const std::int64_t filters = w.groups * w.filters, places = places_in(w.result);
  for (std::int64_t item = begin; item < end; ++item) {
    const std::int64_t filter = item % filters, channel = filter / w.filters;
    depthwise_functions<T>().forward(
        plane,
        static_cast<const T*>(images_) + (item / filters * w.groups + channel) * places_in(w.image),
        static_cast<const T*>(weights_) + filter * w.taps(),
        bias_ ? static_cast<const T*>(bias_)[filter] : T(0),
        static_cast<T*>(results_) + item * places);
    if (epilogue_) epilogue_(item, item + 1, 0, places);
  }
}

// --- its transpose ---

TransposedConvolutionPass::TransposedConvolutionPass(const Windows& windows, DType dtype,
                                                     const void* results, const void* weights,
                                                     const void* bias, void* images)
    : windows_(windows),
      dtype_(dtype),
      results_(results),
      weights_(weights),
      bias_(bias),
      images_(images),
      columns_(columns_at_once(windows.taps(), dtype)) {
  if (windows.is_depthwise()) {
    items_ = windows.count * windows.groups;
  } else {
    const std::int64_t places = places_in(windows.result);
    blocks_ = Blocks(windows.count, places, std::max(places, columns_));
    const std::int64_t uncut = std::max<std::int64_t>(1, blocks_.count() * windows.groups);
    parts_ = parts_of(windows.channels, smallest_part, wanted_items / uncut);
    while (axis_ < 2 && windows.image[axis_] == 1) ++axis_;
    // Windows on the border of two slabs are computed for both.
    const std::int64_t seen = windows.dilate[axis_] * (windows.kernel[axis_] - 1) + 1;
    if (blocks_.count() == windows.count)
      slabs_ = parts_of(windows.image[axis_], 4 * std::max<std::int64_t>(4, seen),
                        wanted_items / (uncut * parts_));
    items_ = blocks_.count() * windows.groups * parts_ * slabs_;
  }
  shares_ = shares_of(windows.operations(), items_);
}

void TransposedConvolutionPass::run(int share) const {
  const Range items = range_of(items_, shares_, share);
  if (windows_.is_depthwise())
    return dtype_ == DType::float32 ? run_planes<float>(items.begin, items.end)
                                    : run_planes<double>(items.begin, items.end);
  for (std::int64_t item = items.begin; item < items.end; ++item)
    dtype_ == DType::float32 ? run_piece<float>(piece_of(item)) : run_piece<double>(piece_of(item));
}

TransposedConvolutionPass::Piece TransposedConvolutionPass::piece_of(std::int64_t item) const {
  const Windows& w = windows_;
  const int slab = static_cast<int>(item % slabs_);
  const int part = static_cast<int>(item / slabs_ % parts_);
  const std::int64_t number = item / slabs_ / parts_;
  const Range channels = range_of(w.channels, static_cast<int>(parts_), part);
  Piece piece{number % w.groups,          channels.begin, channels.end,
              blocks_[number / w.groups], Space{},        w.image};
  if (slabs_ == 1) return piece;
  const Range slab_places = range_of(w.image[axis_], static_cast<int>(slabs_), slab);
  piece.begin[axis_] = slab_places.begin;
  piece.end[axis_] = slab_places.end;
  // The windows that see the slab with any place of the kernel.
  const auto seeing = [&](std::int64_t at) {
    return places_seeing(slab_places.begin, slab_places.end, at * w.dilate[axis_] - w.pad[axis_],
                         w.stride[axis_], w.result[axis_]);
  };
  std::int64_t across = 1;
  for (std::size_t axis = axis_ + 1; axis < 3; ++axis) across *= w.result[axis];
  piece.block.begin = seeing(w.kernel[axis_] - 1).begin * across;
  piece.block.end = std::max(piece.block.begin, seeing(0).end * across);
  return piece;
}

template <class T>
void TransposedConvolutionPass::run_piece(const Piece& piece) const {
  const Windows& w = windows_;
  const std::int64_t plane = places_in(w.image);
  std::int64_t across = 1;
  for (std::size_t axis = axis_ + 1; axis < 3; ++axis) across *= w.image[axis];
  // Axes before that of the slabs are 1, so a slab lies without gaps.
  const std::int64_t begin = slabs_ == 1 ? 0 : piece.begin[axis_] * across;
  const std::int64_t end = slabs_ == 1 ? plane : piece.end[axis_] * across;
  for (std::int64_t image = piece.block.image; image < piece.block.image + piece.block.images;
       ++image) {
    for (std::int64_t number = piece.first; number < piece.last; ++number) {
      const std::int64_t channel = piece.group * w.channels + number;
      T* const target =
          static_cast<T*>(images_) + (image * w.groups * w.channels + channel) * plane;
      std::fill(target + begin, target + end, bias_ ? static_cast<const T*>(bias_)[channel] : T(0));
    }
  }
  if (piece.block.images > 1) return run_block<T>(piece, piece.block);
  for (std::int64_t place = piece.block.begin; place < piece.block.end; place += columns_) {
    Block block = piece.block;
    block.begin = place;
    block.end = std::min(block.end, place + columns_);
    run_block<T>(piece, block);
  }
}

template <class T>
void TransposedConvolutionPass::run_block(const Piece& piece, const Block& block) const {
  const Windows& w = windows_;
  const std::int64_t plane = places_in(w.image), window = places_in(w.kernel);
  const std::int64_t count = block.columns(), each = block.end - block.begin;
  const Rows<const T> results = results_of(w, static_cast<const T*>(results_), piece.group, block);
  const auto channel = [&](std::int64_t image, std::int64_t number) {
    return static_cast<T*>(images_) +
           ((image * w.groups + piece.group) * w.channels + number) * plane;
  };
  const ProductShape shape = {.m = (piece.last - piece.first) * window,
                              .n = count,
                              .k = w.filters,
                              .transpose_a = true,
                              .lda = w.taps(),
                              .ldb = results.stride};
  const T* const weights =
      static_cast<const T*>(weights_) + piece.group * w.filters * w.taps() + piece.first * window;
  if (w.is_pointwise() && block.images == 1)
    return multiply<T>(shape, weights, results.data,
                       channel(block.image, piece.first) + block.begin, plane, true);
  T* const columns = scratch<T>(0, shape.m * count);
  multiply<T>(shape, weights, results.data, columns, count);
  const std::int64_t step = w.stride[2];
  for (std::int64_t number = piece.first; number < piece.last; ++number) {
    const T* const rows = columns + (number - piece.first) * window * count;
    for_each_tap(w, [&](std::int64_t tap, const Space& at) {
      for (std::int64_t image = 0; image < block.images; ++image) {
        T* const target = channel(block.image + image, number);
        const T* const source = rows + tap * count + image * each;
        for_each_run(
            w, at, block, piece.begin, piece.end,
            [&](std::int64_t column, std::int64_t run, std::int64_t offset) {
              if (step == 1) {
                for (std::int64_t i = 0; i < run; ++i) target[offset + i] += source[column + i];
              } else {
                for (std::int64_t i = 0; i < run; ++i)
                  target[offset + i * step] += source[column + i];
              }
            },
            [](std::int64_t, std::int64_t) {});
      }
    });
  }
}

template <class T>
void TransposedConvolutionPass::run_planes(std::int64_t begin, std::int64_t end) const {
  const Windows& w = windows_;
  const DepthwisePlane plane = plane_of(w);
  const std::int64_t size = places_in(w.image);
  for (std::int64_t item = begin; item < end; ++item) {
    const std::int64_t channel = item % w.groups;
    T* const target = static_cast<T*>(images_) + item * size;
    std::fill_n(target, size, bias_ ? static_cast<const T*>(bias_)[channel] : T(0));
    for (std::int64_t filter = 0; filter < w.filters; ++filter)
      depthwise_functions<T>().backward(
          plane,
          static_cast<const T*>(results_) + (item * w.filters + filter) * places_in(w.result),
          static_cast<const T*>(weights_) + (channel * w.filters + filter) * w.taps(), target);
  }
}

// --- the gradient of its weights ---

WeightGradientPass::WeightGradientPass(const Windows& windows, DType dtype, const void* images,
                                       const void* results, void* weights)
    : windows_(windows),
      dtype_(dtype),
      images_(images),
      results_(results),
      weights_(weights),
      blocks_(windows.count, places_in(windows.result), columns_at_once(windows.taps(), dtype)) {
  const Windows& w = windows_;
  const std::int64_t size = w.groups * w.filters * w.taps() * std::int64_t(size_of(dtype));
  if (w.is_depthwise()) {
    items_ = w.groups * w.filters;
  } else {
    const std::int64_t wanted = divide_up(wanted_items, w.groups);
    const std::int64_t fitting = sum_bytes / std::max<std::int64_t>(1, size);
    sums_ = std::clamp<std::int64_t>(
        std::min({wanted, fitting, static_cast<std::int64_t>(w.operations() / share_operations)}),
        1, std::max<std::int64_t>(1, blocks_.count()));
    parts_ = parts_of(w.channels, smallest_part, wanted / sums_);
    items_ = w.groups * parts_ * sums_;
    partial_.resize(static_cast<std::size_t>((sums_ - 1) * size));
  }
  shares_ = shares_of(w.operations(), items_);
}

void WeightGradientPass::run(int share) {
  const Range items = range_of(items_, shares_, share);
  if (windows_.is_depthwise())
    return dtype_ == DType::float32 ? run_planes<float>(items.begin, items.end)
                                    : run_planes<double>(items.begin, items.end);
  for (std::int64_t item = items.begin; item < items.end; ++item)
    dtype_ == DType::float32 ? run_item<float>(item) : run_item<double>(item);
}

template <class T>
void WeightGradientPass::run_item(std::int64_t item) {
  const Windows& w = windows_;
  const std::int64_t window = places_in(w.kernel), size = w.groups * w.filters * w.taps();
  const int sum = static_cast<int>(item % sums_);
  const Range channels =
      range_of(w.channels, static_cast<int>(parts_), static_cast<int>(item / sums_ % parts_));
  const std::int64_t group = item / sums_ / parts_;
  const Range blocks = range_of(blocks_.count(), static_cast<int>(sums_), sum);
  T* const whole = sum == 0 ? static_cast<T*>(weights_)
                            : reinterpret_cast<T*>(partial_.data()) + (sum - 1) * size;
  T* const target = whole + group * w.filters * w.taps() + channels.begin * window;
  const std::int64_t width = (channels.end - channels.begin) * window;
  if (blocks.begin == blocks.end) {
    for (std::int64_t filter = 0; filter < w.filters; ++filter)
      std::fill_n(target + filter * w.taps(), width, T(0));
  }
  for (std::int64_t number = blocks.begin; number < blocks.end; ++number) {
    const Block block = blocks_[number];
    const Rows<const T> columns =
        columns_of(w, static_cast<const T*>(images_), group, channels.begin, channels.end, block);
    const Rows<const T> results = results_of(w, static_cast<const T*>(results_), group, block);
    multiply<T>({.m = w.filters,
                 .n = width,
                 .k = block.columns(),
                 .transpose_b = true,
                 .lda = results.stride,
                 .ldb = columns.stride},
                results.data, columns.data, target, w.taps(), number > blocks.begin);
  }
}

template <class T>
void WeightGradientPass::run_planes(std::int64_t begin, std::int64_t end) const {
  const Windows& w = windows_;
  const DepthwisePlane plane = plane_of(w);
  const std::int64_t filters = w.groups * w.filters;
  for (std::int64_t filter = begin; filter < end; ++filter) {
    T* const target = static_cast<T*>(weights_) + filter * w.taps();
    std::fill_n(target, w.taps(), T(0));
    for (std::int64_t image = 0; image < w.count; ++image)
      depthwise_functions<T>().weights(
          plane,
          static_cast<const T*>(images_) +
              (image * w.groups + filter / w.filters) * places_in(w.image),
          static_cast<const T*>(results_) + (image * filters + filter) * places_in(w.result),
          target);
  }
}

void WeightGradientPass::finish() {
  dtype_ == DType::float32 ? add_up<float>() : add_up<double>();
}

template <class T>
void WeightGradientPass::add_up() {
  const std::int64_t size = windows_.groups * windows_.filters * windows_.taps();
  T* const target = static_cast<T*>(weights_);
  for (std::int64_t sum = 1; sum < sums_; ++sum) {
    const T* const part = reinterpret_cast<const T*>(partial_.data()) + (sum - 1) * size;
    for (std::int64_t i = 0; i < size; ++i) target[i] += part[i];
  }
}

}  // namespace afterglow::kernels
