// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise.h"

#include <algorithm>
#include <vector>

#include "kernels/scratch.h"
#include "kernels/table.h"
#include "kernels/views.h"

namespace afterglow::kernels {
namespace {

/// Elements of a share, and shares at most.
constexpr std::int64_t enough_elements = 1 << 16, most_shares = 256;
/// Rows of places that are a piece of a plane at least, where planes are divided.
constexpr std::int64_t fewest_rows = 16;

std::int64_t shares_for(std::int64_t elements) {
  return std::clamp<std::int64_t>(elements / enough_elements, 1, most_shares);
}

/// Pieces of each of so many planes that make up the shares.
std::int64_t bands_for(std::int64_t shares, std::int64_t planes, std::int64_t rows) {
  return std::clamp<std::int64_t>(divide_up(shares, planes), 1, divide_up(rows, fewest_rows));
}

bool are_known(const Windows& w) {
  const std::int64_t kernel = w.kernel[2], stride = w.stride[2], dilate = w.dilate[2];
  return w.channels == 1 && w.filters == 1 && w.image[0] == 1 && w.result[0] == 1 &&
         w.kernel[0] == 1 && w.pad[0] == 0 && w.count * w.groups * places_in(w.image) > 0 &&
         places_in(w.result) > 0 && kernel == w.kernel[1] && kernel % 2 == 1 && kernel > 1 &&
         kernel <= 2 * plane_sizes + 1 && stride == w.stride[1] && dilate == w.dilate[1] &&
         (stride == 1 || (stride == 2 && dilate == 1));
}

int size_of_kernel(const Windows& w) {
  return static_cast<int>(w.kernel[2]);
}
int stride_of(const Windows& w) {
  return static_cast<int>(w.stride[2]);
}

template <class Real>
std::int64_t vector_width() {
  return real_functions<Real>().panels.width;
}

template <class Real>
PlaneWindows<Real> windows_of(const Windows& w) {
  return {.height = w.image[1],
          .width = w.image[2],
          .rows = w.result[1],
          .columns = w.result[2],
          .dilate = w.dilate[2],
          .pad_rows = w.pad[1],
          .pad_columns = w.pad[2],
          .zeros = nullptr,
          .masks = nullptr,
          .inner_begin = 0,
          .inner_end = 0};
}

template <class Real>
const PlaneFunctions<Real>& functions_of(const Windows& w) {
  return real_functions<Real>().planes[w.kernel[2] / 2 - 1];
}

/// Rows of places in strips of one vector, and what of them lies in the plane.
template <class Real>
class Strips {
 public:
  using Mask = MaskOf<Real>;

  /// With `once`, places that two strips have count for the first of them only.
  Strips(const PlaneWindows<Real>& windows, int loads, std::int64_t stride, bool once)
      : windows_(windows), zeros_(static_cast<std::size_t>(windows.width)) {
    const std::int64_t width = vector_width<Real>();
    const std::int64_t columns = windows.columns, strips = divide_up(columns, width);
    std::vector<bool> needs_masks;
    for (std::int64_t strip = 0; strip < strips; ++strip) {
      const std::int64_t first =
          std::max<std::int64_t>(0, std::min(strip * width, columns - width));
      const std::size_t begin = masks_.size();
      const auto put = [&](std::int64_t place, std::int64_t column) {
        const bool is_taken = place < columns && (!once || place >= strip * width) && column >= 0 &&
                              column < windows.width;
        masks_.push_back(is_taken ? ~Mask(0) : Mask(0));
      };
      for (int load = 0; load < loads; ++load) {
        for (std::int64_t lane = 0; lane < width; ++lane) {
          if (stride == 1) {
            put(first + lane, first + lane + load * windows.dilate - windows.pad_columns);
          } else {
            const std::int64_t element = load % 2 * width + lane;
            put(first + element / 2, 2 * first + load / 2 * 2 + element - windows.pad_columns);
          }
        }
      }
      for (std::int64_t lane = 0; lane < width; ++lane) put(first + lane, 0);
      needs_masks.push_back(std::find(masks_.begin() + static_cast<std::ptrdiff_t>(begin),
                                      masks_.end(), Mask(0)) != masks_.end());
    }
    const auto inner = std::ranges::find(needs_masks, false);
    windows_.inner_begin = inner - needs_masks.begin();
    windows_.inner_end = std::find(inner, needs_masks.end(), true) - needs_masks.begin();
    windows_.zeros = zeros_.data();
    windows_.masks = masks_.data();
  }
  Strips(const Strips&) = delete;
  Strips& operator=(const Strips&) = delete;

