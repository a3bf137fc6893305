// SPDX-License-Identifier: Apache-2.0
// Order along an axis, and places in it.
#include "kernels/sort.h"

#include <algorithm>
#include <cmath>

#include "lazy/window.h"
#include "ops/common.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::Inference;
using lazy::Operand;

/// Adds the output, of the first `keep` elements along the axis; all of them where it is 0.
void infer_sorted(Inference& inference, DType dtype) {
  Call& call = inference.call;
  const Operand& input = call.inputs[0];
  if (input.is_immediate()) inference.refuse("needs an array, not a number", ErrorKind::type);
  const int axis = axis_of_lines(inference);
  const std::int64_t length = input.shape()[axis], wanted = inference.integer("keep");
  const std::int64_t keep = wanted ? wanted : length;
  if (keep < 0 || keep > length) {
    inference.refuse("keep is " + std::to_string(keep) + ", but the axis has " +
                     std::to_string(length));
  }
  // Places travel below keys of up to 32 bits in one word.
  constexpr std::int64_t most = std::int64_t{1} << 32;
  const bool places = keep < length || inference.op.name == "argsort";
  if (length > most && places && size_of(input.dtype) < 8) {
    inference.refuse("the axis has " + std::to_string(length) +
                     " elements; places are found among " + std::to_string(most) + " at most");
  }
  Shape shape(input.shape().begin(), input.shape().end());
  shape[axis] = keep;
  inference.add_output(shape, dtype);
  call.attributes[1].integer = !inference.boolean("ascending");
  call.attributes[2].integer = lazy::window().configured_threads();
  // A search where few are kept.
  const double steps = keep * 8 < length ? 1 : 0.3 * std::log2(static_cast<double>(length) + 2);
  call.cost = 150 + steps * static_cast<double>(input.size());
}

kernels::SortResults results_of(const Call& call) {
  kernels::SortResults results;
  results.descending = call.attributes[1].integer != 0;
  results.threads = static_cast<int>(call.attributes[2].integer);
  results.keep = call.outputs[0].shape()[static_cast<std::size_t>(call.attributes[0].integer)];
  return results;
}

class Sort : public lazy::Pass {
 public:
  Sort(const Call& call, const kernels::SortResults& results) : pass_(lines_of(call), results) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }
  void finish() override { pass_.finish(); }

 private:
  kernels::SortPass pass_;
};

void sort_infer(Inference& inference) {
  infer_sorted(inference, inference.call.inputs[0].dtype);
}

std::unique_ptr<lazy::Pass> sort_kernel(const Call& call) {
  kernels::SortResults results = results_of(call);
  results.values = call.outputs[0].data();
  return std::make_unique<Sort>(call, results);
}

void argsort_infer(Inference& inference) {
  infer_sorted(inference, dtype_argument(inference, "dtype", DType::int64));
}

std::unique_ptr<lazy::Pass> argsort_kernel(const Call& call) {
  kernels::SortResults results = results_of(call);
  results.places = call.outputs[0].data();
  results.places_dtype = call.outputs[0].dtype;
  return std::make_unique<Sort>(call, results);
}

void search_infer(Inference& inference) {
  Call& call = inference.call;
  const Operand &line = call.inputs[0], &values = call.inputs[1];
  if (line.is_immediate() || values.is_immediate()) {
    inference.refuse("needs arrays, not numbers", ErrorKind::type);
  }
  if (line.layout->rank() != 1) inference.refuse("a must have one dimension");
  if (line.dtype != values.dtype) inference.refuse("both must have the same type", ErrorKind::type);
  if (!line.layout->is_contiguous() || !values.layout->is_contiguous()) {
    inference.refuse("needs contiguous arrays");
  }
  inference.add_output(values.shape(), DType::int64);
  call.attributes[0].integer = inference.boolean("right");
  const double steps = std::log2(static_cast<double>(line.size()) + 2);
  call.cost = 150 + steps * static_cast<double>(values.size());
}

class Search : public lazy::Pass {
 public:
  explicit Search(const Call& call)
      : pass_({call.inputs[0].data(), call.inputs[0].dtype, 1, call.inputs[0].size(), 1},
              call.inputs[1].data(), call.inputs[1].size(), call.attributes[0].integer != 0,
              reinterpret_cast<std::int64_t*>(call.outputs[0].data())) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  kernels::SearchPass pass_;
};

}  // namespace

void declare_sorting(Table& table) {
  table.add(
      {.name = "sort",
       .mxnet_names = {"sort"},
       .inputs = {"data"},
       .parameters = {{"axis", std::int64_t{-1}}, {"ascending", true}, {"keep", std::int64_t{0}}},
       .infer = sort_infer,
       .kernel = sort_kernel});
  table.add({.name = "argsort",
             .mxnet_names = {"argsort", "topk", "_npi_argsort"},
             .inputs = {"data"},
             .parameters = {{"axis", std::int64_t{-1}},
                            {"ascending", true},
                            {"keep", std::int64_t{0}},
                            {"dtype"}},
             .infer = argsort_infer,
             .kernel = argsort_kernel});
  table.add({.name = "searchsorted",
             .mxnet_names = {"_npi_searchsorted"},
             .inputs = {"a", "v"},
             .parameters = {{"right", false}},
             .infer = search_infer,
             .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
               return std::make_unique<Search>(call);
             }});
}

}  // namespace afterglow::ops
