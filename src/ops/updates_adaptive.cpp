// SPDX-License-Identifier: Apache-2.0
// Updates with a rate of its own for every element.
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "ops/updates.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

struct Adam {
  double lr, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, wd = 0, rescale_grad = 1,
             clip_gradient = -1;
  bool lazy_update = true;
  static constexpr auto fields = std::tuple{required("lr", &Adam::lr, lr_doc),
                                            field("beta1", &Adam::beta1, beta1_doc),
                                            field("beta2", &Adam::beta2, beta2_doc),
                                            field("epsilon", &Adam::epsilon, epsilon_doc),
                                            SLOPE_FIELDS(Adam),
                                            field("lazy_update", &Adam::lazy_update, lazy_doc)};
};

Value adam_update(Composition& c, const Adam& given) {
  const Row row(c, 0, 4, false);
  const Scaling scaling{given.rescale_grad, given.clip_gradient};
  follow_moments(row, scaling(row.gradient(), given.wd, row.weight()),
                 {given.beta1, given.beta2, given.epsilon});
  return row.finish(row.weight() - given.lr * row.state(0) / (sqrt(row.state(1)) + given.epsilon));
}

struct RmsProp {
  double lr, gamma1 = 0.95, epsilon = 1e-8, wd = 0, rescale_grad = 1, clip_gradient = -1,
             clip_weights = -1;
  static constexpr auto fields = std::tuple{
      required("lr", &RmsProp::lr, lr_doc), field("gamma1", &RmsProp::gamma1, beta2_doc),
      field("epsilon", &RmsProp::epsilon, epsilon_doc), SLOPE_FIELDS(RmsProp),
      field("clip_weights", &RmsProp::clip_weights, "the bound of weights, if not negative")};
};

Value rmsprop_update(Composition& c, const RmsProp& given) {
  const Row row(c, 0, 3, false);
  const Scaling scaling{given.rescale_grad, given.clip_gradient};
  const Value slope = scaling(row.gradient(), given.wd, row.weight());
  follow(row.state(0), given.gamma1, square(slope));
  const Value step = given.lr * slope / sqrt(row.state(0) + given.epsilon);
  return row.finish(bounded(row.weight() - step, given.clip_weights));
}

struct RmsPropAlex {
  double lr, gamma1 = 0.95, gamma2 = 0.9, epsilon = 1e-8, wd = 0, rescale_grad = 1,
             clip_gradient = -1, clip_weights = -1;
  static constexpr auto fields = std::tuple{
      required("lr", &RmsPropAlex::lr, lr_doc),
      field("gamma1", &RmsPropAlex::gamma1, "how much of mean and mean square is kept"),
      field("gamma2", &RmsPropAlex::gamma2, momentum_doc),
      field("epsilon", &RmsPropAlex::epsilon, epsilon_doc),
      SLOPE_FIELDS(RmsPropAlex),
      field("clip_weights", &RmsPropAlex::clip_weights, "the bound of weights, if not negative")};
};

Value rmspropalex_update(Composition& c, const RmsPropAlex& given) {
  const Row row(c, 0, 5, false);
  const Scaling scaling{given.rescale_grad, given.clip_gradient};
  const Value slope = scaling(row.gradient(), given.wd, row.weight());
  Value &squares = row.state(0), &mean = row.state(1), &moved = row.state(2);
  follow(squares, given.gamma1, square(slope));
  follow(mean, given.gamma1, slope);
  assign(moved,
         given.gamma2 * moved - given.lr * slope / sqrt(squares - square(mean) + given.epsilon));
  return row.finish(bounded(row.weight() + moved, given.clip_weights));
}

struct Ftrl {
  double lr, lamda1 = 0.01, beta = 1, wd = 0, rescale_grad = 1, clip_gradient = -1;
  static constexpr auto fields = std::tuple{
      required("lr", &Ftrl::lr, lr_doc),
      field("lamda1", &Ftrl::lamda1, "below which sums count as zero"),
      field("beta", &Ftrl::beta, "is added to the root of the sum of squares"), SLOPE_FIELDS(Ftrl)};
};

Value ftrl_update(Composition& c, const Ftrl& given) {
  const Row row(c, 0, 4, false);
  const Value slope = Scaling{given.rescale_grad, given.clip_gradient}(row.gradient());
  Value &total = row.state(0), &squares = row.state(1);
  const Value grown = squares + square(slope);
  assign(total, total + slope - (sqrt(grown) - sqrt(squares)) / given.lr * row.weight());
  assign(squares, grown);
  return row.finish(-sign(total) * maximum(abs(total) - given.lamda1, 0.0) /
                    ((given.beta + sqrt(squares)) / given.lr + given.wd));
}

