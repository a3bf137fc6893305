// SPDX-License-Identifier: Apache-2.0
// What becomes of the elements of windows: the greatest, sums, means and norms of them.
#include "kernels/pooling.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "kernels/regions.h"
#include "ops/common.h"
#include "ops/gradients.h"
#include "ops/images.h"
#include "ops/table.h"
#include "ops/windows.h"

namespace afterglow::kernels {

/// Parameters find it beside its type.
constexpr auto choices(RegionForm) {
  return ops::in_order<RegionForm>("greatest", "sampled", "turned", "averaged");
}

}  // namespace afterglow::kernels

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::Choice;
using lazy::Completion;
using lazy::field;
using lazy::Inference;
using lazy::Operand;
using lazy::required;

// --- windows, with kernels ---

/// Numbers for each axis of space.
struct Windows {
  Shape kernel, stride, pad, sizes;
  bool is_mean = false, counts_pad = true, is_adaptive = false, channels_last = false;
  static constexpr auto fields = std::tuple{
      required("kernel", &Windows::kernel, "extents of the window"),
      required("stride", &Windows::stride, "by which it moves"),
      required("pad", &Windows::pad, "places before the data"),
      required("sizes", &Windows::sizes, "extents of the result"),
      field("is_mean", &Windows::is_mean, "whether sums are divided by the places"),
      field("counts_pad", &Windows::counts_pad, "whether those outside count for that"),
      field("is_adaptive", &Windows::is_adaptive, "whether windows are parts of the data"),
      field("channels_last", &Windows::channels_last, "whether channels are the last axis")};
};

using kernels::WindowWork;
using kernels::winner_type;

/// What the kernel needs to know beside shapes.
struct Settled {
  std::int32_t kernel[3], stride[3], pad[3];
  bool is_mean, counts_pad, is_adaptive, channels_last;
};

/// The shape of images with other extents.
Shape resized(const Inference& inference, const Operand& images, const Windows& given) {
  Shape result(images.shape().begin(), images.shape().end());
  const auto limit = std::numeric_limits<std::int32_t>::max();
  for (const Shape* numbers : {&given.kernel, &given.stride, &given.pad, &given.sizes}) {
    if (numbers->size() + 2 != result.size())
      inference.refuse("needs a number for each axis of space");
    const std::int64_t least = numbers == &given.kernel || numbers == &given.stride ? 1 : 0;
    for (const std::int64_t number : *numbers) {
      if (number < least || number > limit)
        inference.refuse("got " + to_string(*numbers) + "; needs numbers of at least " +
                         std::to_string(least));
    }
  }
  std::ranges::copy(given.sizes, result.begin() + (given.channels_last ? 1 : 2));
  return result;
}

/// The winners of windows are the second input.
constexpr bool reads_winners(WindowWork work) {
  return work == WindowWork::maximum_gradient || work == WindowWork::maximum_taken;
}

template <WindowWork work>
void windows_infer(Inference& inference, const Windows& given) {
  Call& call = inference.call;
  need_images(inference, 3, 5, 1);
  const Shape other = resized(inference, call.inputs[0], given);
  const DType dtype = call.inputs[0].dtype,
              type_of_winners = winner_type(element_count(given.kernel));
  if constexpr (reads_winners(work)) {
    const Operand& winners = call.inputs[1];
    const auto results =
        work == WindowWork::maximum_gradient ? call.inputs[0].shape() : std::span(other);
    if (winners.is_immediate() || !winners.layout->is_contiguous() ||
        winners.dtype != type_of_winners || !std::ranges::equal(winners.shape(), results))
      inference.refuse("needs one winner for each window");
  }
  inference.add_output(other, dtype);
  if constexpr (work == WindowWork::maximum_found) inference.add_output(other, type_of_winners);
  Settled settled{{1, 1, 1},         {1, 1, 1},          {}, given.is_mean, given.counts_pad,
                  given.is_adaptive, given.channels_last};
  const std::size_t first = 3 - given.kernel.size();
  for (std::size_t i = 0; i < given.kernel.size(); ++i) {
    settled.kernel[first + i] = static_cast<std::int32_t>(given.kernel[i]);
    settled.stride[first + i] = static_cast<std::int32_t>(given.stride[i]);
    settled.pad[first + i] = static_cast<std::int32_t>(given.pad[i]);
  }
  call.settled.set(settled);
  call.cost = 200 + 0.4 * static_cast<double>(call.inputs[0].size() + call.outputs[0].size());
}

