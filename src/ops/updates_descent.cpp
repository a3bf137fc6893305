// SPDX-License-Identifier: Apache-2.0
// Updates by gradient descent: plain, with momentum, by signs, and of many weights.
#include <string>
#include <tuple>
#include <vector>

#include "ops/updates.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

// --- rules ---

Value descend(const Row& row, const Scaling& scaling, const Value& lr, const Value& wd) {
  const Value slope = scaling(row.gradient());
  const Value kept = is_number(wd, 0) ? row.weight() : (1 - lr * wd) * row.weight();
  return row.finish(kept - lr * slope);
}

Value descend_with_momentum(const Row& row, const Scaling& scaling, const Value& lr,
                            const Value& wd, double momentum) {
  const Value slope = plus(scaling(row.gradient()), wd, row.weight());
  Value& moved = row.state(0);
  assign(moved, momentum * moved - lr * slope);
  return row.finish(row.weight() + moved);
}

Value look_ahead(const Row& row, const Scaling& scaling, double lr, double wd, double momentum) {
  const Value slope = scaling(row.gradient());
  Value& moved = row.state(0);
  const Value kept = momentum * moved;
  const Value step = lr * plus(slope, wd, row.weight());
  const Value updated = row.weight() - kept + (momentum + 1) * (kept - step);
  // MXNet writes the weight first, and the weight decay that stays in the momentum is of that.
  assign(moved, kept - (row.is_in_place() ? lr * plus(slope, wd, updated) : step));
  return row.finish(updated);
}

// --- one weight ---

struct Sgd {
  double lr, wd = 0, rescale_grad = 1, clip_gradient = -1;
  bool lazy_update = true;
  static constexpr auto fields = std::tuple{required("lr", &Sgd::lr, lr_doc), SLOPE_FIELDS(Sgd),
                                            field("lazy_update", &Sgd::lazy_update, lazy_doc)};
};

struct SgdMomentum {
  double lr, momentum = 0, wd = 0, rescale_grad = 1, clip_gradient = -1;
  bool lazy_update = true;
  static constexpr auto fields =
      std::tuple{required("lr", &SgdMomentum::lr, lr_doc),
                 field("momentum", &SgdMomentum::momentum, momentum_doc), SLOPE_FIELDS(SgdMomentum),
                 field("lazy_update", &SgdMomentum::lazy_update, lazy_doc)};
};

struct Nag {
  double lr, momentum = 0, wd = 0, rescale_grad = 1, clip_gradient = -1;
  static constexpr auto fields =
      std::tuple{required("lr", &Nag::lr, lr_doc), field("momentum", &Nag::momentum, momentum_doc),
                 SLOPE_FIELDS(Nag)};
};

template <bool is_mixed>
Value sgd_update(Composition& c, const Sgd& given) {
  return descend(Row(c, 0, 2 + is_mixed, is_mixed), {given.rescale_grad, given.clip_gradient},
                 given.lr, given.wd);
}

template <bool is_mixed>
Value sgd_mom_update(Composition& c, const SgdMomentum& given) {
  return descend_with_momentum(Row(c, 0, 3 + is_mixed, is_mixed),
                               {given.rescale_grad, given.clip_gradient}, given.lr, given.wd,
                               given.momentum);
}

template <bool is_mixed>
Value nag_mom_update(Composition& c, const Nag& given) {
  return look_ahead(Row(c, 0, 3 + is_mixed, is_mixed), {given.rescale_grad, given.clip_gradient},
                    given.lr, given.wd, given.momentum);
}

struct Signsgd {
  double lr, wd = 0, rescale_grad = 1, clip_gradient = -1;
  static constexpr auto fields =
      std::tuple{required("lr", &Signsgd::lr, lr_doc), SLOPE_FIELDS(Signsgd)};
};

/// Neither scaling nor clipping changes a sign.
Value signsgd_update(Composition& c, const Signsgd& given) {
  const Row row(c, 0, 2, false);
  const Value kept = (1 - given.lr * given.wd) * row.weight();
  return row.finish(kept - given.lr * sign(row.gradient()));
}

