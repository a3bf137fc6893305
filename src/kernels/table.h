// SPDX-License-Identifier: Apache-2.0
// Everything that is compiled once per instruction set, as one table of functions. Private to
// src/kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/elementwise.h"
#include "kernels/pooling.h"
#include "kernels/recurrence.h"
#include "kernels/reduce.h"

namespace afterglow::kernels {

inline constexpr int formula_count = static_cast<int>(Formula::count_of_formulas);

/// Converts `count` contiguous elements.
using CastFunction = void (*)(const void* source, void* target, std::int64_t count);

/// A matrix of elements; strides in elements.
struct Matrix {
  void* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};
/// Copies elements of one size between matrices that do not overlap.
using MoveFunction = void (*)(Matrix source, Matrix target, std::int64_t rows,
                              std::int64_t columns);

/// Takes elements of one size from two to four contiguous sources in turns.
using InterleaveFunction = void (*)(const void* const* sources, int sources_used, void* target,
                                    std::int64_t count);

/// What is folded into one value by a reduction; the mean is a sum, norms are sums of these.
enum class Fold : std::uint8_t { sum, sum_of_absolutes, sum_of_squares, maximum, minimum, product };
inline constexpr int fold_count = 6;

/// One fold of one input type. A block is at most block_size values.
struct FoldFunctions {
  /// Folds `rows` blocks of `columns` contiguous values, row r into partials[r].
  void (*rows)(const void* data, std::int64_t rows, std::int64_t row_stride, std::int64_t columns,
               Partial* partials);
  /// Sets the lanes of `columns` columns to the neutral value. A lane takes at most eight bytes.
  void (*start_lanes)(void* lanes, std::int64_t columns);
  /// Folds `rows` rows of contiguous columns, column c into lane c.
  void (*columns)(const void* data, std::int64_t rows, std::int64_t row_stride,
                  std::int64_t columns, void* lanes);
  /// Folds lane c into partials[c].
  void (*end_lanes)(const void* lanes, std::int64_t columns, Partial* partials);
  /// Folds from[i] into into[i].
  void (*combine)(const Partial* from, std::int64_t count, Partial* into);
  Partial neutral;
  bool real;  ///< which member of Partial counts
};

/// Where a stream of random numbers stands.
struct PhiloxPosition {
  std::uint64_t key;
  std::uint64_t counter;
};
/// Values per group of generator blocks: one word each for float32, two for float64.
inline constexpr std::int64_t philox_blocks_per_group = 16;
inline constexpr std::int64_t floats_per_group = 64;
inline constexpr std::int64_t doubles_per_group = 32;

/// How the bits of elements become unsigned keys in the same order: the sign is turned over, those
/// of reals below zero are turned over as a whole, and nan is the greatest.
template <class Word>
struct KeyRule {
  Word sign;      ///< its place, where there is one
  Word negative;  ///< all bits for reals
  Word infinity;  ///< what is greater is nan; the greatest signed word for integers
  Word flip;      ///< all bits for the reverse order
};

/// Work on one contiguous line of words.
template <class Word>
struct LineFunctions {
  void (*make_keys)(const Word* elements, std::int64_t count, const KeyRule<Word>& rule,
                    Word* keys);
  void (*take_values)(const Word* keys, std::int64_t count, const KeyRule<Word>& rule,
                      Word* elements);
  /// Adds to below[i] how many keys are less than bounds[i].
  void (*count_keys)(const Word* elements, std::int64_t count, const KeyRule<Word>& rule,
                     const Word* bounds, int bounds_used, std::int64_t* below);
  /// The keys from `least` to `greatest`, in their order.
  void (*pick_keys)(const Word* elements, std::int64_t count, const KeyRule<Word>& rule, Word least,
                    Word greatest, Word* target);
  /// Puts keys in order. False: they are all there still, but another method must do. nullptr where
  /// the machine has nothing for it.
  bool (*sort)(Word* keys, std::int64_t count);
  /// Leaves the first of equal neighbours, at the front; how many those are. Words without any bit
  /// of `apart` are equal as well. There is one at least.
  std::int64_t (*drop_equals)(Word* words, std::int64_t count, Word apart);
};

/// c[m, n] = a[m, k] * b[k, n], or added to what is there, where n is greater than 1 and at most
/// this. Steps from one row to the next, and of a also from one column to the next.
inline constexpr std::int64_t most_tiled_columns = 64;
template <class Real>
struct TiledProduct {
  std::int64_t m, n, k;
  const Real* a;
  std::int64_t a_row, a_column;
  const Real* b;
  std::int64_t b_stride;
  Real* c;
  std::int64_t c_stride;
  bool add;
};

/// Work on the windows of one image, for some of its lanes, and where there are several for some
/// rows of results: those of all depths, one after the other. What writes places takes all rows.
/// Or on the windows of several images by bands.
template <class Real>
struct WindowsCall {
  WindowWork work;
  const PoolingWindows& windows;
  bool by_bands, has_byte_winners;  ///< see kernels/winner_bands.h
  std::int64_t images, row_begin, row_end, lanes;
  const Real *data, *values;
  void* winners;
  Real *target, *scratch;
};
/// c[rows, columns] = a[rows, depth] * b[depth, columns], or added to what is there. Packed factors
/// have PanelFunctions::rows of a for each step of depth, and PanelFunctions::columns of b. Whole
/// vectors of c are written.
template <class Real>
struct PanelProduct {
  std::int64_t depth;
  const Real* a;
  const Real* b;
  Real* c;
  std::int64_t c_stride;
  int rows, columns;
  bool add;
  /// Where a factor is not packed: from row to row, and from one step of depth to the next.
  std::int64_t a_row = 1, a_step = 0, b_step = 0;
};

/// Lines of a factor side by side, in panels of so many: target[step * width + i] is element `step`
/// of line i, or 0 where the last panel has no such line. One of the distances is 1.
template <class Real>
struct PanelLines {
  const Real* source;
  std::int64_t line_distance, step_distance;
  std::int64_t lines, steps;
  Real* target;
};

/// As PanelProduct, where row i of b begins at sources[i] + offset.
template <class Real>
struct GatheredProduct {
  std::int64_t depth;
  const Real* a;
  std::int64_t a_row, a_step;
  const Real* const* sources;
  std::int64_t offset;
  Real* c;
  std::int64_t c_stride;
  int rows, columns;
  bool add;
};

/// Adds values[row][i] * source[i + offsets[tap]] to a vector of sums for each row and tap, which
/// are to be added in the end. `count` is that of whole vectors.
template <class Real>
struct LaneDots {
  const Real* values;
  std::int64_t value_stride;
  int rows, taps;
  const Real* source;
  const std::int64_t* offsets;
  std::int64_t count;
  Real* sums;
  std::int64_t sum_stride;
};

/// Lines of an image, of which every `step`-th element is taken, with zeros on both sides.
template <class Real>
struct PaddedLines {
  const Real* source;
  std::int64_t source_stride, lines, step;
  std::int64_t before, count, after;
  Real* target;
  std::int64_t target_stride;
};

template <class Real>
struct PanelFunctions {
  int rows, columns;  ///< of a tile at most
  int width;          ///< of a vector
  void (*product)(const PanelProduct<Real>& product);
  void (*gathered_product)(const GatheredProduct<Real>& product);
  /// Columns of a gathered product with so many rows that are best taken at once.
  std::int64_t (*gathered_columns)(std::int64_t rows);
  void (*pad_lines)(const PaddedLines<Real>& lines);
  /// target[i] = start + the sum of weights[tap] * source[i + offsets[tap]]. Reads and writes whole
  /// groups of four vectors.
  void (*filter)(const Real* source, const std::int64_t* offsets, const Real* weights,
                 std::int64_t taps, Real start, std::int64_t count, Real* target);
  void (*lane_dots)(const LaneDots<Real>& dots);
  int dot_rows, dot_taps;  ///< of it at most
};

/// All bits of an element, or none.
template <class Real>
using MaskOf = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

/// Square windows over planes, which have a filter each. Rows of places are cut into strips of one
/// vector, the last of which ends with the row if that is long enough.
template <class Real>
struct PlaneWindows {
  std::int64_t height, width;  ///< of a plane
  std::int64_t rows, columns;  ///< of places
  std::int64_t dilate, pad_rows, pad_columns;
  const Real* zeros;  ///< as wide as a plane
  /// For each strip: which elements that are loaded lie in the plane, load by load, and which
  /// places the strip before does not have.
  const MaskOf<Real>* masks;
  std::int64_t inner_begin, inner_end;  ///< strips that need no masks
};

/// Vectors that a strip takes from a row of the plane. With a stride of 2, two and two of them have
/// what two columns of the windows see.
constexpr int plane_loads(int kernel, int stride) {
  return stride == 1 ? kernel : kernel + 1;
}
/// The transpose with a stride of 2, and windows that begin with half of them outside: a row of
/// places is what two rows of the target come from, which see so many rows of the plane, of which
/// so many come before its own.
constexpr int spread_loads(int kernel) {
  return kernel / 4 + (kernel / 2 + 1) / 2 + 1;
}
constexpr int spread_before(int kernel) {
  return kernel / 4;
}

/// Some rows of places of planes one behind the other: start + the sum over the window.
template <class Real>
struct PlaneFilter {
  const PlaneWindows<Real>& windows;
  std::int64_t planes, row_begin, row_end;
  const Real *source, *weights;
  bool is_reversed;   ///< the order of the weights
  const Real* start;  ///< one for each plane; nullptr: 0
  Real* target;
  std::int64_t target_height, target_width;
};

/// Adds values times what the window sees to a vector of sums for each of its places.
template <class Real>
struct PlaneDots {
  const PlaneWindows<Real>& windows;
  std::int64_t planes, row_begin, row_end;
  const Real* source;
  std::int64_t source_step;
  const Real* values;
  std::int64_t value_step;
  Real* sums;
};

/// What convolutions with a filter for each channel are made of, for windows of one size.
template <class Real>
struct PlaneFunctions {
  void (*filter[2])(const PlaneFilter<Real>& filter);  ///< with a stride of 1, and of 2
  void (*dots[2])(const PlaneDots<Real>& dots);
  void (*spread)(const PlaneFilter<Real>& filter);  ///< the transpose with a stride of 2
};
/// Windows of 3 by 3, 5 by 5, ...
inline constexpr int plane_sizes = 3;

/// Applies a small matrix to both axes of a square of vectors: to = matrix * from * its transpose.
/// Each place of a square, row by row, is where `lanes` numbers begin, and whole vectors are read
/// and written.
using SquareFunction = void (*)(const float* const* from, float* const* to, std::int64_t lanes);

/// Where sums of pixels begin and end: target[pixel, column] = start[column] + the sum +
/// addend[pixel, column], but no less than `low` and no more than `high`.
template <class Real>
struct PixelResult {
  const Real* start;   ///< nullptr: zeros
  const Real* addend;  ///< nullptr: none; its rows are as far apart as those of the target
  Real* target;
  std::int64_t stride;
  Real low, high;
};

/// What Winograd's convolution is made of: the ways to where it is a product of 6 by 6 with 6 by 6
/// numbers, and back.
struct WinogradFunctions {
  SquareFunction spread_image;  ///< 6 by 6, what the windows of a tile see
  SquareFunction spread_weights;
  SquareFunction gather_result;
  /// The same to pixels of a result, or to nowhere where they are -1, for some columns.
  void (*gather_pixels)(const float* const* from, const std::int64_t* pixels,
                        const PixelResult<float>& result, int columns);
  SquareFunction spread_gradient;  ///< of the result
  SquareFunction gather_weights;   ///< their gradient
};

/// The sum over taps and channels of source[channel] * weight, where the channels of a pixel come
/// last. Weights are packed: PixelFunctions::columns for each channel of each tap.
template <class Real>
struct PixelProduct {
  const Real* const* sources;  ///< what each tap meets for each pixel
  std::int64_t source_stride;  ///< from tap to tap
  std::int64_t taps, channels;
  const Real* weights;
  PixelResult<Real> result;
  int pixels, columns;
};

/// The sum over taps of source[channel] * weight[channel].
template <class Real>
struct PixelFilter {
  const Real* const* sources;
  std::int64_t source_stride;
  std::int64_t taps, channels;
  const Real* weights;
  std::int64_t weight_stride;  ///< from tap to tap
  PixelResult<Real> result;
  int pixels;
};

/// The same with filters of 3 by 3, for PixelFunctions::side pixels side by side of one or two rows
/// of the result.
template <class Real>
struct PixelSquare {
  const Real* const* sources;  ///< all pixels that the filters see, row by row
  std::int64_t channels;
  const Real* weights;
  std::int64_t weight_stride;
  PixelResult<Real> result;
  std::int64_t row_stride;  ///< of the result
};

template <class Real>
struct PixelFunctions {
  int pixels, columns;  ///< of a product at most
  int width;            ///< of a vector
  void (*product)(const PixelProduct<Real>& product);
  int filtered;  ///< pixels of a filter at most
  void (*filter)(const PixelFilter<Real>& filter);
  int side;                                                ///< of a square
  void (*squares[2][2])(const PixelSquare<Real>& square);  ///< by strides and rows, less one
};

/// Rows of some channels, which lie one behind the other: elements [rows][channels][inner].
struct ChannelTile {
  std::int64_t rows, row_stride, channels, inner;
};

/// Sums are added to what is there, one number for each channel, as all other numbers.
template <class Real>
struct ChannelFunctions {
  void (*sums)(const ChannelTile& tile, const Real* data, double* sums);
  /// Of (data - mean)^2.
  void (*squares)(const ChannelTile& tile, const Real* data, const Real* means, double* sums);
  /// Of values, and behind these of values * (data - mean).
  void (*products)(const ChannelTile& tile, const Real* values, const Real* data, const Real* means,
                   double* sums);
  /// target = (data - mean) * factor + shift
  void (*scale)(const ChannelTile& tile, const Real* data, const Real* means, const Real* factors,
                const Real* shifts, Real* target);
  /// target = values * factor + shift + (data - mean) * slope
  void (*gradient)(const ChannelTile& tile, const Real* values, const Real* data, const Real* means,
                   const Real* factors, const Real* slopes, const Real* shifts, Real* target);
};

/// One step of one sample of a recurrent layer: `x` are the products with the data, `sums` those
/// with the state. Gates and what else is kept go to `kept`. On the way back, `hidden` and `cell`
/// are gradients of the states after the step and become those of the states before, but for what
/// comes through the products; `of_result` are those of the result, or nullptr.
template <class Real>
struct RecurrentFunctions {
  void (*lstm_step)(const Real* x, const Real* sums, std::int64_t units, Real* kept, Real* hidden,
                    Real* cell);
  void (*gru_step)(const Real* x, const Real* sums, const Real* bias, std::int64_t units,
                   Real* kept, Real* hidden);
  void (*elman_step)(RecurrentCell cell, const Real* x, const Real* sums, std::int64_t units,
                     Real* hidden);
  void (*lstm_back)(const Real* kept, const Real* of_result, std::int64_t units, Real* products,
                    Real* hidden, Real* cell);
  void (*gru_back)(const Real* kept, const Real* before, const Real* of_result, std::int64_t units,
                   Real* products, Real* hidden_products, Real* hidden);
  void (*elman_back)(RecurrentCell cell, const Real* result, const Real* of_result,
                     std::int64_t units, Real* products, Real* hidden);
};

/// Work in one floating type.
template <class Real>
struct RealFunctions {
  /// The softmax of contiguous rows, or its logarithm.
  void (*softmax)(const Real* source, std::int64_t rows, std::int64_t columns, bool as_logarithm,
                  Real* target);
  /// Contiguous rows minus their means, by their deviations, scaled and shifted.
  void (*layer_norm)(const Real* source, const Real* scale, const Real* shift, std::int64_t rows,
                     std::int64_t columns, Real epsilon, Real* target, Real* means,
                     Real* deviations);
  /// Where the greatest or smallest elements of contiguous rows are; 64 bytes to a row at least.
  void (*places)(const Real* row, std::int64_t rows, std::int64_t columns, bool maximum,
                 std::int64_t* places);
  void (*tiled_product)(const TiledProduct<Real>& product);
  /// Pack rows of a first factor, and columns of a second one, as PanelProduct takes them.
  void (*pack_rows)(const PanelLines<Real>& lines);
  void (*pack_columns)(const PanelLines<Real>& lines);
  PanelFunctions<Real> panels;
  PlaneFunctions<Real> planes[plane_sizes];
  PixelFunctions<Real> pixels;
  RecurrentFunctions<Real> recurrent;
  ChannelFunctions<Real> channels;
  void (*windows)(const WindowsCall<Real>& call);
  void (*uniform)(PhiloxPosition position, std::int64_t groups, Real low, Real range, Real largest,
                  Real* output);
  void (*normal)(PhiloxPosition position, std::int64_t groups, Real mean, Real deviation,
                 Real* output);
  void (*exponential)(PhiloxPosition position, std::int64_t groups, Real scale, Real* output);
};

struct KernelTable {
  BlockFunction formulas[formula_count][dtype_count];
  /// The same with one element for the first input, or for all but the first; few have these.
  BlockFunction first_single[formula_count][dtype_count];
  BlockFunction rest_single[formula_count][dtype_count];
  std::uint8_t input_counts[formula_count];
  bool produces_boolean[formula_count];
  CastFunction casts[dtype_count][dtype_count];  ///< [from][to]
  MoveFunction moves[4];                         ///< by log2 of the element size
  InterleaveFunction interleave[4];              ///< by log2 of the element size
  /// Copies bytes from the caches to memory, around the caches where the machine can.
  void (*stream)(const void* source, void* target, std::int64_t bytes);
  /// Put lines side by side in order, [step][lane]: 16 of four bytes, or 8 of eight.
  void (*sort_words)(std::uint32_t* words, std::int64_t steps);
  void (*sort_long_words)(std::uint64_t* words, std::int64_t steps);
  LineFunctions<std::uint32_t> lines;
  LineFunctions<std::uint64_t> long_lines;
  RealFunctions<float> floats;
  RealFunctions<double> doubles;
  WinogradFunctions winograd;        ///< 4 by 4 places with 3 by 3 weights
  WinogradFunctions large_winograd;  ///< 2 by 2 places with 5 by 5 weights
  WinogradFunctions small_winograd;  ///< 5 by 5 places with 2 by 2 weights
  std::int64_t tiled_side;  ///< of results up to which tiled_product beats the maths library
  bool has_fast_panels;     ///< PanelProduct beats the maths library in large products
  FoldFunctions folds[fold_count][dtype_count];
  /// 64 words per group; word w of block b stands at 16 w + b.
  void (*random_words)(PhiloxPosition position, std::int64_t groups, std::uint32_t* output);
};

/// The table of the best instruction set that this machine has. The environment variable
/// AFTERGLOW_INSTRUCTION_SET can name a lesser one.
const KernelTable& kernel_table();

template <class Real>
const RealFunctions<Real>& real_functions() {
  if constexpr (sizeof(Real) == 4)
    return kernel_table().floats;
  else
    return kernel_table().doubles;
}

/// The kernel that takes one element for each input whose bit is set in `singles`, or nullptr.
inline BlockFunction block_function(Formula formula, DType compute, unsigned singles) {
  const KernelTable& table = kernel_table();
  const int row = static_cast<int>(formula), column = static_cast<int>(compute);
  const unsigned rest = (1u << table.input_counts[row]) - 2;
  if (singles == 0) return table.formulas[row][column];
  if (singles == 1) return table.first_single[row][column];
  return singles == rest ? table.rest_single[row][column] : nullptr;
}

inline CastFunction cast_function(DType from, DType to) {
  return kernel_table().casts[static_cast<int>(from)][static_cast<int>(to)];
}
inline MoveFunction move_function(DType dtype) {
  return kernel_table().moves[__builtin_ctz(static_cast<unsigned>(size_of(dtype)))];
}

}  // namespace afterglow::kernels