/// Windows over `places` with one of `results` each.
kernels::PoolingWindows windows_of(const Call& call, const Operand& places,
                                   const Operand& results) {
  const auto settled = call.settled.get<Settled>();
  const auto from = places.shape(), to = results.shape();
  const std::size_t rank = from.size(), begin = settled.channels_last ? 1 : 2;
  kernels::WindowAxis axes[3] = {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}};
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const std::size_t axis = 5 - rank + i;
    axes[axis] = {from[begin + i], to[begin + i], settled.kernel[axis], settled.stride[axis],
                  settled.pad[axis]};
  }
  const std::int64_t channels = from[settled.channels_last ? rank - 1 : 1];
  return {axes[0],
          axes[1],
          axes[2],
          settled.channels_last ? from[0] : from[0] * channels,
          settled.channels_last ? channels : 1,
          settled.is_mean,
          settled.counts_pad,
          settled.is_adaptive};
}

template <WindowWork work>
class WindowsPass : public lazy::Pass {
 public:
  explicit WindowsPass(const Call& call)
      : pass_(work, windows_of(call, places(call), results(call)), call.inputs[0].dtype,
              arrays(call)) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  static constexpr bool is_gradient =
      work == WindowWork::maximum_gradient || work == WindowWork::sum_gradient;

  static const Operand& places(const Call& call) {
    return is_gradient ? call.outputs[0] : call.inputs[0];
  }
  static const Operand& results(const Call& call) {
    return is_gradient ? call.inputs[0] : call.outputs[0];
  }
  static kernels::PoolingPass::Arrays arrays(const Call& call) {
    void *const first = call.inputs[0].data(), *const target = call.outputs[0].data();
    if constexpr (work == WindowWork::maximum || work == WindowWork::sum)
      return {first, nullptr, nullptr, target};
    if constexpr (work == WindowWork::maximum_found)
      return {first, nullptr, call.outputs[1].data(), target};
    if constexpr (work == WindowWork::sum_gradient) return {nullptr, first, nullptr, target};
    return {nullptr, first, call.inputs[1].data(), target};
  }

  kernels::PoolingPass pass_;
};

template <WindowWork work>
std::unique_ptr<lazy::Pass> windows_kernel(const Call& call) {
  return std::make_unique<WindowsPass<work>>(call);
}

Value windowed(const lazy::Op& op, const Value& x, const Windows& windows) {
  const auto arguments = lazy::write_arguments(windows);
  return apply(op, arguments, contiguous(x));
}

/// Where the maxima are is asked by gradients alone.
Value maximum_of_windows(const Value& x, const Windows& windows) {
  if (!autograd::state().recording || !x.origin.passes_gradients())
    return windowed(the_op<"max_windows">(), x, windows);
  autograd::CallBuilder builder(the_op<"max_windows_found">(), false);
  const Value images = contiguous(x);
  builder.add(images);
  const auto arguments = lazy::write_arguments(windows);
  std::vector<autograd::Handle> winners;
  return builder.issue({arguments, {}, nullptr}, &winners);
}

/// The windows of a recorded call, for the way back: the result has the extents of an input.
Windows with_sizes_of(Gradient& c, std::size_t input) {
  auto windows = c.parameters<Windows>();
  const Shape shape = c.shape(input);
  const std::ptrdiff_t first = windows.channels_last ? 1 : 2;
  windows.sizes.assign(shape.begin() + first, shape.begin() + first + std::ssize(windows.kernel));
  return windows;
}

Value through_sum(Gradient& c) {
  return windowed(the_op<"sum_windows_gradient">(), c.g, with_sizes_of(c, 0));
}

Value through_sum_gradient(Gradient& c) {
  return windowed(the_op<"sum_windows">(), c.g, with_sizes_of(c, 0));
}

/// Values of the results go to where the maxima are.
Value through_maximum(Gradient& c) {
  const auto arguments = lazy::write_arguments(with_sizes_of(c, 0));
  return apply(the_op<"max_windows_gradient">(), arguments, contiguous(c.g), c.output(1));
}

/// What goes to a place comes from there.
Value through_maximum_gradient(Gradient& c) {
  const auto arguments = lazy::write_arguments(with_sizes_of(c, 0));
  return apply(the_op<"max_windows_taken">(), arguments, contiguous(c.g), c[1]);
}

Value through_maximum_taken(Gradient& c) {
  const auto arguments = lazy::write_arguments(with_sizes_of(c, 0));
  return apply(the_op<"max_windows_gradient">(), arguments, contiguous(c.g), c[1]);
}

void put_channels_last(Call& call) {
  auto settled = call.settled.get<Settled>();
  settled.channels_last = true;
  call.settled.set(settled);
}

