// SPDX-License-Identifier: Apache-2.0
#include "kernels/winograd.h"

#include <algorithm>
#include <array>

#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// What a tile sees, along an axis, and the numbers that it becomes.
constexpr std::int64_t seen = 6, values = seen * seen;
/// The value that each place of a result gets once: that at 1 and 1.
constexpr std::int64_t plain_value = seen + 1;
/// Tiles that are worked on together at most: they meet the same weights, in the nearer caches.
constexpr std::int64_t most_tiles = 48;
/// Of each plane, where there are many: what tiles see of their neighbours is read again.
constexpr std::int64_t tiles_of_plane = 8;
/// Channels whose weights are spread out together.
constexpr std::int64_t chunk_channels = 32;

const PanelFunctions<float>& panels() {
  return real_functions<float>().panels;
}

std::int64_t whole_vectors(std::int64_t lanes) {
  return divide_up(lanes, panels().width) * panels().width;
}

/// Where taps look along an axis: so many places, equally far from each other.
struct Lattice {
  std::int64_t first, count = 1, distance = 1;
};

Lattice lattice_of(const Gathering& grid, std::size_t axis) {
  std::int64_t first = grid.taps[0].offset[axis], last = first;
  for (const Gathering::Tap& tap : grid.taps) {
    first = std::min(first, tap.offset[axis]);
    last = std::max(last, tap.offset[axis]);
  }
  if (first == last) return {first};
  std::int64_t distance = last - first;
  for (const Gathering::Tap& tap : grid.taps)
    if (tap.offset[axis] > first) distance = std::min(distance, tap.offset[axis] - first);
  return {first, (last - first) / distance + 1, distance};
}

const WinogradFunctions& functions_for(std::int64_t taps) {
  const KernelTable& table = kernel_table();
  return taps == 2 ? table.small_winograd : taps == 3 ? table.winograd : table.large_winograd;
}

/// Of a window that goes this way. Dilated ones see several images, whose places take turns, and
/// those with depth sum up the tiles of several planes.
struct Form {
  Lattice z, y, x;
  std::int64_t taps, side;  ///< along an axis; places that a tile gives
  std::int64_t planes;      ///< of images that those of results see
  std::int64_t depth;       ///< numbers of tiles that are summed up to one of a result
  const WinogradFunctions& functions;

  explicit Form(const Gathering& grid)
      : z(lattice_of(grid, 0)),
        y(lattice_of(grid, 1)),
        x(lattice_of(grid, 2)),
        taps(y.count),
        side(seen + 1 - taps),
        planes(grid.grid[0] + z.count - 1),
        depth(z.count == 1 ? grid.depth : z.count * whole_vectors(grid.depth)),
        functions(functions_for(taps)) {}

  /// Those of a tile that begins at a place: their numbers and where they are.
  void for_each_place(std::int64_t top, std::int64_t left, std::int64_t extent, auto visit) const {
    std::size_t number = 0;
    for (std::int64_t i = 0; i < extent; ++i)
      for (std::int64_t j = 0; j < extent; ++j)
        visit(number++, top + i * y.distance, left + j * x.distance);
  }
  /// Places of the tiles that take turns, along an axis.
  std::int64_t height() const { return side * y.distance; }
  std::int64_t width() const { return side * x.distance; }
};

/// From one of the values of tiles to the next; they do not all meet in one place of the cache.
std::int64_t value_step(std::int64_t tiles, std::int64_t lanes) {
  return tiles * lanes + 16;
}

/// Places [top, bottom) x [left, right) of a plane.
struct Area {
  std::int64_t top, bottom, left, right;

  std::int64_t width() const { return right - left; }
  std::int64_t size() const { return (bottom - top) * width(); }
  bool has(std::int64_t y, std::int64_t x) const {
    return top <= y && y < bottom && left <= x && x < right;
  }
  std::int64_t place(std::int64_t y, std::int64_t x) const {
    return (y - top) * width() + x - left;
  }
};

