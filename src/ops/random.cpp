// SPDX-License-Identifier: Apache-2.0
// Random numbers: what has a kernel. Key and counter are drawn when the call is issued, so that the
// numbers depend on the seed and the order of statements only. The distributions that programs know
// are made of these in distributions.cpp.
#include "kernels/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/samplers.h"
#include "lazy/immediate.h"
#include "lazy/random_stream.h"
#include "ops/common.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

constexpr std::string_view shape_doc = "of the result";
constexpr std::string_view dtype_doc = "of the result; float32 where none is given";

/// Takes the call's place in the stream.
void draw(Inference& inference, std::uint64_t counters) {
  lazy::draw_random(inference.call, inference.context, counters);
}

kernels::RandomStart start_of(const Call& call) {
  return {call.drawn.key, call.drawn.counter};
}

/// A fill of src/kernels as a pass.
template <class Fill>
class FillPass : public lazy::Pass {
 public:
  FillPass(Fill fill, std::int64_t size) : fill_(std::move(fill)), size_(size) {}
  int shares() const override { return size_ ? kernels::share_count(fill_) : 0; }
  void run(int share) override { kernels::run_share(fill_, share); }

 private:
  Fill fill_;
  std::int64_t size_;
};

/// With the place in the stream, and the result to fill.
template <class Fill>
std::unique_ptr<lazy::Pass> pass_of(Fill fill, const Call& call) {
  const Operand& output = call.outputs[0];
  if constexpr (requires { fill.start; }) fill.start = start_of(call);
  fill.output = reinterpret_cast<decltype(fill.output)>(output.data());
  if constexpr (requires { fill.dtype; }) fill.dtype = output.dtype;
  if constexpr (requires { fill.size; }) fill.size = output.size();
  return std::make_unique<FillPass<Fill>>(std::move(fill), output.size());
}

/// The kernels read their arrays as they lie in memory.
const Operand& need_array(const Inference& inference, int input) {
  const Operand& operand = inference.call.inputs[input];
  if (operand.is_immediate()) inference.refuse("needs an array, not a number", ErrorKind::type);
  if (!operand.layout->is_contiguous()) inference.refuse("needs a contiguous array");
  return operand;
}

DType floating_type(const Inference& inference, std::optional<DType> given) {
  const DType dtype = given.value_or(DType::float32);
  if (!is_floating(dtype)) {
    inference.refuse(std::string("needs a floating type, not ") + name_of(dtype), ErrorKind::type);
  }
  return dtype;
}

// --- uniform, normal, exponential: one formula for each number ---

struct FillUniform {
  double low = 0;
  double high = 1;
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("low", &FillUniform::low, "the least number"),
                 field("high", &FillUniform::high, "what all numbers are less than"),
                 required("shape", &FillUniform::shape, shape_doc),
                 field("dtype", &FillUniform::dtype, dtype_doc)};
};

struct FillNormal {
  double loc = 0;
  double scale = 1;
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("loc", &FillNormal::loc, "the mean"),
                 field("scale", &FillNormal::scale, "the standard deviation"),
                 required("shape", &FillNormal::shape, shape_doc),
                 field("dtype", &FillNormal::dtype, dtype_doc)};
};

struct FillExponential {
  double scale = 1;
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields = std::tuple{field("scale", &FillExponential::scale, "the mean"),
                                            required("shape", &FillExponential::shape, shape_doc),
                                            field("dtype", &FillExponential::dtype, dtype_doc)};
};

/// The parameters of a distribution, as kernels::RandomFill has them.
struct Drawing {
  double first, second;
};

void infer_fill(Inference& inference, kernels::Distribution distribution, Drawing drawing,
                const Shape& shape, DType dtype) {
  inference.add_output(shape, dtype);
  kernels::RandomFill fill;
  fill.distribution = distribution;
  fill.dtype = dtype;
  fill.size = inference.call.outputs[0].size();
  inference.call.settled.set(drawing);
  draw(inference, kernels::counters_used(fill));
  inference.call.cost = 200 + 2.0 * static_cast<double>(fill.size);
}