void declare_windows(Table& table) {
  table.add<Windows>({.name = "max_windows",
                      .inputs = {"data"},
                      .infer = windows_infer<WindowWork::maximum>,
                      .kernel = windows_kernel<WindowWork::maximum>,
                      .put_channels_last = put_channels_last});
  table.add<Windows>({.name = "max_windows_found",
                      .inputs = {"data"},
                      .infer = windows_infer<WindowWork::maximum_found>,
                      .kernel = windows_kernel<WindowWork::maximum_found>,
                      .gradients = {reading({}, {1}, through_maximum)}});
  table.add<Windows>({.name = "max_windows_gradient",
                      .inputs = {"values", "winners"},
                      .infer = windows_infer<WindowWork::maximum_gradient>,
                      .kernel = windows_kernel<WindowWork::maximum_gradient>,
                      .gradients = {reading({1}, through_maximum_gradient), no_gradient}});
  table.add<Windows>({.name = "max_windows_taken",
                      .inputs = {"values", "winners"},
                      .infer = windows_infer<WindowWork::maximum_taken>,
                      .kernel = windows_kernel<WindowWork::maximum_taken>,
                      .gradients = {reading({1}, through_maximum_taken), no_gradient}});
  table.add<Windows>({.name = "sum_windows",
                      .inputs = {"data"},
                      .infer = windows_infer<WindowWork::sum>,
                      .kernel = windows_kernel<WindowWork::sum>,
                      .put_channels_last = put_channels_last,
                      .gradients = {reading_nothing(through_sum)}});
  table.add<Windows>({.name = "sum_windows_gradient",
                      .inputs = {"values"},
                      .infer = windows_infer<WindowWork::sum_gradient>,
                      .kernel = windows_kernel<WindowWork::sum_gradient>,
                      .gradients = {reading_nothing(through_sum_gradient)}});
}

// --- pooling ---

enum class PoolType { avg, lp, max, sum };

constexpr auto choices(PoolType) {
  return std::array{Choice{"avg", PoolType::avg}, Choice{"lp", PoolType::lp},
                    Choice{"max", PoolType::max}, Choice{"sum", PoolType::sum}};
}

enum class Convention { full, same, valid };

constexpr auto choices(Convention) {
  return std::array{Choice{"full", Convention::full}, Choice{"same", Convention::same},
                    Choice{"valid", Convention::valid}};
}

struct Pooling {
  Shape kernel;
  PoolType pool_type = PoolType::max;
  bool global_pool = false, cudnn_off = false;
  Convention pooling_convention = Convention::valid;
  Shape stride, pad;
  std::optional<std::int64_t> p_value;
  std::optional<bool> count_include_pad;
  std::optional<Axes> layout;
  static constexpr auto fields = std::tuple{
      field("kernel", &Pooling::kernel, "extents of the window"),
      field("pool_type", &Pooling::pool_type, "what becomes of it"),
      field("global_pool", &Pooling::global_pool, "whether the window is all of the data"),
      field("cudnn_off", &Pooling::cudnn_off, "is taken and has no effect"),
      field("pooling_convention", &Pooling::pooling_convention,
            "whether windows may end outside of the data"),
      field("stride", &Pooling::stride, "by which the window moves; 1"),
      field("pad", &Pooling::pad, "places on both sides of the data; none"),
      field("p_value", &Pooling::p_value, "the power, for 'lp'"),
      field("count_include_pad", &Pooling::count_include_pad, "whether padding counts, for 'avg'"),
      field("layout", &Pooling::layout, "the order of the axes; channels behind the batch")};
};

void complete_pooling(Completion& completion, const Pooling& given) {
  const auto& data = completion.shapes[0];
  if (!data) return;
  if (data->size() < 3 || data->size() > 5)
    completion.refuse("data has shape " + to_string(*data) + "; it needs 3 to 5 dimensions");
  if (given.layout && space_axes(*given.layout) + 2 != data->size())
    completion.refuse("data of shape " + to_string(*data) + " does not fit the layout " +
                      std::get<std::string>(lazy::FieldType<Axes>::write(*given.layout)));
  const Shape kernel = given.global_pool ? Shape(data->size() - 2, 1) : given.kernel;
  Image image(completion, kernel, channels_last(given.layout));
  if (given.global_pool) {
    image.space = kernel;
  } else {
    // MXNet takes zeros for more axes than there are.
    const bool is_unpadded = std::ranges::all_of(given.pad, [](auto width) { return width == 0; });
    if (given.pooling_convention == Convention::same && !is_unpadded)
      completion.refuse("takes no pad with pooling_convention 'same', but got " +
                        to_string(given.pad));
    const Shape stride = for_each_axis(completion, "stride", given.stride, kernel, 1),
                pad =
                    for_each_axis(completion, "pad", is_unpadded ? Shape() : given.pad, kernel, 0);
    need_positive(completion, "kernel", kernel);
    need_positive(completion, "stride", stride);
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      if (pad[i] < 0) completion.refuse("pad is " + to_string(pad) + "; it must not be negative");
      if (image.space[i] < 0) continue;
      const std::int64_t left = image.space[i] + 2 * pad[i] - kernel[i];
      if (left < 0)
        completion.refuse("the kernel " + to_string(kernel) + " exceeds data of shape " +
                          to_string(*data));
      switch (given.pooling_convention) {
        case Convention::valid:
          image.space[i] = left / stride[i] + 1;
          break;
        case Convention::full:
          image.space[i] = (left + stride[i] - 1) / stride[i] + 1;
          break;
        case Convention::same:
          image.space[i] = (image.space[i] + stride[i] - 1) / stride[i];
          break;
      }
    }
  }
  completion.results = {image.shape(image.channels)};
}