/// Copies an area of planes of some extents, from or to channels side by side.
void move_area(const Area& area, const Space& extents, float* planes, std::int64_t channels,
               float* vectors, std::int64_t lanes, bool to_planes) {
  const MoveFunction move = move_function(DType::float32);
  const bool is_whole = area.width() == extents[2];
  const std::int64_t rows = is_whole ? 1 : area.bottom - area.top, count = area.size() / rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Matrix apart = {planes + (area.top + row) * extents[2] + area.left, 1,
                          places_in(extents)};
    const Matrix together = {vectors + row * count * lanes, lanes, 1};
    to_planes ? move(together, apart, count, channels) : move(apart, together, count, channels);
  }
}

/// The same to planes where places lie apart: what belongs to a plane comes together first, since
/// planes often meet in one place of the cache.
void spread_area(const Area& area, const Space& extents, const Space& spread, float* planes,
                 std::int64_t channels, float* vectors, std::int64_t lanes, float* turned) {
  move_function(DType::float32)({vectors, lanes, 1}, {turned, 1, area.size()}, area.size(),
                                channels);
  for (std::int64_t channel = 0; channel < channels; ++channel, planes += places_in(extents)) {
    for (std::int64_t y = area.top; y < area.bottom; ++y, turned += area.width()) {
      float* const target = planes + y * spread[1] * extents[2] + area.left * spread[2];
      for (std::int64_t x = 0; x < area.width(); ++x) target[x * spread[2]] = turned[x];
    }
  }
}

/// Of so many the part that is taken at once, `most` at most: parts are about equally large.
std::int64_t divide_evenly(std::int64_t count, std::int64_t most) {
  return divide_up(count, divide_up(count, std::max<std::int64_t>(1, most)));
}

/// Tiles of several images, in bands that are worked on one after the other.
class Bands {
 public:
  Bands(const Gathering& grid, std::int64_t images)
      : form_(grid),
        images_(images),
        rows_(divide_up(grid.grid[1], form_.height())),
        columns_(divide_up(grid.grid[2], form_.width())) {
    const std::int64_t turns = form_.y.distance * form_.x.distance;
    const std::int64_t tiles = std::max(most_tiles / grid.grid[0], tiles_of_plane);
    const std::int64_t most = std::max<std::int64_t>(1, tiles / turns);
    images_together_ = divide_evenly(images, most / (rows_ * columns_));
    row_bands_ = divide_up(rows_, std::clamp<std::int64_t>(most / columns_, 1, rows_));
    column_bands_ = divide_up(columns_, most);
  }

  std::int64_t count() const {
    return divide_up(images_, images_together_) * row_bands_ * column_bands_;
  }

  /// The places of some images that come of its tiles; images may end before.
  struct Band {
    std::int64_t first, last;
    Area places;
    const Form& form;

    std::int64_t tiles_of_image() const { return places.size() / (form.side * form.side); }
    std::int64_t tiles() const { return (last - first) * tiles_of_image(); }
    /// For each tile of an image, the first of its places.
    void for_each_tile(auto visit) const {
      for (std::int64_t y = places.top; y < places.bottom; y += form.height())
        for (std::int64_t x = places.left; x < places.right; x += form.width())
          for (std::int64_t i = 0; i < form.y.distance; ++i)
            for (std::int64_t j = 0; j < form.x.distance; ++j) visit(y + i, x + j);
    }
  };
  Band operator[](std::int64_t number) const {
    const std::int64_t x = number % column_bands_, y = number / column_bands_ % row_bands_;
    const std::int64_t first = number / column_bands_ / row_bands_ * images_together_;
    const std::int64_t height = form_.height(), width = form_.width();
    return {first,
            std::min(images_, first + images_together_),
            {rows_ * y / row_bands_ * height, rows_ * (y + 1) / row_bands_ * height,
             columns_ * x / column_bands_ * width, columns_ * (x + 1) / column_bands_ * width},
            form_};
  }
  /// As large as any.
  Band largest() const {
    return {0,
            images_together_,
            {0, divide_up(rows_, row_bands_) * form_.height(), 0,
             divide_up(columns_, column_bands_) * form_.width()},
            form_};
  }

