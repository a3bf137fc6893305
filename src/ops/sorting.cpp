// SPDX-License-Identifier: Apache-2.0
// Order along an axis, and places in it.
#include "kernels/sort.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "lazy/window.h"
#include "ops/common.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::Call;
using lazy::field;
using lazy::Inference;
using lazy::Operand;

constexpr std::string_view axis_doc = "along which there is an order";
constexpr std::string_view ascending_doc = "whether the least comes first";
constexpr std::string_view keep_doc = "how many of the first are kept; 0 for all";

struct Sort {
  std::int64_t axis = -1;
  bool ascending = true;
  std::int64_t keep = 0;
  static constexpr auto fields = std::tuple{field("axis", &Sort::axis, axis_doc),
                                            field("ascending", &Sort::ascending, ascending_doc),
                                            field("keep", &Sort::keep, keep_doc)};
};

struct Argsort {
  std::int64_t axis = -1;
  bool ascending = true;
  std::int64_t keep = 0;
  std::optional<DType> dtype;
  static constexpr auto fields =
      std::tuple{field("axis", &Argsort::axis, axis_doc),
                 field("ascending", &Argsort::ascending, ascending_doc),
                 field("keep", &Argsort::keep, keep_doc),
                 field("dtype", &Argsort::dtype, "of the places; int64 where none is given")};
};

struct Searchsorted {
  bool right = false;
  static constexpr auto fields = std::tuple{
      field("right", &Searchsorted::right, "whether the place is behind equal elements")};
};

struct Ordering {
  int axis;
  bool descending;
  int threads;
};

/// Adds the output, of the first `keep` elements along the axis; all of them where it is 0.
template <class Given>
void infer_sorted(Inference& inference, const Given& given, DType dtype) {
  Call& call = inference.call;
  const Operand& input = call.inputs[0];
  if (input.is_immediate()) inference.refuse("needs an array, not a number", ErrorKind::type);
  const int axis = axis_of_lines(inference, given.axis);
  const std::int64_t length = input.shape()[axis];
  const std::int64_t keep = given.keep ? given.keep : length;
  if (keep < 0 || keep > length) {
    inference.refuse("keep is " + std::to_string(keep) + ", but the axis has " +
                     std::to_string(length));
  }
  // Places travel below keys of up to 32 bits in one word.
  constexpr std::int64_t most = std::int64_t{1} << 32;
  const bool places = keep < length || std::is_same_v<Given, Argsort>;
  if (length > most && places && size_of(input.dtype) < 8) {
    inference.refuse("the axis has " + std::to_string(length) +
                     " elements; places are found among " + std::to_string(most) + " at most");
  }
  Shape shape(input.shape().begin(), input.shape().end());
  shape[axis] = keep;
  inference.add_output(shape, dtype);
  call.settled.set(Ordering{axis, !given.ascending, lazy::window().configured_threads()});
  // A search where few are kept.
  const double steps = keep * 8 < length ? 1 : 0.3 * std::log2(static_cast<double>(length) + 2);
  call.cost = 150 + steps * static_cast<double>(input.size());
}

kernels::SortResults results_of(const Call& call) {
  const auto ordering = call.settled.get<Ordering>();
  kernels::SortResults results;
  results.descending = ordering.descending;
  results.threads = ordering.threads;
  results.keep = call.outputs[0].shape()[static_cast<std::size_t>(ordering.axis)];
  return results;
}

class SortPass : public lazy::Pass {
 public:
  SortPass(const Call& call, const kernels::SortResults& results)
      : pass_(lines_of(call, call.settled.get<Ordering>().axis), results) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }
  void finish() override { pass_.finish(); }

 private:
  kernels::SortPass pass_;
};

void sort_infer(Inference& inference, const Sort& given) {
  infer_sorted(inference, given, inference.call.inputs[0].dtype);
}

std::unique_ptr<lazy::Pass> sort_kernel(const Call& call) {
  kernels::SortResults results = results_of(call);
  results.values = call.outputs[0].data();
  return std::make_unique<SortPass>(call, results);
}

void argsort_infer(Inference& inference, const Argsort& given) {
  infer_sorted(inference, given, given.dtype.value_or(DType::int64));
}

std::unique_ptr<lazy::Pass> argsort_kernel(const Call& call) {
  kernels::SortResults results = results_of(call);
  results.places = call.outputs[0].data();
  results.places_dtype = call.outputs[0].dtype;
  return std::make_unique<SortPass>(call, results);
}

void search_infer(Inference& inference, const Searchsorted& given) {
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
  call.settled.set(given);
  const double steps = std::log2(static_cast<double>(line.size()) + 2);
  call.cost = 150 + steps * static_cast<double>(values.size());
}

class Search : public lazy::Pass {
 public:
  explicit Search(const Call& call)
      : pass_({call.inputs[0].data(), call.inputs[0].dtype, 1, call.inputs[0].size(), 1},
              call.inputs[1].data(), call.inputs[1].size(), call.settled.get<Searchsorted>().right,
              reinterpret_cast<std::int64_t*>(call.outputs[0].data())) {}
  int shares() const override { return pass_.shares(); }
  void run(int share) override { pass_.run(share); }

 private:
  kernels::SearchPass pass_;
};

// --- gradients ---

/// The gradient of each element that was kept, and zeros for the others.
Value put_where_sorted(Gradient& c) {
  static const lazy::Op& argsort = op_named("argsort");
  static const lazy::Op& gather = op_named("gather");
  const auto given = c.parameters<Sort>();
  const auto rank = static_cast<std::int64_t>(c.shape(0).size());
  const std::int64_t axis = given.axis < 0 ? given.axis + rank : given.axis;
  const std::int64_t depth = c.g.array.shape()[static_cast<std::size_t>(axis)];
  const Argsort order{axis, given.ascending, 0, {}}, places{axis, true, 0, {}};
  const Value ranks = apply(argsort, lazy::write_arguments(places),
                            apply(argsort, lazy::write_arguments(order), c[0]));
  autograd::CallBuilder builder(gather, false);
  const std::vector<Value> lines = indices_along(c.shape(0), axis, minimum(ranks, depth - 1));
  builder.add(c.g);
  for (const Value& line : lines) builder.add(line);
  const lazy::Argument arguments[] = {std::int64_t{0}, std::string("clip")};
  const Value found = builder.issue({arguments, {}, nullptr});
  return where(ranks < depth, found, 0);
}

}  // namespace

void declare_sorting(Table& table) {
  table.add<Sort>({.name = "sort",
                   .mxnet_names = {"sort"},
                   .inputs = {"data"},
                   .infer = sort_infer,
                   .kernel = sort_kernel,
                   .gradients = {reading({0}, put_where_sorted)}});
  table.add<Argsort>({.name = "argsort",
                      .mxnet_names = {"argsort", "topk", "_npi_argsort"},
                      .inputs = {"data"},
                      .infer = argsort_infer,
                      .kernel = argsort_kernel,
                      .gradients = {no_gradient}});
  table.add<Searchsorted>({.name = "searchsorted",
                           .mxnet_names = {"_npi_searchsorted"},
                           .inputs = {"a", "v"},
                           .infer = search_infer,
                           .kernel = [](const Call& call) -> std::unique_ptr<lazy::Pass> {
                             return std::make_unique<Search>(call);
                           },
                           .gradients = {no_gradient}});
}

}  // namespace afterglow::ops