  const PlaneWindows<Real>& windows() const { return windows_; }

 private:
  PlaneWindows<Real> windows_;
  std::vector<Real> zeros_;
  std::vector<Mask> masks_;
};

/// Sums for each place of planes one behind the other.
template <class Real>
class FilterPass final : public PlanePass {
 public:
  struct Work {
    void (*function)(const PlaneFilter<Real>& filter);
    PlaneWindows<Real> windows;
    int loads, stride;
    std::int64_t images, channels, taps;
    const Real *source, *weights, *bias;
    bool is_reversed;
    Real* target;
    std::int64_t target_height, target_width;
    const GatheringPass::Epilogue* epilogue;
  };

  explicit FilterPass(const Work& work)
      : work_(work), strips_(work.windows, work.loads, work.stride, false) {
    const std::int64_t planes = work.images * work.channels;
    const std::int64_t wanted = shares_for(planes * (source_plane() + target_plane()));
    bands_ = bands_for(wanted, planes, work.windows.rows);
    units_ = planes * bands_;
    shares_ = static_cast<int>(std::min(wanted, units_));
  }

  int shares() const override { return shares_; }

  void run(int share) override {
    // So many elements stay near for what comes after.
    constexpr std::int64_t near = 1 << 13;
    const std::int64_t together = bands_ > 1 ? 1 : std::max<std::int64_t>(1, near / target_plane());
    const Range units = range_of(units_, shares_, share);
    for (std::int64_t unit = units.begin; unit < units.end;) {
      const std::int64_t plane = unit / bands_, channel = plane % work_.channels;
      const std::int64_t planes = std::min({together, units.end - unit, work_.channels - channel});
      run_planes(plane, planes, channel, unit % bands_);
      unit += planes;
    }
  }

 private:
  std::int64_t source_plane() const { return work_.windows.height * work_.windows.width; }
  std::int64_t target_plane() const { return work_.target_height * work_.target_width; }

  void run_planes(std::int64_t first, std::int64_t planes, std::int64_t channel,
                  std::int64_t band) const {
    const std::int64_t rows = work_.windows.rows, row_begin = rows * band / bands_,
                       row_end = rows * (band + 1) / bands_;
    // Rows that are dilated apart see the same rows.
    const std::int64_t residues = std::min(work_.windows.dilate, row_end - row_begin);
    for (std::int64_t residue = 0; residue < residues; ++residue)
      work_.function({.windows = strips_.windows(),
                      .planes = planes,
                      .row_begin = row_begin + residue,
                      .row_end = row_end,
                      .source = work_.source + first * source_plane(),
                      .weights = work_.weights + channel * work_.taps,
                      .is_reversed = work_.is_reversed,
                      .start = work_.bias ? work_.bias + channel : nullptr,
                      .target = work_.target + first * target_plane(),
                      .target_height = work_.target_height,
                      .target_width = work_.target_width});
    if (work_.epilogue && *work_.epilogue)
      (*work_.epilogue)(first, first + planes, row_begin * work_.target_width,
                        row_end * work_.target_width);
  }

  const Work work_;
  const Strips<Real> strips_;
  std::int64_t bands_ = 1;  ///< pieces of a plane
  std::int64_t units_ = 0;  ///< bands of all planes
  int shares_ = 0;          ///< each has some of them
};

/// The gradient of the weights: products of results' gradients with what the windows see.
template <class Real>
class DotsPass final : public PlanePass {
 public:
  DotsPass(const Windows& w, const Real* images, const Real* results, Real* weights)
      : channels_(w.groups),
        taps_(places_in(w.kernel)),
        images_(images),
        results_(results),
        weights_(weights),
        function_(functions_of<Real>(w).dots[w.stride[2] - 1]),
        strips_(windows_of<Real>(w), plane_loads(size_of_kernel(w), stride_of(w)), stride_of(w),
                true) {
    // Channels that are one behind the other in memory, and images that are summed up at once.
    constexpr std::int64_t enough_places = 1024, most_channels = 16, near = 1 << 12,
                           most_images = 8;
    const std::int64_t places = std::max(source_plane(), result_plane());
    block_channels_ = std::clamp<std::int64_t>(enough_places / places, 1, most_channels);
    together_ = std::clamp<std::int64_t>(near / places, 1, most_images);
    blocks_ = divide_up(channels_, block_channels_);
    const std::int64_t wanted = shares_for(w.count * channels_ * (source_plane() + result_plane()));
    bands_ = bands_for(wanted, w.count * blocks_, strips_.windows().rows);
    units_ = w.count * bands_;
    parts_ = std::min(divide_up(wanted, blocks_), units_);
    shares_ = static_cast<int>(std::min(wanted, blocks_ * parts_));
    sums_.resize(static_cast<std::size_t>((parts_ - 1) * channels_ * taps_));
  }