 private:
  Form form_;
  std::int64_t images_, rows_, columns_, images_together_, row_bands_, column_bands_;
};

/// Channels of images, and the squares of `extent` places that tiles see of their planes: tiles
/// become [value][tile][plane][channel].
class Spreading {
 public:
  struct Planes {
    const float* first;
    std::int64_t image_step;
    Space extents;
    std::int64_t channels;
  };
  Spreading(const Planes& source, const Form& form, const Space& offset, std::int64_t extent,
            std::int64_t planes, SquareFunction spread)
      : source_(source),
        form_(form),
        offset_(offset),
        extent_(extent),
        planes_(planes),
        spread_(spread) {}

  std::int64_t lanes() const { return whole_vectors(source_.channels); }
  std::int64_t step(const Bands::Band& band) const {
    return value_step(band.tiles() * planes_, lanes());
  }
  /// What is needed for the channels of a band, side by side.
  std::int64_t room(const Bands::Band& band) const { return seen_of(band).size() * lanes(); }

  /// Lanes without channels are zero, if they are in `vectors`.
  void run(const Bands::Band& band, const float* zeros, float* vectors, float* target) const {
    for (std::int64_t image = band.first; image < band.last; ++image) {
      float* const tiles =
          target + (image - band.first) * band.tiles_of_image() * planes_ * lanes();
      for (std::int64_t plane = 0; plane < planes_; ++plane)
        spread_plane(band, image, plane, zeros, vectors, tiles + plane * lanes());
    }
  }

 private:
  void spread_plane(const Bands::Band& band, std::int64_t image, std::int64_t plane,
                    const float* zeros, float* vectors, float* target) const {
    const std::int64_t z = plane + offset_[0];
    Area area = {};
    if (z >= 0 && z < source_.extents[0]) {
      area = seen_of(band);
      area = {clamped(area.top, 1), clamped(area.bottom, 1), clamped(area.left, 2),
              clamped(area.right, 2)};
    }
    // Read only.
    float* const from_plane = const_cast<float*>(source_.first) + image * source_.image_step +
                              z * source_.extents[1] * source_.extents[2];
    if (area.size())
      move_area(area, source_.extents, from_plane, source_.channels, vectors, lanes(), false);
    const std::int64_t to_next = step(band), stride = lanes();
    band.for_each_tile([&](std::int64_t y, std::int64_t x) {
      std::array<const float*, values> from;
      form_.for_each_place(y + offset_[1], x + offset_[2], extent_,
                           [&](std::size_t i, std::int64_t place_y, std::int64_t place_x) {
                             from[i] = area.has(place_y, place_x)
                                           ? vectors + area.place(place_y, place_x) * stride
                                           : zeros;
                           });
      std::array<float*, values> to;
      for (std::size_t i = 0; i < values; ++i)
        to[i] = target + static_cast<std::int64_t>(i) * to_next;
      spread_(from.data(), to.data(), source_.channels);
      target += planes_ * stride;
    });
  }

  Area seen_of(const Bands::Band& band) const {
    const std::int64_t more = extent_ - form_.side;
    return {band.places.top + offset_[1], band.places.bottom + offset_[1] + more * form_.y.distance,
            band.places.left + offset_[2],
            band.places.right + offset_[2] + more * form_.x.distance};
  }
  std::int64_t clamped(std::int64_t place, std::size_t axis) const {
    return std::clamp<std::int64_t>(place, 0, source_.extents[axis]);
  }

  Planes source_;
  const Form& form_;
  Space offset_;
  std::int64_t extent_, planes_;
  SquareFunction spread_;
};

Spreading spreading_of_images(const Gathering& grid, const Form& form, const float* planes,
                              std::int64_t image_step, std::int64_t channels) {
  return {{planes, image_step, grid.source, channels},
          form,
          {form.z.first, form.y.first, form.x.first},
          seen,
          form.planes,
          form.functions.spread_image};
}