/// Powers of float16 are float32, and the result is rounded once.
Value norm_of_windows(const Value& x, std::int64_t power, const Windows& windows) {
  const Value wide = in_type(x, compute_type(x.array.dtype));
  Value sums;
  switch (power) {
    case 1:
      return windowed(the_op<"sum_windows">(), x, windows);
    case 2:
      sums = windowed(the_op<"sum_windows">(), wide * wide, windows);
      break;
    default:
      sums = windowed(the_op<"sum_windows">(), wide * wide * wide, windows);
  }
  // Where there is nothing but zeros the gradient is zero.
  const Value is_zero = equal(sums, 0);
  const Value safe = where(is_zero, 1, sums);
  const Value root = power == 2 ? sqrt(safe) : apply(the_op<"cbrt">(), {}, safe);
  return in_type(where(is_zero, 0, root), x.array.dtype);
}

Value pooling(Composition& c, const Pooling& given) {
  const Shape result = completed(c, complete_pooling, given), shape = shape_of(c[0]);
  need_real(c);
  const bool last = channels_last(given.layout);
  const auto space = [&](const Shape& whole) {
    return Shape(whole.begin() + (last ? 1 : 2), whole.end() - (last ? 1 : 0));
  };
  const Shape sizes = space(result);
  const bool is_whole = given.global_pool;
  Windows windows = {
      .kernel = is_whole ? space(shape) : given.kernel,
      .stride = is_whole || given.stride.empty() ? Shape(sizes.size(), 1) : given.stride,
      .pad = is_whole || given.pad.size() != sizes.size() ? Shape(sizes.size(), 0) : given.pad,
      .sizes = sizes,
      .is_mean = given.pool_type == PoolType::avg,
      .counts_pad = given.count_include_pad.value_or(true),
      .channels_last = last};
  for (std::int64_t& extent : windows.kernel) extent = std::max<std::int64_t>(1, extent);
  switch (given.pool_type) {
    case PoolType::max:
      return maximum_of_windows(c[0], windows);
    case PoolType::lp:
      if (!given.p_value) c.refuse("needs p_value, for pool_type 'lp'");
      if (*given.p_value < 1 || *given.p_value > 3)
        c.refuse("p_value is " + std::to_string(*given.p_value) + "; it must be 1, 2 or 3");
      return norm_of_windows(c[0], *given.p_value, windows);
    default:
      return windowed(the_op<"sum_windows">(), c[0], windows);
  }
}

struct AdaptiveAvgPooling2D {
  Shape output_size;
  static constexpr auto fields =
      std::tuple{field("output_size", &AdaptiveAvgPooling2D::output_size,
                       "height and width of the result, or one number for both; 1")};
};

void complete_adaptive(Completion& completion, const AdaptiveAvgPooling2D& given) {
  need_rank(completion, 0, 4);
  const auto& data = completion.shapes[0];
  const Shape size = given.output_size.empty() ? Shape{1} : given.output_size;
  need_size(completion, "output_size", {size.front(), size.back()});
  if (data) completion.results = {{(*data)[0], (*data)[1], size.front(), size.back()}};
}

Value adaptive_pooling(Composition& c, const AdaptiveAvgPooling2D& given) {
  const Shape result = completed(c, complete_adaptive, given);
  need_real(c);
  return windowed(the_op<"sum_windows">(), c[0],
                  {.kernel = {1, 1},
                   .stride = {1, 1},
                   .pad = {0, 0},
                   .sizes = {result[2], result[3]},
                   .is_mean = true,
                   .is_adaptive = true});
}

struct LRN {
  double alpha = 1e-4, beta = 0.75, knorm = 2;
  std::int64_t nsize = 0;
  static constexpr auto fields =
      std::tuple{field("alpha", &LRN::alpha, "times which the squares are taken"),
                 field("beta", &LRN::beta, "the power that divides"),
                 field("knorm", &LRN::knorm, "is added to the squares"),
                 required("nsize", &LRN::nsize, "channels that are taken together")};
};