  int shares() const override { return shares_; }

  void run(int share) override {
    const Range blocks = range_of(blocks_ * parts_, shares_, share);
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block)
      run_block(block / parts_, block % parts_);
  }

  void finish() override {
    const std::int64_t count = channels_ * taps_;
    for (std::int64_t part = 1; part < parts_; ++part)
      for (std::int64_t i = 0; i < count; ++i)
        weights_[i] += sums_[static_cast<std::size_t>((part - 1) * count + i)];
  }

 private:
  std::int64_t source_plane() const { return strips_.windows().height * strips_.windows().width; }
  std::int64_t result_plane() const { return strips_.windows().rows * strips_.windows().columns; }

  void run_block(std::int64_t block, std::int64_t part) {
    const std::int64_t first = block * block_channels_,
                       channels = std::min(block_channels_, channels_ - first);
    const std::int64_t width = vector_width<Real>(), rows = strips_.windows().rows;
    Room<Real> room({channels * taps_ * width});
    Real* const sums = room.take(channels * taps_ * width);
    std::fill_n(sums, channels * taps_ * width, Real(0));
    const std::int64_t end = units_ * (part + 1) / parts_;
    for (std::int64_t unit = units_ * part / parts_; unit < end;) {
      const std::int64_t image = unit / bands_, band = unit % bands_;
      const std::int64_t images = bands_ > 1 ? 1 : std::min(together_, end - unit);
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const std::int64_t plane = image * channels_ + first + channel;
        const std::int64_t row_begin = rows * band / bands_, row_end = rows * (band + 1) / bands_;
        const std::int64_t residues = std::min(strips_.windows().dilate, row_end - row_begin);
        for (std::int64_t residue = 0; residue < residues; ++residue)
          function_({.windows = strips_.windows(),
                     .planes = images,
                     .row_begin = row_begin + residue,
                     .row_end = row_end,
                     .source = images_ + plane * source_plane(),
                     .source_step = channels_ * source_plane(),
                     .values = results_ + plane * result_plane(),
                     .value_step = channels_ * result_plane(),
                     .sums = sums + channel * taps_ * width});
      }
      unit += images;
    }
    Real* const target =
        (part ? sums_.data() + (part - 1) * channels_ * taps_ : weights_) + first * taps_;
    for (std::int64_t i = 0; i < channels * taps_; ++i) target[i] = sum_of(sums + i * width, width);
  }

  /// By halves.
  static Real sum_of(Real* values, std::int64_t count) {
    for (std::int64_t half = count / 2; half; half /= 2)
      for (std::int64_t i = 0; i < half; ++i) values[i] += values[i + half];
    return values[0];
  }

  const std::int64_t channels_, taps_;
  const Real *const images_, *const results_;
  Real* const weights_;
  void (*const function_)(const PlaneDots<Real>& dots);
  const Strips<Real> strips_;
  std::int64_t block_channels_ = 1;  ///< of a block
  std::int64_t blocks_ = 0;
  std::int64_t together_ = 1;  ///< images
  std::int64_t bands_ = 1;     ///< pieces of a plane
  std::int64_t units_ = 0;     ///< bands of all images
  std::int64_t parts_ = 1;     ///< that these are divided into
  int shares_ = 0;             ///< each has some parts of some blocks
  std::vector<Real> sums_;     ///< of all parts but the first
};