class Task {
 public:
  explicit Task(const GridWork<float>& work)
      : work_(work),
        grid_(work.grid),
        form_(grid_),
        bands_(grid_, work.images),
        images_(spreading_of_images(grid_, form_, work.source, work.source_step, grid_.depth)),
        is_apart_(grid_.spread != Space{1, 1, 1}) {}

  void run() {
    const Bands::Band largest = bands_.largest();
    const std::int64_t lanes = panels().columns, planes = grid_.grid[0];
    const std::int64_t source = images_.room(largest),
                       target =
                           largest.places.size() * planes * (largest.last - largest.first) * lanes;
    const std::int64_t left = values * images_.step(largest),
                       sums = values * value_step(largest.tiles() * planes, lanes);
    const std::int64_t turned = is_apart_ ? largest.places.size() * lanes : 0;
    Room<float> room({source, left, sums, target, turned, images_.lanes(), lanes});
    source_ = room.take(source);
    left_ = room.take(left);
    sums_ = room.take(sums);
    target_ = room.take(target);
    turned_ = room.take(turned);
    zeros_ = room.take(images_.lanes());
    nowhere_ = room.take(lanes);
    std::fill_n(zeros_, images_.lanes(), 0.0f);
    // Sums over several planes have lanes without channels among them.
    if (form_.z.count > 1) std::fill_n(source_, source, 0.0f);
    for (std::int64_t band = 0; band < bands_.count(); ++band) run_band(bands_[band]);
  }

 private:
  void run_band(const Bands::Band& band) {
    images_.run(band, zeros_, source_, left_);
    const Area& all = band.places;
    const Area places = {all.top, std::min(all.bottom, grid_.grid[1]), all.left,
                         std::min(all.right, grid_.grid[2])};
    const std::int64_t lanes = panels().columns;
    for (std::int64_t row = work_.row_begin; row < work_.row_end; row += lanes) {
      const std::int64_t rows = std::min(lanes, work_.row_end - row);
      multiply(band, row, rows);
      gather_results(band, places, rows);
      store(band, places, row, rows);
    }
  }

  /// From one of the values of all tiles of a result to the next.
  std::int64_t sum_step(const Bands::Band& band) const {
    return value_step(band.tiles() * grid_.grid[0], panels().columns);
  }

  void multiply(const Bands::Band& band, std::int64_t row, std::int64_t rows) {
    const std::int64_t lanes = panels().columns, planes = grid_.grid[0];
    const std::int64_t depth = form_.depth, tiles = band.tiles();
    const std::int64_t left_step = images_.step(band), sums_step = sum_step(band);
    const float* weights = work_.weights + (row - work_.row_begin) / lanes * values * depth * lanes;
    if (work_.bias)
      for (std::int64_t i = 0; i < tiles * planes; ++i)
        std::copy_n(work_.bias + row, rows, sums_ + plain_value * sums_step + i * lanes);
    for (std::int64_t value = 0; value < values; ++value, weights += depth * lanes) {
      const float* const left = left_ + value * left_step;
      float* const sums = sums_ + value * sums_step;
      const bool add = work_.bias && value == plain_value;
      // Where a tile has several planes, they follow each other, and more than those of the result.
      if (planes == 1 && form_.z.count == 1) {
        multiply_rows(left, weights, tiles, rows, add, sums);
        continue;
      }
      for (std::int64_t tile = 0; tile < tiles; ++tile)
        multiply_rows(left + tile * form_.planes * images_.lanes(), weights, planes, rows, add,
                      sums + tile * planes * lanes);
    }
  }