struct Ftml {
  double lr, beta1 = 0.6, beta2 = 0.999, epsilon = 1e-8;
  std::int64_t t = 0;
  double wd = 0, rescale_grad = 1, clip_grad = -1;
  static constexpr auto fields =
      std::tuple{required("lr", &Ftml::lr, lr_doc),
                 field("beta1", &Ftml::beta1, beta1_doc),
                 field("beta2", &Ftml::beta2, beta2_doc),
                 field("epsilon", &Ftml::epsilon, epsilon_doc),
                 required("t", &Ftml::t, "the number of the update, from 1"),
                 field("wd", &Ftml::wd, wd_doc),
                 field("rescale_grad", &Ftml::rescale_grad, rescale_doc),
                 field("clip_grad", &Ftml::clip_grad, clip_doc)};
};

Value ftml_update(Composition& c, const Ftml& given) {
  const Row row(c, 0, 5, false);
  const Value slope =
      Scaling{given.rescale_grad, given.clip_grad}(row.gradient(), given.wd, row.weight());
  Value &denominator = row.state(0), &squares = row.state(1), &total = row.state(2);
  const auto count = static_cast<double>(given.t);
  const double first = share_reached(c, given.beta1, count);
  const double second = share_reached(c, given.beta2, count);
  follow(squares, given.beta2, square(slope));
  const Value fresh = first / given.lr * (sqrt(squares / second) + given.epsilon);
  assign(total, given.beta1 * total + (1 - given.beta1) * slope -
                    (fresh - given.beta1 * denominator) * row.weight());
  assign(denominator, fresh);
  return row.finish(-total / denominator);
}

struct AdaGrad {
  double lr, epsilon = 1e-7, wd = 0, rescale_grad = 1, clip_gradient = -1;
  static constexpr auto fields =
      std::tuple{required("lr", &AdaGrad::lr, lr_doc),
                 field("epsilon", &AdaGrad::epsilon, epsilon_doc), SLOPE_FIELDS(AdaGrad)};
};

/// The weight decay is no part of the gradient whose squares are summed.
Value adagrad_update(Composition& c, const AdaGrad& given) {
  const Row row(c, 0, 3, false);
  const Value slope = Scaling{given.rescale_grad, given.clip_gradient}(row.gradient());
  Value& history = row.state(0);
  assign(history, history + square(slope));
  const Value step = slope / sqrt(history + given.epsilon);
  return row.finish(row.weight() - given.lr * plus(step, given.wd, row.weight()));
}

struct GroupAdaGrad {
  double lr, rescale_grad = 1, clip_gradient = -1, epsilon = 1e-5;
  static constexpr auto fields =
      std::tuple{required("lr", &GroupAdaGrad::lr, lr_doc),
                 field("rescale_grad", &GroupAdaGrad::rescale_grad, rescale_doc),
                 field("clip_gradient", &GroupAdaGrad::clip_gradient, clip_doc),
                 field("epsilon", &GroupAdaGrad::epsilon, epsilon_doc)};
};

Value group_adagrad_update(Composition& c, const GroupAdaGrad& given) {
  const Row row(c, 0, 2, false);
  Shape rows = shape_of(c[0]), others;
  if (rows.size() < 2) c.refuse("needs weights with rows");
  for (std::size_t axis = 1; axis < rows.size(); ++axis) {
    rows[axis] = 1;
    others.push_back(static_cast<std::int64_t>(axis));
  }
  if (shape_of(c[2]) != rows) c.refuse("history needs shape " + to_string(rows));
  const Value slope = Scaling{given.rescale_grad, given.clip_gradient}(row.gradient());
  Value& history = row.state(0);
  assign(history, history + mean(square(slope), others, true));
  return row.finish(row.weight() - given.lr * slope / sqrt(history + given.epsilon));
}

// --- AdamW ---