void uniform_infer(Inference& inference, const FillUniform& given) {
  infer_fill(inference, kernels::Distribution::uniform, {given.low, given.high}, given.shape,
             floating_type(inference, given.dtype));
}

void normal_infer(Inference& inference, const FillNormal& given) {
  const DType dtype = floating_type(inference, given.dtype);
  if (!(given.scale >= 0)) {
    inference.refuse("the standard deviation is " + std::to_string(given.scale) +
                     "; it must not be negative");
  }
  infer_fill(inference, kernels::Distribution::normal, {given.loc, given.scale}, given.shape,
             dtype);
}

void exponential_infer(Inference& inference, const FillExponential& given) {
  const DType dtype = floating_type(inference, given.dtype);
  if (!(given.scale >= 0)) {
    inference.refuse("the scale is " + std::to_string(given.scale) + "; it must not be negative");
  }
  infer_fill(inference, kernels::Distribution::exponential, {given.scale, 0}, given.shape, dtype);
}

template <kernels::Distribution distribution>
std::unique_ptr<lazy::Pass> kernel(const Call& call) {
  kernels::RandomFill fill;
  fill.distribution = distribution;
  fill.first = call.settled.get<Drawing>().first;
  fill.second = call.settled.get<Drawing>().second;
  fill.key = start_of(call).key;
  fill.counter = start_of(call).counter;
  return pass_of(fill, call);
}

// --- gamma, Poisson: the parameter is a number, or one float64 for each element ---

struct FillSample {
  std::optional<Shape> shape;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("shape", &FillSample::shape, "of the result, where the input is a number"),
                 field("dtype", &FillSample::dtype, dtype_doc)};
};

void sample_infer(Inference& inference, const FillSample& given) {
  const DType dtype = floating_type(inference, given.dtype);
  Operand& parameter = inference.call.inputs[0];
  if (parameter.is_immediate()) {
    inference.add_output(need_shape(inference, given.shape), dtype);
    settle(inference, parameter, DType::float64);
  } else {
    need_array(inference, 0);
    if (parameter.dtype != DType::float64) {
      inference.refuse("needs its parameter in float64", ErrorKind::type);
    }
    inference.add_output(parameter.shape(), dtype);
  }
  kernels::SampleFill fill;
  fill.size = inference.call.outputs[0].size();
  draw(inference, kernels::counters_used(fill));
  inference.call.cost = 300 + 60.0 * static_cast<double>(fill.size);
}

template <kernels::Sampler sampler>
std::unique_ptr<lazy::Pass> sample_kernel(const Call& call) {
  const Operand& parameter = call.inputs[0];
  kernels::SampleFill fill;
  fill.sampler = sampler;
  if (parameter.is_immediate())
    std::memcpy(&fill.parameter, parameter.immediate.data(), sizeof(double));
  else
    fill.parameters = reinterpret_cast<const double*>(parameter.data());
  return pass_of(fill, call);
}

// --- integers ---

struct FillIntegers {
  std::int64_t low, high;
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{required("low", &FillIntegers::low, "the least number"),
                 required("high", &FillIntegers::high, "what all numbers are less than"),
                 required("shape", &FillIntegers::shape, shape_doc),
                 field("dtype", &FillIntegers::dtype, "int32, which is taken for none, or int64")};
};

struct Range {
  std::int64_t low, high;
};

