// SPDX-License-Identifier: Apache-2.0
// Updates whose rate follows from the norms of a whole weight and of its gradient: LAMB and LARS.
#include <string>
#include <tuple>
#include <vector>

#include "ops/completing.h"
#include "ops/updates.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

// --- LAMB ---

/// The direction in which LAMB goes.
Value lamb_direction(const Composition& c, const Row& row, const Scaling& scaling,
                     const Betas& betas, double wd, bool bias_correction, double count) {
  const auto share = [&](double decay) {
    return bias_correction ? share_reached(c, decay, count) : 1;
  };
  const double first = share(betas.beta1), second = share(betas.beta2);
  follow_moments(row, scaling(row.gradient()), betas);
  const Value mean = row.state(0) / first, variance = row.state(1) / second;
  return plus(mean / (sqrt(variance) + betas.epsilon), wd, row.weight());
}

/// The rate of LAMB, from the norms of weight and direction.
Value lamb_rate(double lr, Value size, const Value& length, double lower, double upper) {
  if (lower >= 0) size = maximum(size, lower);
  if (upper >= 0) size = minimum(size, upper);
  return lr * where((size > 0) * (length > 0), size / length, 1.0);
}

Value norm_of(const Value& x) {
  const lazy::Op& op = the_op<"norm2">();
  return apply(op, op.defaults, x);
}

struct LambDirection {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;
  std::int64_t t = 0;
  bool bias_correction = true;
  double wd = 0, rescale_grad = 1, clip_gradient = -1;
  static constexpr auto fields =
      std::tuple{field("beta1", &LambDirection::beta1, beta1_doc),
                 field("beta2", &LambDirection::beta2, beta2_doc),
                 field("epsilon", &LambDirection::epsilon, epsilon_doc),
                 required("t", &LambDirection::t, "the number of the update, from 1"),
                 field("bias_correction", &LambDirection::bias_correction,
                       "whether the means are corrected for their start at zero"),
                 required("wd", &LambDirection::wd, wd_doc),
                 field("rescale_grad", &LambDirection::rescale_grad, rescale_doc),
                 field("clip_gradient", &LambDirection::clip_gradient, clip_doc)};
};

template <bool is_mixed>
Value lamb_update_phase1(Composition& c, const LambDirection& given) {
  return lamb_direction(c, Row(c, 0, 4 + is_mixed, is_mixed),
                        {given.rescale_grad, given.clip_gradient},
                        {given.beta1, given.beta2, given.epsilon}, given.wd, given.bias_correction,
                        static_cast<double>(given.t));
}

struct LambStep {
  double lr, lower_bound = -1, upper_bound = -1;
  static constexpr auto fields =
      std::tuple{required("lr", &LambStep::lr, lr_doc),
                 field("lower_bound", &LambStep::lower_bound, "of the norm of the weight"),
                 field("upper_bound", &LambStep::upper_bound, "of the norm of the weight")};
};

template <bool is_mixed>
Value lamb_update_phase2(Composition& c, const LambStep& given) {
  Value& weight = c.written(is_mixed ? 4 : 0);
  const Value updated =
      weight - lamb_rate(given.lr, c[2], c[3], given.lower_bound, given.upper_bound) * c[1];
  if (is_mixed) assign(weight, updated);
  return in_type(updated, c[0].array.dtype);
}

