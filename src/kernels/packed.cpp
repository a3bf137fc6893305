// SPDX-License-Identifier: Apache-2.0
#include "kernels/packed.h"

#include <algorithm>
#include <utility>

#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// Bytes of a line between two looks at the result: panels of such lines stay in the second cache.
constexpr std::int64_t most_line = 3072;
/// Bytes of the rows that stay in the second cache while panels of columns go by, and of these.
constexpr std::int64_t most_rows = 384 << 10, most_columns = 4 << 20;

template <class Real>
const PanelFunctions<Real>& panels() {
  return real_functions<Real>().panels;
}

std::int64_t round_up(std::int64_t count, std::int64_t unit) {
  return divide_up(count, unit) * unit;
}

/// The steps in equal parts.
template <class Real>
std::int64_t steps_of_part(std::int64_t steps) {
  constexpr std::int64_t most = most_line / static_cast<std::int64_t>(sizeof(Real));
  return divide_up(steps, divide_up(steps, most));
}

template <class Real>
PanelLines<Real> lines_of(const Factor<Real>& factor, Range lines, Range steps, Real* target) {
  return {factor.data + lines.begin * factor.line_distance + steps.begin * factor.step_distance,
          factor.line_distance,
          factor.step_distance,
          lines.end - lines.begin,
          steps.end - steps.begin,
          target};
}

/// One of several equal parts of what is needed.
void ask_for(std::span<const NeededSoon> soon, std::int64_t part, std::int64_t parts) {
  constexpr std::int64_t line = Scratch::line;
  for (const auto& [data, bytes] : soon) {
    const std::int64_t lines = divide_up(bytes, line);
    for (std::int64_t i = lines * part / parts; i < lines * (part + 1) / parts; ++i)
      __builtin_prefetch(static_cast<const char*>(data) + i * line);
  }
}

/// c = a * b, or that is added, where b is packed; so is a, or its rows are read as they lie.
template <class Real>
void multiply_panels(const Factor<Real>& a, bool is_packed, const Real* b, std::int64_t rows,
                     std::int64_t columns, std::int64_t steps, Real* c, std::int64_t c_stride,
                     bool add, std::span<const NeededSoon> soon = {}) {
  constexpr int widest = 32, highest = 12;  // tiles of any instruction set
  constexpr std::int64_t last_panels = 16;  // what is asked for before them may be lost again
  const PanelFunctions<Real>& functions = panels<Real>();
  const std::int64_t all_panels = divide_up(columns, functions.columns),
                     asking = std::min(all_panels, last_panels);
  for (std::int64_t column = 0; column < columns; column += functions.columns) {
    const std::int64_t asked = column / functions.columns - (all_panels - asking);
    if (asked >= 0) ask_for(soon, asked, asking);
    const int across =
        static_cast<int>(std::min<std::int64_t>(functions.columns, columns - column));
    const Real* const right = b + column * steps;
    for (std::int64_t row = 0, high = 0; row < rows; row += high) {
      // Tiles that are about as high as each other keep the units busy; panels have their height.
      const std::int64_t left = rows - row;
      high = is_packed ? std::min<std::int64_t>(functions.rows, left)
                       : divide_up(left, divide_up(left, functions.rows));
      Real* const place = c + row * c_stride + column;
      PanelProduct<Real> part = {steps,    a.data + row * (is_packed ? steps : a.line_distance),
                                 right,    place,
                                 c_stride, static_cast<int>(high),
                                 across,   add};
      if (!is_packed) {
        part.a_row = a.line_distance;
        part.a_step = a.step_distance;
      }
      if (across % functions.width == 0) {
        for (std::int64_t i = 0; add && i < high; ++i) {
          __builtin_prefetch(place + i * c_stride);
          __builtin_prefetch(place + i * c_stride + functions.width);
        }
        functions.product(part);
        continue;
      }
      Real tile[highest * widest];  // whole vectors are written
      part.c = tile;
      part.c_stride = widest;
      part.add = false;
      functions.product(part);
      for (std::int64_t i = 0; i < high; ++i) {
        for (std::int64_t j = 0; j < across; ++j) {
          Real& element = place[i * c_stride + j];
          element = add ? tile[i * widest + j] + element : tile[i * widest + j];
        }
      }
    }
  }
}