void integers_infer(Inference& inference, const FillIntegers& given) {
  const DType dtype = given.dtype.value_or(DType::int32);
  if (dtype != DType::int32 && dtype != DType::int64) {
    inference.refuse(std::string("gives int32 or int64, not ") + name_of(dtype), ErrorKind::type);
  }
  const Range range = {given.low, given.high};
  if (range.low >= range.high) {
    inference.refuse("low is " + std::to_string(range.low) + ", high is " +
                     std::to_string(range.high) + "; low must be less than high");
  }
  inference.add_output(given.shape, dtype);
  kernels::IntegerFill fill;
  fill.size = inference.call.outputs[0].size();
  inference.call.settled.set(range);
  draw(inference, kernels::counters_used(fill));
  inference.call.cost = 200 + 2.5 * static_cast<double>(fill.size);
}

std::unique_ptr<lazy::Pass> integers_kernel(const Call& call) {
  const auto [low, high] = call.settled.get<Range>();
  kernels::IntegerFill fill;
  fill.low = low;
  fill.range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return pass_of(fill, call);
}

// --- categories ---

struct FillCategories {
  Shape shape;
  std::optional<DType> dtype;
  static constexpr auto fields = std::tuple{
      required("shape", &FillCategories::shape, "of what is drawn for each row"),
      field("dtype", &FillCategories::dtype, "of the result; int32 where none is given")};
};

struct Categories {
  std::int64_t samples;  ///< for each row
};

/// What infer and kernel both need of a drawing of categories.
kernels::CategoryFill category_fill(const Operand& data, std::int64_t samples) {
  kernels::CategoryFill fill;
  fill.probability_type = data.dtype;
  fill.categories = data.shape().back();
  fill.samples = samples;
  fill.rows = fill.categories ? data.size() / fill.categories : 0;
  return fill;
}

void category_infer(Inference& inference, const FillCategories& given) {
  const Operand& data = need_array(inference, 0);
  if (!is_floating(data.dtype)) {
    inference.refuse("needs probabilities of a floating type", ErrorKind::type);
  }
  if (!data.layout->rank() || !data.shape().back()) {
    inference.refuse("needs a probability for at least one category");
  }
  Shape shape(data.shape().begin(), data.shape().end() - 1);
  const std::size_t rows = shape.size();
  for (std::int64_t extent : given.shape) shape.push_back(extent);
  const std::int64_t samples = element_count(std::span(shape).subspan(rows));
  const kernels::CategoryFill fill = category_fill(data, samples);
  inference.add_output(shape, given.dtype.value_or(DType::int32));
  inference.call.settled.set(Categories{samples});
  draw(inference, kernels::counters_used(fill));
  inference.call.cost = 300 + 2.0 * static_cast<double>(fill.rows * fill.categories) +
                        20.0 * static_cast<double>(fill.rows * samples);
}

std::unique_ptr<lazy::Pass> category_kernel(const Call& call) {
  kernels::CategoryFill fill =
      category_fill(call.inputs[0], call.settled.get<Categories>().samples);
  fill.probabilities = call.inputs[0].data();
  return pass_of(fill, call);
}

// --- how often each category comes up ---

struct FillCounts {
  std::int64_t n;
  Shape shape;
  static constexpr auto fields =
      std::tuple{required("n", &FillCounts::n, "how often a category is drawn for a row"),
                 required("shape", &FillCounts::shape, "of the rows of counts")};
};

struct Trials {
  std::int64_t count, rows;
};

void count_infer(Inference& inference, const FillCounts& given) {
  const Operand& pvals = need_array(inference, 0);
  if (pvals.dtype != DType::float64 || pvals.layout->rank() != 1 || !pvals.size()) {
    inference.refuse("needs one row of probabilities in float64");
  }
  const std::int64_t trials = given.n;
  if (trials < 0) {
    inference.refuse("n is " + std::to_string(trials) + "; it must not be negative");
  }
  const std::int64_t categories = pvals.size();
  Shape shape = given.shape;
  shape.push_back(categories);
  inference.add_output(shape, DType::int64);
  kernels::CountFill fill;
  fill.trials = trials;
  fill.categories = categories;
  fill.rows = inference.call.outputs[0].size() / categories;
  inference.call.settled.set(Trials{trials, fill.rows});
  draw(inference, kernels::counters_used(fill));
  const double per_row = kernels::counts_trials(fill)
                             ? static_cast<double>(categories + 10 * trials)
                             : 200.0 * static_cast<double>(categories);
  inference.call.cost = 300 + static_cast<double>(fill.rows) * per_row;
}