/// Each element by a power of the sum of squares of its neighbours in other channels.
Value local_response_norm(Composition& c, const LRN& given) {
  const Shape shape = shape_of(c[0]);
  need_real(c);
  if (shape.size() != 4) c.refuse("needs data of 4 dimensions");
  if (given.nsize < 1)
    c.refuse("nsize is " + std::to_string(given.nsize) + "; it must be positive");
  const Value x = in_type(contiguous(c[0]), compute_type(c[0].array.dtype));
  const Value squares = shaped(x * x, {shape[0], shape[1], shape[2] * shape[3]});
  const std::int64_t reach = (given.nsize - 1) / 2;  // to both sides, as MXNet does it
  const Value sums = windowed(the_op<"sum_windows">(), squares,
                              {.kernel = {2 * reach + 1},
                               .stride = {1},
                               .pad = {reach},
                               .sizes = {shape[1]},
                               .channels_last = true});
  const Value scale = given.knorm + sums * (given.alpha / static_cast<double>(given.nsize));
  return in_type(x * power(shaped(scale, shape), -given.beta), c[0].array.dtype);
}

// --- regions of interest ---

using kernels::RegionForm;

struct Regions {
  Shape size;
  double scale = 1;
  RegionForm form = RegionForm::greatest;
  Shape groups = {1, 1};
  std::int64_t samples = -1;
  bool shifts = false;
  static constexpr auto fields =
      std::tuple{required("size", &Regions::size, "height and width of the result"),
                 required("scale", &Regions::scale, "of the data to the image"),
                 field("form", &Regions::form, "what a part becomes"),
                 field("groups", &Regions::groups, "of parts that have channels of their own"),
                 field("samples", &Regions::samples, "along each axis of a part"),
                 field("shifts", &Regions::shifts, "whether centres of elements lie at halves")};
};

/// What the kernel needs to know beside shapes.
struct SettledRegions {
  double scale;
  std::int64_t group_rows, group_columns, samples;
  RegionForm form;
  bool shifts;
};

/// Refuses data and regions that do not fit; the shape of the result.
Shape regions_of(Inference& inference, const Regions& given, const Operand& data,
                 const Operand& regions) {
  for (const Operand& input : inference.call.inputs) {
    if (input.is_immediate() || !input.layout->is_contiguous())
      inference.refuse("needs contiguous arrays");
    if (input.dtype != data.dtype || !is_floating(input.dtype))
      inference.refuse("needs arrays of one type of real numbers", ErrorKind::type);
  }
  const std::int64_t numbers = kernels::numbers_of(given.form);
  if (data.layout->rank() != 4 || regions.layout->rank() != 2 || regions.shape()[1] != numbers)
    inference.refuse("needs images of 4 dimensions and regions of " + std::to_string(numbers) +
                     " numbers");
  if (given.size.size() != 2 || given.size[0] < 1 || given.size[1] < 1)
    inference.refuse("needs a height and a width");
  const std::int64_t parts = given.groups[0] * given.groups[1];
  if (data.shape()[1] % parts)
    inference.refuse("channels must be a multiple of " + std::to_string(parts) +
                     ", for each position its own");
  inference.call.settled.set(SettledRegions{given.scale, given.groups[0], given.groups[1],
                                            given.samples, given.form, given.shifts});
  return {regions.shape()[0], data.shape()[1] / parts, given.size[0], given.size[1]};
}

void regions_infer(Inference& inference, const Regions& given) {
  Call& call = inference.call;
  const Shape result = regions_of(inference, given, call.inputs[0], call.inputs[1]);
  const DType dtype = call.inputs[0].dtype;
  inference.add_output(result, dtype);
  call.cost = 500 + 20 * static_cast<double>(call.outputs[0].size());
}

void regions_gradient_infer(Inference& inference, const Regions& given) {
  Call& call = inference.call;
  const Shape result = regions_of(inference, given, call.inputs[1], call.inputs[2]);
  if (!std::ranges::equal(call.inputs[0].shape(), result))
    inference.refuse("needs values of shape " + to_string(result));
  const Operand data = call.inputs[1];
  inference.add_output(data.shape(), data.dtype);
  call.cost =
      500 + 20 * static_cast<double>(call.inputs[0].size()) + static_cast<double>(data.size());
}

