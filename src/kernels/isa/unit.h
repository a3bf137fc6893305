// SPDX-License-Identifier: Apache-2.0
// The whole of one instruction set's unit: the table of all its kernels. Included once by each unit
// after naming its namespace by AFTERGLOW_INSTRUCTION_SET.
#pragma once

#include <utility>

#include "kernels/isa/blocks.h"
#include "kernels/isa/channels.h"
#include "kernels/isa/depthwise.h"
#include "kernels/isa/folds.h"
#include "kernels/isa/lines.h"
#include "kernels/isa/moves.h"
#include "kernels/isa/networks.h"
#include "kernels/isa/panels.h"
#include "kernels/isa/philox.h"
#include "kernels/isa/pixels.h"
#include "kernels/isa/products.h"
#include "kernels/isa/recurrence.h"
#include "kernels/isa/rows.h"
#include "kernels/isa/winners.h"
#include "kernels/isa/winograd.h"

namespace afterglow::kernels {
namespace {

template <int from, int... to>
constexpr void fill_casts(KernelTable& table, std::integer_sequence<int, to...>) {
  ((table.casts[from][to] = cast<typename TypeOf<from>::type, typename TypeOf<to>::type>), ...);
}

/// Which inputs get kernels that take one element for them, as bits of `singles`. Powers and
/// remainders take so long that a block of equal elements does not matter.
template <Formula formula>
constexpr bool takes_first_single =
    inputs_of_type<formula, double> == 2 && inputs_of_type<formula, std::int64_t> == 2 &&
    work_of(formula) == Work::light;
template <Formula formula>
constexpr bool takes_rest_single =
    takes_first_single<formula> || formula == Formula::clip || formula == Formula::is_within ||
    formula == Formula::leaky_relu || formula == Formula::elu || formula == Formula::smooth_l1;

template <Formula formula, int dtype>
constexpr void fill_formula(KernelTable& table) {
  using T = typename TypeOf<dtype>::type;
  constexpr int row = static_cast<int>(formula);
  if constexpr (!is_half<T>) {
    if constexpr (inputs_of_type<formula, T> != 0) table.formulas[row][dtype] = apply<formula, T>;
  }
  if constexpr (is_real<T> && takes_first_single<formula>)
    table.first_single[row][dtype] = apply<formula, T, 1u>;
  if constexpr (is_real<T> && takes_rest_single<formula>)
    table.rest_single[row][dtype] = apply < formula, T, inputs_of<formula> == 3 ? 6u : 2u > ;
}

template <int formula, int... dtypes>
constexpr void fill_formulas(KernelTable& table, std::integer_sequence<int, dtypes...>) {
  constexpr Formula name = static_cast<Formula>(formula);
  (fill_formula<name, dtypes>(table), ...);
  table.input_counts[formula] = inputs_of<name>;
  if constexpr (inputs_of_type<name, double> == 1)
    table.produces_boolean[formula] = std::is_same_v<decltype(rule<name>(1.0)), bool>;
  else if constexpr (inputs_of_type<name, double> == 2)
    table.produces_boolean[formula] = std::is_same_v<decltype(rule<name>(1.0, 1.0)), bool>;
}

template <int dtype, int... folds>
constexpr void fill_folds(KernelTable& table, std::integer_sequence<int, folds...>) {
  using T = typename TypeOf<dtype>::type;
  using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
  if constexpr (!is_half<T>)
    ((table.folds[folds][dtype] = Folding<static_cast<Fold>(folds), Stored>::functions()), ...);
}

template <class Real>
constexpr RealFunctions<Real> functions_of_reals = {
    softmax<Real>,
    layer_norm<Real>,
    places_in_rows<Real>,
    tiled_product<Real>,
    pack_lines<PanelTiles<Real>::most_rows, Real>,
    pack_lines<PanelTiles<Real>::columns, Real>,
    PanelTiles<Real>::functions(),
    {PlaneStrips<Real, 3>::functions(), PlaneStrips<Real, 5>::functions(),
     PlaneStrips<Real, 7>::functions()},
    PixelTiles<Real>::functions(),
    recurrent_functions<Real>,
    channel_functions<Real>,
    run_windows<Real>,
    uniform,
    normal,
    exponential};

template <int... formulas, int... dtypes>
constexpr KernelTable make_table(std::integer_sequence<int, formulas...>,
                                 std::integer_sequence<int, dtypes...> all_dtypes) {
  KernelTable table{};
  (fill_formulas<formulas>(table, all_dtypes), ...);
  (fill_casts<dtypes>(table, all_dtypes), ...);
  (fill_folds<dtypes>(table, std::make_integer_sequence<int, fold_count>()), ...);
  table.moves[0] = move<std::uint8_t>;
  table.moves[1] = move<std::uint16_t>;
  table.moves[2] = move<std::uint32_t>;
  table.moves[3] = move<std::uint64_t>;
  table.interleave[0] = interleave<std::uint8_t>;
  table.interleave[1] = interleave<std::uint16_t>;
  table.interleave[2] = interleave<std::uint32_t>;
  table.interleave[3] = interleave<std::uint64_t>;
  table.stream = stream;
  table.sort_words = sort_side_by_side<std::uint32_t>;
  table.sort_long_words = sort_side_by_side<std::uint64_t>;
  table.lines = line_functions<std::uint32_t>;
  table.long_lines = line_functions<std::uint64_t>;
  table.floats = functions_of_reals<float>;
  table.doubles = functions_of_reals<double>;
  table.winograd = winograd_functions;
  table.large_winograd = large_winograd_functions;
  table.small_winograd = small_winograd_functions;
  table.tiled_side = vector_size;
  table.has_fast_panels = vector_size > 16;
  table.random_words = random_words;
  return table;
}

constexpr KernelTable the_table = make_table(std::make_integer_sequence<int, formula_count>(),
                                             std::make_integer_sequence<int, dtype_count>());

}  // namespace

namespace AFTERGLOW_INSTRUCTION_SET {
const KernelTable& table();
const KernelTable& table() {
  return the_table;
}
}  // namespace AFTERGLOW_INSTRUCTION_SET

}  // namespace afterglow::kernels