std::unique_ptr<lazy::Pass> count_kernel(const Call& call) {
  const auto* pvals = reinterpret_cast<const double*>(call.inputs[0].data());
  kernels::CountFill fill;
  double sum = 0;
  for (std::int64_t i = 0; i < call.inputs[0].size(); ++i) {
    if (!(pvals[i] >= 0)) {
      throw Error(ErrorKind::value, "probability " + std::to_string(i) + " is " +
                                        std::to_string(pvals[i]) + "; it must not be negative");
    }
    if (i) fill.sums.push_back(sum);
    sum += pvals[i];
  }
  // Probabilities in float32 sum up to 1 within their precision only.
  if (sum > 1 + 1e-5) {
    throw Error(ErrorKind::value,
                "the probabilities sum up to " + std::to_string(sum) + "; they must not exceed 1");
  }
  fill.trials = call.settled.get<Trials>().count;
  fill.categories = call.inputs[0].size();
  fill.rows = call.settled.get<Trials>().rows;
  return pass_of(std::move(fill), call);
}

// --- different integers ---

struct UniqueZipfian {
  std::int64_t range_max = 0;
  Shape shape;
  static constexpr auto fields =
      std::tuple{required("range_max", &UniqueZipfian::range_max, "what all numbers are less than"),
                 required("shape", &UniqueZipfian::shape, "rows, and different numbers of each")};
};

void unique_infer(Inference& inference, const UniqueZipfian& given) {
  const Shape& shape = given.shape;
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
    inference.refuse("shape is " + to_string(shape) + "; rows and numbers of each are needed");
  if (shape[1] > given.range_max)
    inference.refuse("there are only " + std::to_string(given.range_max) + " different numbers");
  inference.add_output(shape, DType::int64);
  inference.add_output(Shape{shape[0]}, DType::int64);
  inference.call.settled.set(given.range_max);
  draw(inference, kernels::counters_used(kernels::UniqueFill{.rows = shape[0]}));
  inference.call.cost = 300 + 200 * static_cast<double>(inference.call.outputs[0].size());
}

std::unique_ptr<lazy::Pass> unique_kernel(const Call& call) {
  kernels::UniqueFill fill;
  fill.range = call.settled.get<std::int64_t>();
  fill.rows = call.outputs[0].shape()[0];
  fill.samples = call.outputs[0].shape()[1];
  fill.tries = reinterpret_cast<std::int64_t*>(call.outputs[1].data());
  return pass_of(std::move(fill), call);
}

// --- shuffling along the first axis ---

template <class Index>
class ShufflePass : public lazy::Pass {
 public:
  ShufflePass(const Call& call, std::vector<Index> order)
      : source_(call.inputs[0].data()), target_(call.outputs[0].data()), order_(std::move(order)) {
    if (order_.empty()) return;
    row_bytes_ = call.outputs[0].size() / static_cast<std::int64_t>(order_.size()) *
                 static_cast<std::int64_t>(size_of(call.outputs[0].dtype));
    rows_per_share_ = std::max<std::int64_t>(1, share_bytes / row_bytes_);
  }
  int shares() const override {
    const auto rows = static_cast<std::int64_t>(order_.size());
    return static_cast<int>((rows + rows_per_share_ - 1) / rows_per_share_);
  }
  void run(int share) override {
    const std::int64_t begin = share * rows_per_share_;
    const std::int64_t end =
        std::min(static_cast<std::int64_t>(order_.size()), begin + rows_per_share_);
    if (row_bytes_ == 8) return move_words<std::uint64_t>(begin, end);
    if (row_bytes_ == 4) return move_words<std::uint32_t>(begin, end);
    for (std::int64_t row = begin; row < end; ++row) {
      std::memcpy(target_ + row * row_bytes_, source_ + place(row) * row_bytes_,
                  static_cast<std::size_t>(row_bytes_));
    }
  }