Scratch& packed_rows() {
  thread_local Scratch scratch;
  return scratch;
}
Scratch& packed_columns() {
  thread_local Scratch scratch;
  return scratch;
}

/// What a packed factor leaves for the next one: fresh memory costs more than packing.
Scratch& spare_factor() {
  thread_local Scratch scratch;
  return scratch;
}
/// Bytes of a factor that are worth keeping.
constexpr std::int64_t most_spare = 8 << 20;

template <class Real>
Real* room(Scratch& scratch, std::int64_t elements) {
  return reinterpret_cast<Real*>(
      scratch.of_size(elements * static_cast<std::int64_t>(sizeof(Real))));
}

/// As many lines as fit, in whole panels, but one at least.
template <class Real>
std::int64_t lines_together(std::int64_t lines, std::int64_t bytes, std::int64_t steps, int width) {
  const std::int64_t fitting = bytes / (steps * static_cast<std::int64_t>(sizeof(Real)));
  return std::min(round_up(lines, width), std::max<std::int64_t>(1, fitting / width) * width);
}

}  // namespace

template <class Real>
void PackedProduct<Real>::run() const {
  const RealFunctions<Real>& functions = real_functions<Real>();
  const std::int64_t depth = steps_of_part<Real>(steps);
  const std::int64_t high = lines_together<Real>(rows, most_rows, depth, functions.panels.rows);
  const std::int64_t across =
      lines_together<Real>(columns, most_columns, depth, functions.panels.columns);
  Real* const left = room<Real>(packed_rows(), high * depth);
  Real* const right = room<Real>(packed_columns(), across * depth);
  for (std::int64_t column = 0; column < columns; column += across) {
    const Range those = {column, std::min(columns, column + across)};
    for (std::int64_t step = 0; step < steps; step += depth) {
      const Range part = {step, std::min(steps, step + depth)};
      functions.pack_columns(lines_of(b, those, part, right));
      for (std::int64_t row = 0; row < rows; row += high) {
        const Range these = {row, std::min(rows, row + high)};
        functions.pack_rows(lines_of(a, these, part, left));
        multiply_panels({left, 0, 0}, true, right, these.end - these.begin, those.end - those.begin,
                        part.end - part.begin, c + row * c_stride + column, c_stride,
                        add || step > 0);
        if (finished && part.end == steps) finished(these.begin, these.end, those.begin, those.end);
      }
    }
  }
}

template <class Real>
PackedFactor<Real>::PackedFactor(const Factor<Real>& factor, std::int64_t steps,
                                 std::int64_t columns)
    : steps_(steps),
      columns_(columns),
      padded_columns_(round_up(columns, panels<Real>().columns)),
      memory_(std::exchange(spare_factor(), {})),
      panels_(room<Real>(memory_, steps * padded_columns_)) {
  const std::int64_t depth = steps_of_part<Real>(steps);
  for (std::int64_t step = 0; step < steps; step += depth)
    real_functions<Real>().pack_columns(lines_of(factor, {0, columns},
                                                 {step, std::min(steps, step + depth)},
                                                 panels_ + step * padded_columns_));
}

template <class Real>
PackedFactor<Real>::~PackedFactor() {
  if (steps_ * padded_columns_ * static_cast<std::int64_t>(sizeof(Real)) <= most_spare)
    spare_factor() = std::move(memory_);
}

template <class Real>
void PackedFactor<Real>::multiply(const Factor<Real>& a, std::int64_t rows, Real* c,
                                  std::int64_t c_stride, bool add,
                                  std::span<const NeededSoon> soon) const {
  const std::int64_t depth = steps_of_part<Real>(steps_);
  for (std::int64_t step = 0; step < steps_; step += depth) {
    const std::int64_t part = std::min(depth, steps_ - step);
    multiply_panels({a.data + step * a.step_distance, a.line_distance, a.step_distance}, false,
                    panels_ + step * padded_columns_, rows, columns_, part, c, c_stride,
                    add || step > 0, step + part == steps_ ? soon : std::span<const NeededSoon>());
  }
}

template struct PackedProduct<float>;
template struct PackedProduct<double>;
template class PackedFactor<float>;
template class PackedFactor<double>;

}  // namespace afterglow::kernels