struct Signum {
  double lr, momentum = 0, wd = 0, rescale_grad = 1, clip_gradient = -1, wd_lh = 0;
  static constexpr auto fields = std::tuple{
      required("lr", &Signum::lr, lr_doc), field("momentum", &Signum::momentum, momentum_doc),
      SLOPE_FIELDS(Signum),
      field("wd_lh", &Signum::wd_lh, "times which the weight shrinks beside the gradient")};
};

Value signum_update(Composition& c, const Signum& given) {
  const Row row(c, 0, 3, false);
  const Scaling scaling{given.rescale_grad, given.clip_gradient};
  Value& moved = row.state(0);
  assign(moved, given.momentum * moved -
                    (1 - given.momentum) * plus(scaling(row.gradient()), given.wd, row.weight()));
  return row.finish((1 - given.lr * given.wd_lh) * row.weight() + given.lr * sign(moved));
}

// --- many weights ---

struct MultiSgd {
  std::vector<double> lrs, wds;
  double rescale_grad = 1, clip_gradient = -1;
  std::int64_t num_weights = 1;
  static constexpr auto fields =
      std::tuple{required("lrs", &MultiSgd::lrs, lrs_doc), required("wds", &MultiSgd::wds, wds_doc),
                 field("rescale_grad", &MultiSgd::rescale_grad, rescale_doc),
                 field("clip_gradient", &MultiSgd::clip_gradient, clip_doc),
                 field("num_weights", &MultiSgd::num_weights, count_doc)};
};

struct MultiSgdMomentum {
  std::vector<double> lrs, wds;
  double momentum = 0, rescale_grad = 1, clip_gradient = -1;
  std::int64_t num_weights = 1;
  static constexpr auto fields =
      std::tuple{required("lrs", &MultiSgdMomentum::lrs, lrs_doc),
                 required("wds", &MultiSgdMomentum::wds, wds_doc),
                 field("momentum", &MultiSgdMomentum::momentum, momentum_doc),
                 field("rescale_grad", &MultiSgdMomentum::rescale_grad, rescale_doc),
                 field("clip_gradient", &MultiSgdMomentum::clip_gradient, clip_doc),
                 field("num_weights", &MultiSgdMomentum::num_weights, count_doc)};
};

struct PreloadedSgd {
  double rescale_grad = 1, clip_gradient = -1;
  std::int64_t num_weights = 1;
  static constexpr auto fields =
      std::tuple{field("rescale_grad", &PreloadedSgd::rescale_grad, rescale_doc),
                 field("clip_gradient", &PreloadedSgd::clip_gradient, clip_doc),
                 field("num_weights", &PreloadedSgd::num_weights, count_doc)};
};

struct PreloadedSgdMomentum {
  double momentum = 0, rescale_grad = 1, clip_gradient = -1;
  std::int64_t num_weights = 1;
  static constexpr auto fields =
      std::tuple{field("momentum", &PreloadedSgdMomentum::momentum, momentum_doc),
                 field("rescale_grad", &PreloadedSgdMomentum::rescale_grad, rescale_doc),
                 field("clip_gradient", &PreloadedSgdMomentum::clip_gradient, clip_doc),
                 field("num_weights", &PreloadedSgdMomentum::num_weights, count_doc)};
};

template <class Given>
constexpr bool has_momentum = requires(Given given) { given.momentum; };

/// Descent with the rates of each weight, which `rates(number)` tells, and momentum if there is
/// one.
template <bool is_mixed, class Given, class Rates>
Value descend_each(Composition& c, const Given& given, std::size_t more, Rates&& rates) {
  const Scaling scaling{given.rescale_grad, given.clip_gradient};
  constexpr std::size_t width = 2 + has_momentum<Given> + is_mixed;
  return for_each_weight(c, given.num_weights, width, is_mixed, more,
                         [&](const Row& row, std::size_t i) {
                           const auto [lr, wd] = rates(i);
                           if constexpr (has_momentum<Given>) {
                             return descend_with_momentum(row, scaling, lr, wd, given.momentum);
                           } else {
                             return descend(row, scaling, lr, wd);
                           }
                         });
}

template <bool is_mixed, class Given>
Value multi_sgd(Composition& c, const Given& given) {
  need_each(c, "lrs", given.lrs.size(), given.num_weights);
  need_each(c, "wds", given.wds.size(), given.num_weights);
  return descend_each<is_mixed>(c, given, 0, [&](std::size_t i) {
    return std::pair<Value, Value>(given.lrs[i], given.wds[i]);
  });
}