/// AdamW by a factor of the gradients that may be an array: an update with one that is zero or not
/// finite is left out, and nobody waits to see it.
Value adamw(const Row& row, const Scaling& scaling, const Betas& betas, double lr, double wd,
            double eta) {
  const Value& factor = scaling.rescale;
  const auto unless = [&](const Value& updated, const Value& before) {
    if (factor.is_number())
      return std::isfinite(factor.number()) && factor.number() != 0 ? updated : copy(before);
    return where((abs(factor) > 0) * equal(factor - factor, 0.0), updated, before);
  };
  const Value slope = scaling(row.gradient());
  Value &mean = row.state(0), &variance = row.state(1);
  assign(mean, unless(betas.beta1 * mean + (1 - betas.beta1) * slope, mean));
  assign(variance, unless(betas.beta2 * variance + (1 - betas.beta2) * square(slope), variance));
  const Value step = plus(lr * mean / (sqrt(variance) + betas.epsilon), wd, row.weight());
  return row.finish(unless(row.weight() - eta * step, row.weight()));
}

struct AdamW {
  double lr, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, wd = 0, eta = 1, clip_gradient = -1;
  static constexpr auto fields =
      std::tuple{required("lr", &AdamW::lr, lr_doc),
                 field("beta1", &AdamW::beta1, beta1_doc),
                 field("beta2", &AdamW::beta2, beta2_doc),
                 field("epsilon", &AdamW::epsilon, epsilon_doc),
                 field("wd", &AdamW::wd, "times which the weight shrinks beside the gradient"),
                 required("eta", &AdamW::eta, "times which all of the step is taken"),
                 field("clip_gradient", &AdamW::clip_gradient, clip_doc)};
};

/// A factor that is an array of one element suits weights of any shape.
Value factor_of(const Composition& c, std::size_t input) {
  if (c[input].is_number()) return c[input];
  if (c[input].array.size() != 1) c.refuse("rescale_grad must have one element");
  return shaped(c[input], {});
}

template <bool is_mixed>
Value adamw_update(Composition& c, const AdamW& given) {
  constexpr std::size_t width = 4 + is_mixed;
  return adamw(Row(c, 0, width, is_mixed), {factor_of(c, width), given.clip_gradient},
               {given.beta1, given.beta2, given.epsilon}, given.lr, given.wd, given.eta);
}

struct MultiAdamW {
  std::vector<double> lrs;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  std::vector<double> wds, etas;
  double clip_gradient = -1;
  std::int64_t num_weights = 1;
  static constexpr auto fields =
      std::tuple{required("lrs", &MultiAdamW::lrs, lrs_doc),
                 field("beta1", &MultiAdamW::beta1, beta1_doc),
                 field("beta2", &MultiAdamW::beta2, beta2_doc),
                 field("epsilon", &MultiAdamW::epsilon, epsilon_doc),
                 required("wds", &MultiAdamW::wds, wds_doc),
                 required("etas", &MultiAdamW::etas, "times which all of each step is taken"),
                 field("clip_gradient", &MultiAdamW::clip_gradient, clip_doc),
                 field("num_weights", &MultiAdamW::num_weights, count_doc)};
};

template <bool is_mixed>
Value multi_adamw(Composition& c, const MultiAdamW& given) {
  need_each(c, "lrs", given.lrs.size(), given.num_weights);
  need_each(c, "wds", given.wds.size(), given.num_weights);
  need_each(c, "etas", given.etas.size(), given.num_weights);
  if (c.inputs().empty()) c.refuse("needs rescale_grad behind the arrays");
  const Scaling scaling{factor_of(c, c.inputs().size() - 1), given.clip_gradient};
  return for_each_weight(c, given.num_weights, 4 + is_mixed, is_mixed, 1,
                         [&](const Row& row, std::size_t i) {
                           return adamw(row, scaling, {given.beta1, given.beta2, given.epsilon},
                                        given.lrs[i], given.wds[i], given.etas[i]);
                         });
}

}  // namespace