  void multiply_rows(const float* left, const float* weights, std::int64_t count,
                     std::int64_t columns, bool add, float* sums) const {
    const PanelFunctions<float>& functions = panels();
    const std::int64_t groups = divide_up(count, functions.rows);
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t begin = count * group / groups, end = count * (group + 1) / groups;
      functions.product({.depth = form_.depth,
                         .a = left + begin * images_.lanes(),
                         .b = weights,
                         .c = sums + begin * functions.columns,
                         .c_stride = functions.columns,
                         .rows = static_cast<int>(end - begin),
                         .columns = static_cast<int>(columns),
                         .add = add,
                         .a_row = images_.lanes(),
                         .a_step = 1});
    }
  }

  void gather_results(const Bands::Band& band, const Area& places, std::int64_t rows) {
    const std::int64_t lanes = panels().columns, planes = grid_.grid[0], step = sum_step(band);
    const float* source = sums_;
    for (std::int64_t image = 0; image < band.last - band.first; ++image) {
      band.for_each_tile([&](std::int64_t y, std::int64_t x) {
        for (std::int64_t plane = 0; plane < planes; ++plane, source += lanes) {
          float* const target = target_ + (image * planes + plane) * places.size() * lanes;
          std::array<const float*, values> from;
          for (std::size_t i = 0; i < values; ++i)
            from[i] = source + static_cast<std::int64_t>(i) * step;
          std::array<float*, values> to;
          form_.for_each_place(y, x, form_.side,
                               [&](std::size_t i, std::int64_t place_y, std::int64_t place_x) {
                                 to[i] = places.has(place_y, place_x)
                                             ? target + places.place(place_y, place_x) * lanes
                                             : nowhere_;
                               });
          form_.functions.gather_result(from.data(), to.data(), rows);
        }
      });
    }
  }

  void store(const Bands::Band& band, const Area& places, std::int64_t row,
             std::int64_t rows) const {
    const std::int64_t lanes = panels().columns, width = grid_.grid[2];
    const float* source = target_;
    for (std::int64_t image = band.first; image < band.last; ++image) {
      for (std::int64_t z = 0; z < grid_.grid[0]; ++z, source += places.size() * lanes) {
        float* const planes = work_.target + image * work_.target_step +
                              row * places_in(grid_.target) + target_place(grid_, z, 0, 0);
        auto* const vectors = const_cast<float*>(source);  // read only
        if (is_apart_)
          spread_area(places, grid_.target, grid_.spread, planes, rows, vectors, lanes, turned_);
        else
          move_area(places, grid_.target, planes, rows, vectors, lanes, true);
        const std::int64_t plane = z * grid_.grid[1] * width;
        if (places.width() == width) {
          work_.complete(image, row, row + rows, plane + places.top * width,
                         plane + places.bottom * width);
        } else {
          for (std::int64_t y = places.top; y < places.bottom; ++y)
            work_.complete(image, row, row + rows, plane + y * width + places.left,
                           plane + y * width + places.right);
        }
      }
    }
  }

  const GridWork<float>& work_;
  const Gathering& grid_;
  const Form form_;
  const Bands bands_;
  const Spreading images_;
  const bool is_apart_;
  float *source_ = nullptr, *left_ = nullptr, *sums_ = nullptr, *target_ = nullptr;
  float* turned_ = nullptr;                      ///< of planes where places lie apart
  float *zeros_ = nullptr, *nowhere_ = nullptr;  ///< around images and results
};

}  // namespace

Space winograd_unit(const Gathering& grid) {
  const Form form(grid);
  return {1, form.height(), form.width()};
}