template <class Real>
std::unique_ptr<PlanePass> convolution_of(const Windows& w, const void* images, const void* weights,
                                          const void* bias, void* results,
                                          const GatheringPass::Epilogue& epilogue) {
  using Pass = FilterPass<Real>;
  return std::make_unique<Pass>(
      typename Pass::Work{.function = functions_of<Real>(w).filter[stride_of(w) - 1],
                          .windows = windows_of<Real>(w),
                          .loads = plane_loads(size_of_kernel(w), stride_of(w)),
                          .stride = stride_of(w),
                          .images = w.count,
                          .channels = w.groups,
                          .taps = places_in(w.kernel),
                          .source = static_cast<const Real*>(images),
                          .weights = static_cast<const Real*>(weights),
                          .bias = static_cast<const Real*>(bias),
                          .is_reversed = false,
                          .target = static_cast<Real*>(results),
                          .target_height = w.result[1],
                          .target_width = w.result[2],
                          .epilogue = &epilogue});
}

template <class Real>
std::unique_ptr<PlanePass> transpose_of(const Windows& w, const void* results, const void* weights,
                                        const void* bias, void* images) {
  using Pass = FilterPass<Real>;
  const int kernel = size_of_kernel(w), stride = stride_of(w);
  // With a stride, a row of places is two rows of the image. Without, the window is turned round.
  const std::int64_t reach = w.dilate[2] * (kernel - 1);
  const bool is_spread = stride == 2;
  return std::make_unique<Pass>(typename Pass::Work{
      .function = is_spread ? functions_of<Real>(w).spread : functions_of<Real>(w).filter[0],
      .windows = {.height = w.result[1],
                  .width = w.result[2],
                  .rows = divide_up(w.image[1], stride),
                  .columns = divide_up(w.image[2], stride),
                  .dilate = w.dilate[2],
                  .pad_rows = is_spread ? spread_before(kernel) : reach - w.pad[1],
                  .pad_columns = is_spread ? spread_before(kernel) : reach - w.pad[2],
                  .zeros = nullptr,
                  .masks = nullptr,
                  .inner_begin = 0,
                  .inner_end = 0},
      .loads = is_spread ? spread_loads(kernel) : plane_loads(kernel, 1),
      .stride = 1,
      .images = w.count,
      .channels = w.groups,
      .taps = places_in(w.kernel),
      .source = static_cast<const Real*>(results),
      .weights = static_cast<const Real*>(weights),
      .bias = static_cast<const Real*>(bias),
      .is_reversed = !is_spread,
      .target = static_cast<Real*>(images),
      .target_height = w.image[1],
      .target_width = w.image[2],
      .epilogue = nullptr});
}

}  // namespace

std::unique_ptr<PlanePass> depthwise_convolution(const Windows& windows, DType dtype,
                                                 const void* images, const void* weights,
                                                 const void* bias, void* results,
                                                 const GatheringPass::Epilogue& epilogue) {
  if (!are_known(windows)) return nullptr;
  return dtype == DType::float32
             ? convolution_of<float>(windows, images, weights, bias, results, epilogue)
             : convolution_of<double>(windows, images, weights, bias, results, epilogue);
}

std::unique_ptr<PlanePass> depthwise_transpose(const Windows& windows, DType dtype,
                                               const void* results, const void* weights,
                                               const void* bias, void* images) {
  const std::int64_t half = windows.kernel[2] / 2;
  if (!are_known(windows)) return nullptr;
  if (windows.stride[2] == 2 && (windows.pad[1] != half || windows.pad[2] != half)) return nullptr;
  return dtype == DType::float32 ? transpose_of<float>(windows, results, weights, bias, images)
                                 : transpose_of<double>(windows, results, weights, bias, images);
}

std::unique_ptr<PlanePass> depthwise_gradient(const Windows& windows, DType dtype,
                                              const void* images, const void* results,
                                              void* weights) {
  if (!are_known(windows)) return nullptr;
  if (dtype == DType::float32)
    return std::make_unique<DotsPass<float>>(windows, static_cast<const float*>(images),
                                             static_cast<const float*>(results),
                                             static_cast<float*>(weights));
  return std::make_unique<DotsPass<double>>(windows, static_cast<const double*>(images),
                                            static_cast<const double*>(results),
                                            static_cast<double*>(weights));
}

}  // namespace afterglow::kernels