/// Rates that come as the last two arrays.
template <bool is_mixed, class Given>
Value preloaded_sgd(Composition& c, const Given& given) {
  const std::size_t count = c.inputs().size();
  for (std::size_t i = count < 2 ? 0 : count - 2; i < count; ++i)
    need_each(c, "lrs or wds", static_cast<std::size_t>(c[i].array.size()), given.num_weights);
  return descend_each<is_mixed>(c, given, 2, [&](std::size_t i) {
    const auto rate = [&](std::size_t input) {
      const auto at = static_cast<std::int64_t>(i);
      return shaped(Value(between(shaped(c[input], {given.num_weights}), 0, at, at + 1)), {});
    };
    return std::pair(rate(count - 2), rate(count - 1));
  });
}

}  // namespace

void declare_descent(Table& table) {
  declare_update(table,
                 update_op("sgd_update", R"(Return a weight after a step down its gradient.

>>> weight = nd.array([1, 2])
>>> nd.sgd_update(weight, nd.array([1, -1]), out=weight, lr=0.5).asnumpy().tolist()
[0.5, 2.5])",
                           {"weight", "grad"}, 0),
                 sgd_update<false>);
  declare_update(table,
                 update_op("sgd_mom_update", R"(Return a weight after a step with momentum.

``mom`` becomes ``momentum * mom - lr * gradient``, and is added to the weight.

>>> weight, mom = nd.array([1, 2]), nd.zeros((2,))
>>> moved = nd.sgd_mom_update(weight, nd.array([1, -1]), mom, out=weight, lr=0.5, momentum=0.9)
>>> mom.asnumpy().tolist()
[-0.5, 0.5])",
                           {"weight", "grad", "mom"}, 1),
                 sgd_mom_update<false>);
  declare_update(table,
                 update_op("mp_sgd_update", R"(Return a weight of two precisions after a step down.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> w32 = nd.ones((1,))
>>> print(nd.mp_sgd_update(w, g, w32, lr=0.1).asnumpy().round(3))
[0.9])",
                           {"weight", "grad", "weight32"}, 1),
                 sgd_update<true>);
  declare_update(table,
                 update_op("mp_sgd_mom_update",
                           R"(Return a weight of two precisions after a step with momentum.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> s0, w32 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.mp_sgd_mom_update(w, g, s0, w32, lr=0.1).asnumpy().round(3))
[0.9])",
                           {"weight", "grad", "mom", "weight32"}, 2),
                 sgd_mom_update<true>);
  declare_update(table,
                 update_op("nag_mom_update", R"(Return a weight after a step of Nesterov's gradient.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0 = nd.ones((1,))
>>> print(nd.nag_mom_update(w, g, s0, lr=0.1, momentum=0.9).asnumpy().round(3))
[1.715])",
                           {"weight", "grad", "mom"}, 1),
                 nag_mom_update<false>);
  declare_update(table,
                 update_op("mp_nag_mom_update",
                           R"(Return a weight of two precisions after a step of Nesterov's gradient.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> s0, w32 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.mp_nag_mom_update(w, g, s0, w32, lr=0.1).asnumpy().round(3))
[0.9])",
                           {"weight", "grad", "mom", "weight32"}, 2),
                 nag_mom_update<true>);
  declare_update(
      table,
      update_op("signsgd_update", R"(Return a weight after a step by the signs of its gradient.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> print(nd.signsgd_update(w, g, lr=0.1).asnumpy().round(3))
[0.9])",
                {"weight", "grad"}, 0),
      signsgd_update);
  declare_update(
      table,
      update_op("signum_update", R"(Return a weight after a step by the signs of its momentum.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0 = nd.ones((1,))
>>> print(nd.signum_update(w, g, s0, lr=0.1, momentum=0.9).asnumpy().round(3))
[1.1])",
                {"weight", "grad", "mom"}, 1),
      signum_update);
  declare_each<MultiSgd, multi_sgd<false, MultiSgd>, &MultiSgd::num_weights>(
      table, "multi_sgd_update", R"(Return weights after steps down their gradients.

The arrays are a weight, its gradient, the next weight and so on.

>>> weights, grads = [nd.ones((1,)), nd.ones((2,))], [nd.ones((1,)), nd.ones((2,))]
>>> data = [one for pair in zip(weights, grads) for one in pair]
>>> moved = nd.multi_sgd_update(*data, lrs=(1, 2), wds=(0, 0), num_weights=2, out=weights)
>>> weights[1].asnumpy().tolist()
[-1.0, -1.0])");
  declare_each<MultiSgdMomentum, multi_sgd<false, MultiSgdMomentum>,
               &MultiSgdMomentum::num_weights>(
      table, "multi_sgd_mom_update",
      R"(Return weights after steps with momentum, which comes behind each gradient.

>>> w, g, mom = nd.ones((1,)), nd.ones((1,)), nd.zeros((1,))
>>> updated = nd.multi_sgd_mom_update(w, g, mom, lrs=(0.5,), wds=(0,), momentum=0.9)
>>> print(mom.asnumpy())
[-0.5])");
  declare_each<MultiSgd, multi_sgd<true, MultiSgd>, &MultiSgd::num_weights>(
      table, "multi_mp_sgd_update",
      R"(Return weights of two precisions after steps down; the copy in float32 comes last.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> w32 = nd.ones((1,))
>>> print(nd.multi_mp_sgd_update(w, g, w32, lrs=(0.5,), wds=(0,)).asnumpy())
[0.5])");
  declare_each<MultiSgdMomentum, multi_sgd<true, MultiSgdMomentum>, &MultiSgdMomentum::num_weights>(
      table, "multi_mp_sgd_mom_update",
      R"(Return weights of two precisions after steps with momentum.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> mom, w32 = nd.zeros((1,)), nd.ones((1,))
>>> print(nd.multi_mp_sgd_mom_update(w, g, mom, w32, lrs=(0.5,), wds=(0,)).asnumpy())
[0.5])");
  declare_each<PreloadedSgd, preloaded_sgd<false, PreloadedSgd>, &PreloadedSgd::num_weights>(
      table, "preloaded_multi_sgd_update",
      R"(Return weights after steps down; rates and decays are the last two arrays.

>>> w, g = nd.ones((1,)), nd.ones((1,))
>>> lr, wd = nd.array([0.5]), nd.array([0])
>>> print(nd.preloaded_multi_sgd_update(w, g, lr, wd).asnumpy())
[0.5])");
  declare_each<PreloadedSgdMomentum, preloaded_sgd<false, PreloadedSgdMomentum>,
               &PreloadedSgdMomentum::num_weights>(
      table, "preloaded_multi_sgd_mom_update",
      R"(Return weights after steps with momentum; rates and decays are the last two arrays.

>>> w, g, mom = nd.ones((1,)), nd.ones((1,)), nd.zeros((1,))
>>> lr, wd = nd.array([0.5]), nd.array([0])
>>> print(nd.preloaded_multi_sgd_mom_update(w, g, mom, lr, wd).asnumpy())
[0.5])");
  declare_each<PreloadedSgd, preloaded_sgd<true, PreloadedSgd>, &PreloadedSgd::num_weights>(
      table, "preloaded_multi_mp_sgd_update",
      R"(Return weights of two precisions after steps; rates and decays are the last two arrays.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> w32 = nd.ones((1,))
>>> lr, wd = nd.array([0.5]), nd.array([0])
>>> print(nd.preloaded_multi_mp_sgd_update(w, g, w32, lr, wd).asnumpy())
[0.5])");
  declare_each<PreloadedSgdMomentum, preloaded_sgd<true, PreloadedSgdMomentum>,
               &PreloadedSgdMomentum::num_weights>(
      table, "preloaded_multi_mp_sgd_mom_update",
      R"(Return weights of two precisions after steps with momentum; rates and decays come last.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> mom, w32 = nd.zeros((1,)), nd.ones((1,))
>>> lr, wd = nd.array([0.5]), nd.array([0])
>>> print(nd.preloaded_multi_mp_sgd_mom_update(w, g, mom, w32, lr, wd).asnumpy())
[0.5])");
}

}  // namespace afterglow::ops