bool winograd_pays(const Gathering& grid, std::int64_t images, double multiplications) {
  constexpr Space one = {1, 1, 1};
  const bool is_apart = grid.spread != one;
  const std::int64_t fewest_channels = is_apart ? 32 : 16;
  // Each of the grids of places that lie apart has weights of its own, which should stay near.
  const std::int64_t most_weights = is_apart ? 1 << 21 : 1 << 24;
  if (grid.step != one || grid.taps.size() < 4 || (!is_apart && grid.grid[2] != grid.target[2]) ||
      grid.depth < fewest_channels || grid.rows < fewest_channels)
    return false;
  const Form form(grid);
  const auto taps = static_cast<std::int64_t>(grid.taps.size());
  if ((form.y.count != 2 && form.y.count != 3 && form.y.count != 5) ||
      form.x.count != form.y.count || form.z.distance != 1 ||
      form.z.count * form.y.count * form.x.count != taps ||
      grid.depth * grid.rows * form.z.count * values > most_weights)
    return false;
  // In multiplications; what spreading and gathering a number takes is about as long as so many.
  // Results that lie apart take longer to be brought there, either way.
  constexpr double spreading = 5, reading = 16, bringing = 80;
  const double moving = is_apart ? 40 : spreading;
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const auto tiles_along = [](std::int64_t places, std::int64_t together, std::int64_t side) {
    return divide_up(places, together) * (together / side);
  };
  const double weights = real(grid.depth * grid.rows * form.z.count);
  const double tiles = real(images * tiles_along(grid.grid[1], form.height(), form.side) *
                            tiles_along(grid.grid[2], form.width(), form.side)) *
                       values;
  const double here = (tiles * real(grid.grid[0]) + spreading * values) * weights +
                      moving * tiles * real(form.planes * grid.depth + grid.grid[0] * grid.rows);
  if (!is_apart) return here < 0.8 * real(images) * multiplications;
  const double moved =
      real(places_in(grid.grid)) * (reading * real(grid.depth) + bringing * real(grid.rows));
  return here < real(images) * (multiplications + moved);
}

bool winograd_rows_apart(const Gathering& grid, std::int64_t images) {
  constexpr std::int64_t enough_panels = 8;
  const std::int64_t side = Form(grid).side;
  const std::int64_t tiles = images * divide_up(places_in(grid.grid), side * side);
  return WinogradWeights(grid).panels() >= enough_panels && grid.rows > 2 * tiles;
}

WinogradWeights::WinogradWeights(const Gathering& grid)
    : grid_(grid), panels_(divide_up(grid.rows, kernels::panels().columns)) {}

std::int64_t WinogradWeights::panel_size() const {
  return values * Form(grid_).depth * kernels::panels().columns;
}

void WinogradWeights::spread(const float* weights, std::int64_t panel, float* target) const {
  const std::int64_t lanes = kernels::panels().columns, row = panel * lanes,
                     rows = std::min(lanes, grid_.rows - row);
  const Form form(grid_);
  // Of a channel; the taps of a grid among others are some of them.
  const std::int64_t places = std::min(grid_.row_step, grid_.depth_step), depth = form.depth;
  const std::int64_t turned_size = chunk_channels * places * lanes;
  Room<float> room({turned_size});
  float* const turned = room.take(turned_size);
  if (rows < lanes) std::fill_n(turned, turned_size, 0.0f);
  const MoveFunction move = move_function(DType::float32);
  float* const source = const_cast<float*>(weights) + row * grid_.row_step;  // read only
  if (depth > form.z.count * grid_.depth) std::fill_n(target, panel_size(), 0.0f);
  for (std::int64_t begin = 0; begin < grid_.depth; begin += chunk_channels) {
    const std::int64_t end = std::min(grid_.depth, begin + chunk_channels);
    const bool in_order = grid_.depth_step == places;
    const std::int64_t together = in_order ? end - begin : 1;
    for (std::int64_t channel = begin; channel < end; channel += together)
      move({source + channel * grid_.depth_step, 1, grid_.row_step},
           {turned + (channel - begin) * places * lanes, lanes, 1}, together * places, rows);
    for (std::int64_t channel = begin; channel < end; ++channel) {
      for (std::int64_t plane = 0; plane < form.z.count; ++plane) {
        std::array<const float*, values> from;
        std::array<float*, values> to;
        for (const Gathering::Tap& tap : grid_.taps) {
          if (tap.offset[0] - form.z.first != plane) continue;
          const std::int64_t y = (tap.offset[1] - form.y.first) / form.y.distance,
                             x = (tap.offset[2] - form.x.first) / form.x.distance;
          from[static_cast<std::size_t>(y * form.taps + x)] =
              turned + ((channel - begin) * places + tap.weight) * lanes;
        }
        const std::int64_t place = plane * (depth / form.z.count) + channel;
        for (std::int64_t value = 0; value < values; ++value)
          to[static_cast<std::size_t>(value)] = target + (value * depth + place) * lanes;
        form.functions.spread_weights(from.data(), to.data(), lanes);
      }
    }
  }
}