struct MultiLamb {
  std::vector<double> learning_rates;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;
  std::vector<double> wds;
  double rescale_grad = 1, lower_bound = -1, upper_bound = -1, clip_gradient = -1;
  bool bias_correction = true;
  Shape step_count;
  std::int64_t num_tensors = 1;
  static constexpr auto fields =
      std::tuple{required("learning_rates", &MultiLamb::learning_rates, lrs_doc),
                 field("beta1", &MultiLamb::beta1, beta1_doc),
                 field("beta2", &MultiLamb::beta2, beta2_doc),
                 field("epsilon", &MultiLamb::epsilon, epsilon_doc),
                 required("wds", &MultiLamb::wds, wds_doc),
                 field("rescale_grad", &MultiLamb::rescale_grad, rescale_doc),
                 field("lower_bound", &MultiLamb::lower_bound, "of the norms of weights"),
                 field("upper_bound", &MultiLamb::upper_bound, "of the norms of weights"),
                 field("clip_gradient", &MultiLamb::clip_gradient, clip_doc),
                 field("bias_correction", &MultiLamb::bias_correction,
                       "whether the means are corrected for their start at zero"),
                 required("step_count", &MultiLamb::step_count,
                          "the number of the update of each weight, from 1"),
                 field("num_tensors", &MultiLamb::num_tensors, count_doc)};
};

template <bool is_mixed>
Value multi_lamb(Composition& c, const MultiLamb& given) {
  need_each(c, "learning_rates", given.learning_rates.size(), given.num_tensors);
  need_each(c, "wds", given.wds.size(), given.num_tensors);
  need_each(c, "step_count", given.step_count.size(), given.num_tensors);
  const Scaling scaling{given.rescale_grad, given.clip_gradient};
  return for_each_weight(
      c, given.num_tensors, 4 + is_mixed, is_mixed, 0, [&](const Row& row, std::size_t i) {
        const Value direction =
            lamb_direction(c, row, scaling, {given.beta1, given.beta2, given.epsilon}, given.wds[i],
                           given.bias_correction, static_cast<double>(given.step_count[i]));
        const Value rate = lamb_rate(given.learning_rates[i], norm_of(row.weight()),
                                     norm_of(direction), given.lower_bound, given.upper_bound);
        return row.finish(row.weight() - rate * direction);
      });
}

// --- LARS ---

struct Several {
  std::int64_t num_arrays = 0;
  static constexpr auto fields =
      std::tuple{required("num_arrays", &Several::num_arrays, count_doc)};
};

void need_several(const Composition& c, const Several& given) {
  if (given.num_arrays < 1)
    c.refuse("needs at least one array, but num_arrays=" + std::to_string(given.num_arrays));
  if (c.inputs().size() != static_cast<std::size_t>(given.num_arrays))
    c.refuse("got " + std::to_string(c.inputs().size()) +
             " arrays, but num_arrays=" + std::to_string(given.num_arrays));
}

Value multi_sum_sq(Composition& c, const Several& given) {
  need_several(c, given);
  std::vector<Value> sums;
  for (const Value& array : c.inputs()) {
    Shape all;
    for (int axis = 0; axis < rank_of(array); ++axis) all.push_back(axis);
    sums.push_back(shaped(sum(square(in_type(array, DType::float32)), all, false), {1}));
  }
  return concat(sums, 0);
}

Value reset_arrays(Composition& c, const Several& given) {
  need_several(c, given);
  for (std::size_t i = 0; i < c.inputs().size(); ++i) assign(c.written(i), 0);
  return c[0];
}

struct Lars {
  double eta, eps, rescale_grad = 1;
  static constexpr auto fields =
      std::tuple{required("eta", &Lars::eta, "times which the rates are taken"),
                 required("eps", &Lars::eps, epsilon_doc),
                 field("rescale_grad", &Lars::rescale_grad, rescale_doc)};
};

Value multi_lars(Composition& c, const Lars& given) {
  const Value size = sqrt(c[1]), slope = sqrt(c[2]) * given.rescale_grad;
  const Value rates = given.eta * c[0] * size / (slope + c[3] * size + given.eps);
  return where((size > 0) * (c[2] > 0), rates, c[0]);
}