 private:
  static constexpr std::int64_t share_bytes = 1 << 19;

  std::int64_t place(std::int64_t row) const {
    return static_cast<std::int64_t>(order_[static_cast<std::size_t>(row)]);
  }

  template <class Word>
  void move_words(std::int64_t begin, std::int64_t end) const {
    const auto* source = reinterpret_cast<const Word*>(source_);
    auto* target = reinterpret_cast<Word*>(target_);
    for (std::int64_t row = begin; row < end; ++row) target[row] = source[place(row)];
  }

  const std::byte* source_;
  std::byte* target_;
  std::vector<Index> order_;
  std::int64_t row_bytes_ = 0;
  std::int64_t rows_per_share_ = 1;
};

std::unique_ptr<lazy::Pass> shuffle_kernel(const Call& call) {
  const std::int64_t rows = call.outputs[0].size() ? call.outputs[0].shape()[0] : 0;
  if (rows <= std::numeric_limits<std::uint32_t>::max()) {
    return std::make_unique<ShufflePass<std::uint32_t>>(
        call, kernels::permutation(start_of(call), static_cast<std::uint32_t>(rows)));
  }
  return std::make_unique<ShufflePass<std::int64_t>>(
      call, kernels::long_permutation(start_of(call), rows));
}

void shuffle_infer(Inference& inference) {
  const Operand& data = need_array(inference, 0);
  if (!data.layout->rank()) inference.refuse("needs an array with at least one dimension");
  const std::int64_t rows = data.shape()[0];
  const double bytes = static_cast<double>(data.size()) * static_cast<double>(size_of(data.dtype));
  inference.add_output(data.shape(), data.dtype);
  draw(inference, kernels::counters_of_permutation(rows));
  inference.call.cost = 200 + 8.0 * static_cast<double>(rows) + 0.2 * bytes;
}

// --- parameters given as arrays ---

struct CheckParameter {
  double lowest = 0;
  bool strict = false;
  double highest = std::numeric_limits<double>::infinity();
  static constexpr auto fields =
      std::tuple{field("lowest", &CheckParameter::lowest, "the least value"),
                 field("strict", &CheckParameter::strict, "whether all must be greater than it"),
                 field("highest", &CheckParameter::highest, "the greatest value")};
};

/// Hands on an array whose elements must stay within bounds; a failure shows at the read.
class CheckPass : public lazy::Pass {
 public:
  explicit CheckPass(const Call& call) : call_(call) {}
  int shares() const override { return call_.inputs[0].size() ? 1 : 0; }
  void run(int) override {
    const Operand& data = call_.inputs[0];
    const auto* values = reinterpret_cast<const double*>(data.data());
    const auto [lowest, strict, highest] = call_.settled.get<CheckParameter>();
    for (std::int64_t i = 0; i < data.size(); ++i) {
      const double value = values[i];
      if (value < lowest || value > highest || (strict && value == lowest)) {
        throw Error(ErrorKind::value,
                    "a parameter is " + std::to_string(value) + "; it must be " +
                        (strict ? "greater than " : "at least ") + std::to_string(lowest) +
                        (std::isinf(highest) ? "" : " and at most " + std::to_string(highest)));
      }
    }
    std::memcpy(call_.outputs[0].data(), values,
                static_cast<std::size_t>(data.size()) * sizeof(double));
  }

 private:
  const Call& call_;
};

