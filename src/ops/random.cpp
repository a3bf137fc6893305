// SPDX-License-Identifier: Apache-2.0
// Random numbers. Key and counter are drawn when the call is issued, so that the numbers depend on
// the seed and the order of statements only.
#include "kernels/random.h"

#include "lazy/random_stream.h"
#include "ops/common.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::Inference;

class RandomPass : public lazy::Pass {
 public:
  RandomPass(const Call& call, kernels::Distribution distribution) {
    fill_.distribution = distribution;
    fill_.first = call.attributes[0].number;
    fill_.second = call.attributes[1].number;
    fill_.key = static_cast<std::uint64_t>(call.attributes[2].integer);
    fill_.counter = static_cast<std::uint64_t>(call.attributes[3].integer);
    fill_.output = call.outputs[0].data();
    fill_.dtype = call.outputs[0].dtype;
    fill_.size = call.outputs[0].size();
  }
  int shares() const override { return fill_.size ? kernels::share_count(fill_) : 0; }
  void run(int share) override { kernels::run_share(fill_, share); }

 private:
  kernels::RandomFill fill_;
};

template <kernels::Distribution distribution>
void infer(Inference& inference) {
  const DType dtype = dtype_argument(inference, "dtype", DType::float32);
  if (!is_floating(dtype)) {
    inference.refuse(std::string("needs a floating type, not ") + name_of(dtype), ErrorKind::type);
  }
  const auto& parameters = inference.op.parameters;
  const double first = inference.number(parameters[0].name);
  const double second = inference.number(parameters[1].name);
  if (distribution == kernels::Distribution::normal && !(second >= 0)) {
    inference.refuse("the standard deviation is " + std::to_string(second) +
                     "; it must not be negative");
  }
  inference.add_output(inference.shape("shape"), dtype);
  kernels::RandomFill fill;
  fill.distribution = distribution;
  fill.dtype = dtype;
  fill.size = inference.call.outputs[0].size();
  const lazy::Draw draw = lazy::draw_random(inference.context, kernels::counters_used(fill));
  inference.call.attributes[0].number = first;
  inference.call.attributes[1].number = second;
  inference.call.attributes[2].integer = static_cast<std::int64_t>(draw.key);
  inference.call.attributes[3].integer = static_cast<std::int64_t>(draw.counter);
  inference.call.cost = 200 + 2.0 * static_cast<double>(fill.size);
}

template <kernels::Distribution distribution>
std::unique_ptr<lazy::Pass> kernel(const Call& call) {
  return std::make_unique<RandomPass>(call, distribution);
}

}  // namespace

void declare_random(Table& table) {
  using kernels::Distribution;
  table.add({.name = "random_uniform",
             .mxnet_names = {"_random_uniform", "random_uniform", "uniform", "_npi_uniform"},
             .parameters = {{"low", 0.0}, {"high", 1.0}, {"shape"}, {"dtype"}},
             .infer = infer<Distribution::uniform>,
             .kernel = kernel<Distribution::uniform>});
  table.add({.name = "random_normal",
             .mxnet_names = {"_random_normal", "random_normal", "normal", "_npi_normal"},
             .parameters = {{"loc", 0.0}, {"scale", 1.0}, {"shape"}, {"dtype"}},
             .infer = infer<Distribution::normal>,
             .kernel = kernel<Distribution::normal>});
}

}  // namespace afterglow::ops