void declare_lamb(Table& table) {
  declare_update(
      table,
      update_op("lamb_update_phase1", R"(Return the direction in which LAMB moves a weight.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0, s1 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.lamb_update_phase1(w, g, s0, s1, t=1, wd=0.1).asnumpy().round(3))
[0.401])",
                {"weight", "grad", "mean", "var"}, 2),
      lamb_update_phase1<false>);
  lazy::Op mixed_direction =
      update_op("mp_lamb_update_phase1",
                R"(Return the direction in which LAMB moves a weight, in float32.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> s0, s1, w32 = nd.ones((1,)), nd.ones((1,)), nd.ones((1,))
>>> print(nd.mp_lamb_update_phase1(w, g, s0, s1, w32, t=1, wd=0.1).asnumpy().round(3))
[0.416])",
                {"weight", "grad", "mean", "var", "weight32"}, 0);
  mixed_direction.in_graphs.alike = false;
  declare_update(table, std::move(mixed_direction), lamb_update_phase1<true>);
  const auto move = [&](lazy::Op op, Value (*compose)(Composition&, const LambStep&)) {
    op.in_graphs.alike = false;
    declare_update(table, std::move(op), compose);
  };
  move(update_op("lamb_update_phase2",
                 R"(Return a weight after a step of LAMB: ``r1`` and ``r2`` are norms.

>>> w, direction = nd.array([3, 4]), nd.array([0, 1])
>>> print(nd.lamb_update_phase2(w, direction, w.norm(), direction.norm(), lr=0.1).asnumpy())
[3.  3.5])",
                 {"weight", "g", "r1", "r2"}, 0),
       lamb_update_phase2<false>);
  move(update_op("mp_lamb_update_phase2", R"(Return a weight of two precisions after a step of LAMB.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> norm, w32 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.mp_lamb_update_phase2(w, w32, norm, norm, w32, lr=0.5).asnumpy())
[0.5])",
                 {"weight", "g", "r1", "r2", "weight32"}, 1),
       lamb_update_phase2<true>);
  // nd.contrib takes lists of these arrays.
  declare_each<MultiLamb, multi_lamb<false>, &MultiLamb::num_tensors>(
      table, "_multi_lamb_update", "Return weights after steps of LAMB.");
  declare_each<MultiLamb, multi_lamb<true>, &MultiLamb::num_tensors>(
      table, "_multi_mp_lamb_update", "Return weights of two precisions after steps of LAMB.");
}

}  // namespace

void declare_layerwise(Table& table) {
  declare_lamb(table);
  table.compose<Several>({.name = "multi_sum_sq",
                          .mxnet_names = {"multi_sum_sq"},
                          .doc = R"(Return the sum of squares of each array.

>>> nd.multi_sum_sq(nd.array([3, 4]), nd.array([2]), num_arrays=2).asnumpy().tolist()
[25.0, 4.0])",
                          .inputs = {"data"},
                          .variadic = true,
                          .gradients = {no_gradient},
                          .compose = multi_sum_sq});
  table.compose<Several>(
      {.name = "reset_arrays",
       .mxnet_names = {"reset_arrays"},
       .doc = R"(Set all elements of arrays to zero, in place; the first is returned.

>>> x = nd.ones((2,))
>>> nd.reset_arrays(x, num_arrays=1).asnumpy().tolist(), x.asnumpy().tolist()
([0.0, 0.0], [0.0, 0.0]))",
       .inputs = {"data"},
       .variadic = true,
       .gradients = {no_gradient},
       .compose = reset_arrays});
  table.compose<Lars>(
      {.name = "multi_lars",
       .mxnet_names = {"multi_lars"},
       .doc = R"(Return the rates of LARS, from sums of squares of weights and gradients.

>>> one = nd.ones((1,))
>>> nd.multi_lars(one, 4 * one, one, 0 * one, eta=0.1, eps=0).asnumpy().round(3).tolist()
[0.20000000298023224])",
       .inputs = {"lrs", "weights_sum_sq", "grads_sum_sq", "wds"},
       .gradients = {no_gradient, no_gradient, no_gradient, no_gradient},
       .compose = multi_lars,
       .complete = complete_as_first,
       .in_graphs = {.alike = true}});
}

}  // namespace afterglow::ops