void run_winograd(const GridWork<float>& work) {
  Task(work).run();
}

WinogradGradient::WinogradGradient(const Gathering& grid, std::int64_t images)
    : grid_(grid), images_(images), bands_(Bands(grid, images).count()) {}

void WinogradGradient::run(const Work& work) const {
  const PanelFunctions<float>& functions = panels();
  const Form form(grid_);
  const std::int64_t taps = form.taps * form.taps, planes = form.planes;
  const Bands bands(grid_, images_);
  const Spreading images =
      spreading_of_images(grid_, form, work.images, work.image_step, work.channels);
  // Behind the planes of results there are zeros, so that those of images follow each other.
  const Spreading results({work.results, work.result_step, grid_.grid, work.filters}, form,
                          {0, 0, 0}, form.side, planes, form.functions.spread_gradient);
  const Bands::Band largest = bands.largest();
  const std::int64_t channels = images.lanes(), filters = results.lanes();
  // What the weights of several planes see follows each other too.
  const std::int64_t columns = (form.z.count - 1) * channels + work.channels,
                     row = form.z.count * channels;
  const std::int64_t most_lanes = std::max(channels, filters);
  const std::int64_t vectors = std::max(images.room(largest), results.room(largest));
  const std::int64_t right_size = values * images.step(largest),
                     left_size = values * results.step(largest);
  const std::int64_t sum_step = value_step(filters, row);
  Room<float> room({vectors, left_size, right_size, values * sum_step, most_lanes, taps * row});
  float *const source = room.take(vectors), *const left = room.take(left_size),
               *const right = room.take(right_size), *const sums = room.take(values * sum_step),
               *const zeros = room.take(most_lanes), *const turned = room.take(taps * row);
  std::fill_n(zeros, most_lanes, 0.0f);
  std::fill_n(sums, values * sum_step, 0.0f);
  const std::int64_t groups = divide_up(work.filters, functions.rows);
  for (std::int64_t number = work.first_band; number < work.last_band; ++number) {
    const Bands::Band band = bands[number];
    images.run(band, zeros, source, right);
    results.run(band, zeros, source, left);
    const std::int64_t left_step = results.step(band), right_step = images.step(band),
                       depth = (band.tiles() - 1) * planes + grid_.grid[0];
    for (std::int64_t value = 0; value < values; ++value) {
      for (std::int64_t column = 0; column < columns; column += functions.columns) {
        for (std::int64_t group = 0; group < groups; ++group) {
          const std::int64_t begin = work.filters * group / groups,
                             end = work.filters * (group + 1) / groups;
          functions.product({.depth = depth,
                             .a = left + value * left_step + begin,
                             .b = right + value * right_step + column,
                             .c = sums + value * sum_step + begin * row + column,
                             .c_stride = row,
                             .rows = static_cast<int>(end - begin),
                             .columns = static_cast<int>(
                                 std::min<std::int64_t>(functions.columns, columns - column)),
                             .add = true,
                             .a_row = 1,
                             .a_step = filters,
                             .b_step = channels});
        }
      }
    }
  }
  const MoveFunction move = move_function(DType::float32);
  for (std::int64_t filter = 0; filter < work.filters; ++filter) {
    std::array<const float*, values> from;
    std::array<float*, values> to;
    for (std::int64_t i = 0; i < values; ++i)
      from[static_cast<std::size_t>(i)] = sums + i * sum_step + filter * row;
    for (std::int64_t i = 0; i < taps; ++i) to[static_cast<std::size_t>(i)] = turned + i * row;
    form.functions.gather_weights(from.data(), to.data(), columns);
    for (std::int64_t plane = 0; plane < form.z.count; ++plane)
      move({turned + plane * channels, row, 1},
           {work.weights + filter * work.filter_step + plane * taps, 1, form.z.count * taps}, taps,
           work.channels);
  }
}

}  // namespace afterglow::kernels