void declare_adaptive(Table& table) {
  declare_update(
      table,
      update_op("adam_update", R"(Return a weight after a step of Adam; ``lr`` is corrected already.

>>> weight, mean, var = nd.ones((1,)), nd.zeros((1,)), nd.zeros((1,))
>>> updated = nd.adam_update(weight, nd.array([2]), mean, var, lr=0.1, out=weight)
>>> round(float(mean), 3), round(float(var), 3)
(0.2, 0.004))",
                {"weight", "grad", "mean", "var"}, 2),
      adam_update);
  declare_update(
      table,
      update_op("rmsprop_update", R"(Return a weight after a step over the root of the mean square.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0 = nd.ones((1,))
>>> print(nd.rmsprop_update(w, g, s0, lr=0.1).asnumpy().round(3))
[0.949])",
                {"weight", "grad", "n"}, 1),
      rmsprop_update);
  declare_update(table,
                 update_op("rmspropalex_update",
                           R"(Return a weight after a step over the deviation of its gradients.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0, s1, s2 = nd.ones((1,)), nd.zeros((1,)), nd.zeros((1,))
>>> print(nd.rmspropalex_update(w, g, s0, s1, s2, lr=0.1).asnumpy().round(3))
[0.949])",
                           {"weight", "grad", "n", "g", "delta"}, 3),
                 rmspropalex_update);
  declare_update(
      table,
      update_op("ftrl_update", R"(Return a weight after a step towards the regularised leader.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0, s1 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.ftrl_update(w, g, s0, s1, lr=0.1).asnumpy().round(3))
[-0.015])",
                {"weight", "grad", "z", "n"}, 2),
      ftrl_update);
  declare_update(table,
                 update_op("ftml_update", R"(Return a weight after a step towards the moving leader.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0, s1, s2 = nd.ones((1,)), nd.ones((1,)), nd.ones((1,))
>>> print(nd.ftml_update(w, g, s0, s1, s2, lr=0.1, t=1).asnumpy().round(3))
[0.989])",
                           {"weight", "grad", "d", "v", "z"}, 3),
                 ftml_update);
  lazy::Op adagrad = update_op("adagrad_update",
                               "Return a weight after a step over the root of the sum of squares.",
                               {"weight", "grad", "history"}, 1);
  adagrad.mxnet_names = {};  // there it is nd.sparse's alone, and without weight decay
  declare_update(table, std::move(adagrad), adagrad_update);
  lazy::Op grouped = update_op("group_adagrad_update",
                               R"(Return a weight after a step of AdaGrad with one sum for each row.

>>> w, g, history = nd.ones((2, 2)), nd.ones((2, 2)), nd.zeros((2, 1))
>>> print(nd.contrib.group_adagrad_update(w, g, history, lr=0.1).asnumpy().round(3))
[[0.9 0.9]
 [0.9 0.9]])",
                               {"weight", "grad", "history"}, 1);
  grouped.mxnet_names = {"_contrib_group_adagrad_update"};
  grouped.in_graphs.alike = false;
  declare_update(table, std::move(grouped), group_adagrad_update);
  const auto adamw = [&](lazy::Op op, std::string_view name, std::string_view spelling,
                         Value (*compose)(Composition&, const AdamW&)) {
    op.mxnet_names = {name};
    op.spellings = {spelling};
    op.takes_numbers = true;
    op.in_graphs.alike = false;
    declare_update(table, std::move(op), compose);
  };
  adamw(update_op("adamw_update", R"(Return a weight after a step of Adam with a decay of its own.

Nothing changes where ``rescale_grad``, a number or an array of one, is zero or not finite.

>>> w, g, mean, var = nd.ones((1,)), nd.ones((1,)), nd.zeros((1,)), nd.zeros((1,))
>>> print(nd.contrib.adamw_update(w, g, mean, var, 1.0, lr=0.01, eta=1).asnumpy().round(3))
[0.968])",
                  {"weight", "grad", "mean", "var", "rescale_grad"}, 0),
        "_adamw_update",
        "nd.contrib.adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, "
        "beta2=0.999, epsilon=1e-08, wd=0.0, clip_gradient=-1.0, out=None, name=None)",
        adamw_update<false>);
  adamw(update_op("mp_adamw_update", R"(Return a weight of two precisions after a step of AdamW.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> mean, var, w32 = nd.zeros((1,)), nd.zeros((1,)), nd.ones((1,))
>>> updated = nd.contrib.mp_adamw_update(w, g, mean, var, w32, 1.0, lr=0.01, eta=1)
>>> print(w32.asnumpy().round(3))
[0.968])",
                  {"weight", "grad", "mean", "var", "weight32", "rescale_grad"}, 0),
        "_mp_adamw_update",
        "nd.contrib.mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, "
        "beta1=0.9, beta2=0.999, epsilon=1e-08, wd=0.0, clip_gradient=-1.0, out=None, name=None)",
        adamw_update<true>);
  // nd.contrib takes lists of these arrays.
  declare_each<MultiAdamW, multi_adamw<false>, &MultiAdamW::num_weights>(
      table, "_multi_adamw_update", "Return weights after steps of AdamW.");
  declare_each<MultiAdamW, multi_adamw<true>, &MultiAdamW::num_weights>(
      table, "_multi_mp_adamw_update", "Return weights of two precisions after steps of AdamW.");
}

}  // namespace afterglow::ops