void check_infer(Inference& inference, const CheckParameter& given) {
  const Operand& data = need_array(inference, 0);
  if (data.dtype != DType::float64) inference.refuse("needs float64", ErrorKind::type);
  inference.call.settled.set(given);
  inference.call.cost = 100 + static_cast<double>(data.size());
  inference.add_output(data.shape(), data.dtype);
}

/// A copy in random order; for a number, the integers below it.
Value permutation(Composition& c) {
  const lazy::Op& shuffle = the_op<"shuffle">();
  if (!c[0].is_number()) return apply(shuffle, {}, c[0]);
  if (!c[0].is_integer() || c[0].integer() < 0)
    c.refuse("needs an array, or an integer that is not negative",
             c[0].is_integer() ? ErrorKind::value : ErrorKind::type);
  return apply(shuffle, {}, count_up(c[0].integer(), DType::int64, c.context()));
}

}  // namespace

void declare_random(Table& table) {
  using kernels::Distribution;
  using kernels::Sampler;
  table.add<FillUniform>(
      {.name = "fill_uniform", .infer = uniform_infer, .kernel = kernel<Distribution::uniform>});
  table.add<FillNormal>(
      {.name = "fill_normal", .infer = normal_infer, .kernel = kernel<Distribution::normal>});
  table.add<FillExponential>({.name = "fill_exponential",
                              .infer = exponential_infer,
                              .kernel = kernel<Distribution::exponential>});
  table.add<FillSample>({.name = "fill_gamma",
                         .inputs = {"alpha"},
                         .infer = sample_infer,
                         .kernel = sample_kernel<Sampler::gamma>,
                         .gradients = {no_gradient}});
  table.add<FillSample>({.name = "fill_poisson",
                         .inputs = {"lam"},
                         .infer = sample_infer,
                         .kernel = sample_kernel<Sampler::poisson>,
                         .gradients = {no_gradient}});
  table.add<FillIntegers>(
      {.name = "fill_integers", .infer = integers_infer, .kernel = integers_kernel});
  table.add<FillCategories>({.name = "fill_categories",
                             .mxnet_names = {"_npi_choice"},
                             .inputs = {"data"},
                             .infer = category_infer,
                             .kernel = category_kernel,
                             .gradients = {no_gradient}});
  table.add<FillCounts>({.name = "fill_counts",
                         .mxnet_names = {"_npi_multinomial"},
                         .inputs = {"pvals"},
                         .infer = count_infer,
                         .kernel = count_kernel,
                         .may_fail = true,
                         .gradients = {no_gradient}});
  table.add<UniqueZipfian>(
      {.name = "sample_unique_zipfian",
       .mxnet_names = {"_sample_unique_zipfian"},
       .doc = "Return rows of different integers, small ones more likely, and how many were drawn.",
       .infer = unique_infer,
       .kernel = unique_kernel,
       .in_graphs = {.is_random = true},
       .node = [](NodeForm& node) { node.outputs = lazy::numbered_outputs(2); }});
  table.add({.name = "shuffle",
             .mxnet_names = {"_shuffle", "shuffle"},
             .doc = R"(Return a copy with the rows, along the first axis, in random order.

>>> nd.shuffle(nd.ones((2, 2))).shape
(2, 2))",
             .inputs = {"data"},
             .infer = shuffle_infer,
             .kernel = shuffle_kernel,
             .gradients = {no_gradient}});
  table.add(
      {.name = "permutation",
       .spellings = {"np.random.permutation(x)"},
       .doc = R"(Return a copy in random order; for a number, the integers below it in random order.

>>> np.random.permutation(10).sum()
array(45, dtype=int64))",
       .inputs = {"x"},
       .takes_numbers = true,
       .compose = permutation});
  table.add<CheckParameter>({.name = "check_parameter",
                             .inputs = {"data"},
                             .infer = check_infer,
                             .kernel = pass_of_call<CheckPass>,
                             .may_fail = true,
                             .gradients = {reading_nothing([](Gradient& c) { return c.g; })}});
}

}  // namespace afterglow::ops