template <bool is_gradient>
class RegionsPass : public lazy::Pass {
 public:
  explicit RegionsPass(const Call& call)
      : pass_(shape(call), call.inputs[0].dtype, call.inputs[is_gradient ? 1 : 0].data(),
              call.inputs[is_gradient ? 2 : 1].data(),
              is_gradient ? call.inputs[0].data() : nullptr, call.outputs[0].data()) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  static kernels::Regions shape(const Call& call) {
    const auto data = call.inputs[is_gradient ? 1 : 0].shape();
    const auto result = is_gradient ? call.inputs[0].shape() : call.outputs[0].shape();
    const auto settled = call.settled.get<SettledRegions>();
    return {data[0],
            data[1],
            data[2],
            data[3],
            result[0],
            result[1],
            result[2],
            result[3],
            settled.scale,
            settled.form,
            settled.group_rows,
            settled.group_columns,
            settled.samples,
            settled.shifts};
  }
  kernels::RegionsPass pass_;
};

template <bool is_gradient>
std::unique_ptr<lazy::Pass> regions_kernel(const Call& call) {
  return std::make_unique<RegionsPass<is_gradient>>(call);
}

Value through_regions(Gradient& c) {
  const auto arguments = lazy::write_arguments(c.parameters<Regions>());
  return apply(the_op<"regions_gradient">(), arguments, contiguous(c.g), c[0], c[1]);
}

/// Samples depend on data like sums do; what the greatest element of a gradient is nobody asks.
Value through_regions_gradient(Gradient& c) {
  const auto given = c.parameters<Regions>();
  if (given.form == RegionForm::greatest)
    throw Error(ErrorKind::value, "[regions_gradient] has no gradient, for ROIPooling");
  return apply(the_op<"regions">(), lazy::write_arguments(given), contiguous(c.g), c[2]);
}

Value regions(const Composition& c, const Regions& given) {
  need_real(c);
  return apply(the_op<"regions">(), lazy::write_arguments(given), contiguous(c[0]),
               contiguous(in_type(c[1], c[0].array.dtype)));
}

struct ROIPooling {
  Shape pooled_size;
  double spatial_scale = 1;
  static constexpr auto fields = std::tuple{
      required("pooled_size", &ROIPooling::pooled_size, "height and width of the result"),
      required("spatial_scale", &ROIPooling::spatial_scale, "of the data to the image")};
};

template <class Parameters>
void need_regions(const Completion& completion, const Parameters& given,
                  RegionForm form = RegionForm::greatest) {
  need_rank(completion, 0, 4);
  need_rank(completion, 1, 2);
  need_size(completion, "pooled_size", given.pooled_size);
  const std::int64_t numbers = extent_of(completion.shapes[1], 1);
  const std::int64_t needed = kernels::numbers_of(form);
  if (numbers >= 0 && numbers != needed)
    completion.refuse("rois has shape " + to_string(*completion.shapes[1]) + "; it needs " +
                      std::to_string(needed) + " numbers in each row");
}

void complete_roi_pooling(Completion& completion, const ROIPooling& given) {
  need_regions(completion, given);
  if (completion.shapes[0])
    completion.results = {{extent_of(completion.shapes[1], 0), (*completion.shapes[0])[1],
                           given.pooled_size[0], given.pooled_size[1]}};
}

Value roi_pooling(Composition& c, const ROIPooling& given) {
  completed(c, complete_roi_pooling, given);
  return regions(c, {.size = given.pooled_size, .scale = given.spatial_scale});
}

struct ROIAlign {
  Shape pooled_size;
  double spatial_scale = 1;
  std::int64_t sample_ratio = -1;
  bool position_sensitive = false, aligned = false;
  static constexpr auto fields =
      std::tuple{required("pooled_size", &ROIAlign::pooled_size, "height and width of the result"),
                 required("spatial_scale", &ROIAlign::spatial_scale, "of the data to the image"),
                 field("sample_ratio", &ROIAlign::sample_ratio,
                       "samples along each axis of a part; -1: as many as it has elements"),
                 field("position_sensitive", &ROIAlign::position_sensitive,
                       "whether parts have channels of their own"),
                 field("aligned", &ROIAlign::aligned, "whether centres of elements lie at halves")};
};

void complete_roi_align(Completion& completion, const ROIAlign& given) {
  need_regions(completion, given);
  if (!completion.shapes[0]) return;
  std::int64_t channels = (*completion.shapes[0])[1];
  const std::int64_t parts = given.pooled_size[0] * given.pooled_size[1];
  if (given.position_sensitive && channels >= 0) {
    if (channels % parts)
      completion.refuse("data has " + std::to_string(channels) +
                        " channels; it needs a multiple of " + std::to_string(parts) +
                        ", for each position its own");
    channels /= parts;
  }
  completion.results = {
      {extent_of(completion.shapes[1], 0), channels, given.pooled_size[0], given.pooled_size[1]}};
}

