// SPDX-License-Identifier: Apache-2.0
// How windows over an image are taken, some rows at a time, where it is asked which of their places
// has the maximum. Private to src/kernels.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "kernels/pooling.h"

namespace afterglow::kernels {

/// Winners of windows of so many places at most are bytes.
inline constexpr std::int64_t most_byte_winners = 255;
inline constexpr std::uint8_t no_byte_winner = 255;

AFTERGLOW_INLINE bool asks_for_winners(WindowWork work) {
  return work == WindowWork::maximum_found || work == WindowWork::maximum_gradient ||
         work == WindowWork::maximum_taken;
}

/// Rows of windows, and what these see: planes of places, one for each place in a stride (phase).
/// There the places of a window are its own and those of the next windows, up to `shift` on.
struct WinnerBand {
  std::int64_t rows;                       ///< of windows at a time
  std::int64_t row_phases, column_phases;  ///< that windows see
  std::int64_t row_shift, column_shift;
  std::int64_t pitch;           ///< from row to row
  std::int64_t before;          ///< elements of the windows that came before
  std::int64_t windows, plane;  ///< elements of all windows, with those before, and of a plane
  std::int64_t line;            ///< elements of a row of the image

  /// Elements of all that there must be room for.
  AFTERGLOW_INLINE std::int64_t room() const {
    return line + 2 * windows + row_phases * column_phases * plane;
  }
};

AFTERGLOW_INLINE WinnerBand winner_band(const WindowAxis& rows, const WindowAxis& columns) {
  constexpr std::int64_t slack = 64;       // whole vectors are read and written
  constexpr std::int64_t elements = 4096;  // of all planes, about: they stay in the nearest cache
  const auto least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
  WinnerBand band{};
  band.row_phases = least(rows.stride, rows.kernel);
  band.column_phases = least(columns.stride, columns.kernel);
  band.row_shift = (rows.kernel - 1) / rows.stride;
  band.column_shift = (columns.kernel - 1) / columns.stride;
  band.pitch = columns.results + band.column_shift;
  const std::int64_t fitting =
      elements / (band.row_phases * band.column_phases * band.pitch) - band.row_shift;
  const std::int64_t fewest = band.row_shift + 1;
  band.rows = least(fitting > fewest ? fitting : fewest, rows.results + band.row_shift);
  band.before = band.row_shift * band.pitch + band.column_shift;
  band.windows = band.before + band.rows * band.pitch + slack;
  band.plane = (band.rows + band.row_shift) * band.pitch + slack;
  band.line = columns.extent + slack;
  return band;
}

}  // namespace afterglow::kernels