Value roi_align(Composition& c, const ROIAlign& given) {
  completed(c, complete_roi_align, given);
  return regions(c, {.size = given.pooled_size,
                     .scale = given.spatial_scale,
                     .form = RegionForm::sampled,
                     .groups = given.position_sensitive ? given.pooled_size : Shape{1, 1},
                     .samples = given.sample_ratio,
                     .shifts = given.aligned});
}

struct RROIAlign {
  Shape pooled_size;
  double spatial_scale = 1;
  std::int64_t sampling_ratio = -1;
  static constexpr auto fields =
      std::tuple{required("pooled_size", &RROIAlign::pooled_size, "height and width of the result"),
                 required("spatial_scale", &RROIAlign::spatial_scale, "of the data to the image"),
                 field("sampling_ratio", &RROIAlign::sampling_ratio,
                       "samples along each axis of a part; -1: as many as it has elements")};
};

void complete_turned(Completion& completion, const RROIAlign& given) {
  need_regions(completion, given, RegionForm::turned);
  if (completion.shapes[0])
    completion.results = {{extent_of(completion.shapes[1], 0), (*completion.shapes[0])[1],
                           given.pooled_size[0], given.pooled_size[1]}};
}

Value turned_regions(Composition& c, const RROIAlign& given) {
  completed(c, complete_turned, given);
  return regions(c, {.size = given.pooled_size,
                     .scale = given.spatial_scale,
                     .form = RegionForm::turned,
                     .samples = given.sampling_ratio});
}

struct PSROIPooling {
  double spatial_scale = 1;
  std::int64_t output_dim = 0, pooled_size = 0, group_size = 0;
  static constexpr auto fields = std::tuple{
      required("spatial_scale", &PSROIPooling::spatial_scale, "of the data to the image"),
      required("output_dim", &PSROIPooling::output_dim, "channels of the result"),
      required("pooled_size", &PSROIPooling::pooled_size, "height and width of the result"),
      field("group_size", &PSROIPooling::group_size,
            "groups of parts, along each axis, that have channels of their own; pooled_size")};

  std::int64_t groups() const { return group_size > 0 ? group_size : pooled_size; }
};

void complete_position_sensitive(Completion& completion, const PSROIPooling& given) {
  need_rank(completion, 0, 4);
  need_rank(completion, 1, 2);
  need_positive(completion, "pooled_size", given.pooled_size);
  need_positive(completion, "output_dim", given.output_dim);
  const std::int64_t channels = given.output_dim * given.groups() * given.groups();
  if (const std::int64_t own = extent_of(completion.shapes[0], 1); own >= 0 && own != channels)
    completion.refuse("data has " + std::to_string(own) + " channels; it needs " +
                      std::to_string(channels) + ", output_dim for each group");
  completion.results = {
      {extent_of(completion.shapes[1], 0), given.output_dim, given.pooled_size, given.pooled_size}};
}

Value position_sensitive(Composition& c, const PSROIPooling& given) {
  completed(c, complete_position_sensitive, given);
  return regions(c, {.size = {given.pooled_size, given.pooled_size},
                     .scale = given.spatial_scale,
                     .form = RegionForm::averaged,
                     .groups = {given.groups(), given.groups()}});
}

void declare_regions(Table& table) {
  table.add<Regions>({.name = "regions",
                      .inputs = {"data", "rois"},
                      .infer = regions_infer,
                      .kernel = regions_kernel<false>,
                      .may_fail = true,
                      .gradients = {reading({0, 1}, through_regions), flat}});
  table.add<Regions>({.name = "regions_gradient",
                      .inputs = {"values", "data", "rois"},
                      .infer = regions_gradient_infer,
                      .kernel = regions_kernel<true>,
                      .may_fail = true,
                      .gradients = {reading({2}, through_regions_gradient), flat, flat}});
  table.compose<PSROIPooling>(
      {.name = "PSROIPooling",
       .mxnet_names = {"_contrib_PSROIPooling"},
       .doc = R"(Return means of parts of regions of images, of channels that belong to the part.

>>> x = nd.arange(16).reshape((1, 4, 2, 2))
>>> rois = nd.array([[0, 0, 0, 1, 1]])
>>> print(nd.contrib.PSROIPooling(x, rois, 1.0, output_dim=1, pooled_size=2).asnumpy())
[[[[ 0.  5.]
   [10. 15.]]]])",
       .inputs = {"data", "rois"},
       .compose = position_sensitive,
       .complete = complete_position_sensitive});
  table.compose<RROIAlign>({.name = "RROIAlign",
                            .mxnet_names = {"_contrib_RROIAlign"},
                            .doc = R"(Return means of samples in parts of turned regions of images.

A row of ``rois`` is (number of the image, x and y of the centre, width, height, degrees).

>>> x, rois = nd.ones((1, 1, 6, 6)), nd.array([[0, 3, 3, 2, 2, 45]])
>>> nd.contrib.RROIAlign(x, rois, pooled_size=(1, 1), spatial_scale=1).asnumpy().tolist()
[[[[1.0]]]])",
                            .inputs = {"data", "rois"},
                            .compose = turned_regions,
                            .complete = complete_turned});
  table.compose<ROIPooling>({.name = "ROIPooling",
                             .mxnet_names = {"ROIPooling", "_npx_roi_pooling"},
                             .doc = R"(Return the greatest elements of parts of regions of images.

A row of ``rois`` is (number of the image, left, top, right, bottom), in the units of an image that
``spatial_scale`` brings to the data.

>>> from afterglow import nd
>>> x = nd.arange(16).reshape((1, 1, 4, 4))
>>> rois = nd.array([[0, 0, 0, 3, 3]])
>>> print(nd.ROIPooling(x, rois, pooled_size=(2, 2), spatial_scale=1).asnumpy())
[[[[ 5.  7.]
   [13. 15.]]]])",
                             .inputs = {"data", "rois"},
                             .compose = roi_pooling,
                             .complete = complete_roi_pooling,
                             .node = hide_outputs<2>});
  table.compose<ROIAlign>({.name = "ROIAlign",
                           .mxnet_names = {"_contrib_ROIAlign"},
                           .doc = R"(Return means of samples in parts of regions of images.

Samples lie between elements and are interpolated; ``sample_ratio`` says how many. A row of ``rois``
is (number of the image, left, top, right, bottom), in the units of an image that
``spatial_scale`` brings to the data.

>>> from afterglow import nd
>>> x = nd.arange(16).reshape((1, 1, 4, 4))
>>> rois = nd.array([[0, 0, 0, 2, 2]])
>>> print(nd.contrib.ROIAlign(x, rois, pooled_size=(2, 2), spatial_scale=1).asnumpy())
[[[[2.5 3.5]
   [6.5 7.5]]]])",
                           .inputs = {"data", "rois"},
                           .compose = roi_align,
                           .complete = complete_roi_align});
}

}  // namespace

void declare_pooling(Table& table) {
  declare_windows(table);
  table.compose<Pooling>(
      {.name = "Pooling",
       .mxnet_names = {"Pooling", "_npx_pooling"},
       .doc = R"(Return what becomes of the elements of a window that moves over images.

``pool_type`` is the greatest of them ("max"), their mean ("avg"), their sum, or the root of their
powers ("lp", with ``p_value``). With ``global_pool`` the window is all of the data. In the
``pooling_convention`` "full" windows may end outside of the data. Channels are the second axis, or
the last one in a ``layout`` like "NHWC".

>>> from afterglow import nd
>>> x = nd.array([[[1, 2, 3, 4]]])
>>> print(nd.Pooling(x, kernel=(2,), stride=(2,)).asnumpy())
[[[2. 4.]]]
>>> print(nd.Pooling(x, kernel=(3,), pool_type="avg", pad=(1,)).asnumpy())
[[[1.        2.        3.        2.3333333]]])",
       .inputs = {"data"},
       .compose = pooling,
       .complete = complete_pooling});
  table.compose<AdaptiveAvgPooling2D>(
      {.name = "AdaptiveAvgPooling2D",
       .mxnet_names = {"_contrib_AdaptiveAvgPooling2D"},
       .doc = R"(Return the means of the parts of images, as many as ``output_size`` says.

>>> from afterglow import nd
>>> x = nd.array([[[[1, 2, 3], [4, 5, 6]]]])
>>> print(nd.contrib.AdaptiveAvgPooling2D(x, output_size=(1, 3)).asnumpy())
[[[[2.5 3.5 4.5]]]])",
       .inputs = {"data"},
       .compose = adaptive_pooling,
       .complete = complete_adaptive});
  table.compose<LRN>({.name = "LRN",
                      .mxnet_names = {"LRN"},
                      .doc = R"(Return the elements by a power of the squares of their neighbours.

These are ``nsize`` channels around their own: the local response normalisation of AlexNet.

>>> from afterglow import nd
>>> x = nd.array([[[[3]], [[4]]]])
>>> print(nd.LRN(x, nsize=3, alpha=3, beta=0.5, knorm=0).asnumpy().ravel())
[0.6 0.8])",
                      .inputs = {"data"},
                      .compose = local_response_norm,
                      .complete = complete_as_first,
                      .in_graphs = {.alike = true},
                      .node = hide_outputs<2>});
  declare_regions(table);
}

}  // namespace afterglow::ops
