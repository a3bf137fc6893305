// SPDX-License-Identifier: Apache-2.0
// The steps of optimizers as ops: the new weight is the result, which programs let go to the weight
// (`out=weight`), and the states are written in place. Each rule stands here once, whatever it is
// asked for: a weight, one of two precisions, or many of them. They are made of elementwise ops, so
// a step is fused into one pass over weight, gradient and states, and no gradient passes through.
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "ops/completing.h"
#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {
namespace {

constexpr std::string_view lr_doc = "the learning rate";
constexpr std::string_view lrs_doc = "the learning rate of each weight";
constexpr std::string_view wd_doc = "times which the weight is added to the gradient";
constexpr std::string_view wds_doc = "the same for each weight";
constexpr std::string_view momentum_doc = "how much of the last move is kept";
constexpr std::string_view rescale_doc = "times which the gradient is taken";
constexpr std::string_view clip_doc = "the bound of the scaled gradient, if it is not negative";
constexpr std::string_view lazy_doc = "is taken and has no effect on dense gradients";
constexpr std::string_view beta1_doc = "how much of the mean is kept";
constexpr std::string_view beta2_doc = "how much of the mean square is kept";
constexpr std::string_view epsilon_doc = "is added to what is divided by";
constexpr std::string_view count_doc = "how many";

// --- what rules work on ---

bool is_number(const Value& value, double number) {
  return value.is_number() && value.number() == number;
}

/// x + factor * y, without what changes nothing.
Value plus(const Value& x, const Value& factor, const Value& y) {
  return is_number(factor, 0) ? x : x + factor * y;
}

Value bounded(const Value& x, double bound) {
  if (!(bound >= 0)) return x;
  const Argument arguments[] = {-bound, bound};
  return apply(the_op<"clip">(), arguments, x);
}

/// How gradients are used.
struct Scaling {
  Value rescale = 1.0;
  double clip = -1;

  Value operator()(const Value& gradient) const {
    return bounded(is_number(rescale, 1) ? gradient : gradient * rescale, clip);
  }
  /// With the weight decay, which is clipped with it.
  Value operator()(const Value& gradient, double wd, const Value& weight) const {
    const Value scaled = is_number(rescale, 1) ? gradient : gradient * rescale;
    return bounded(plus(scaled, wd, weight), clip);
  }
};

/// The operands of one weight: itself, its gradient, its states and, where it has two precisions,
/// its copy in float32, which is what rules work on.
class Row {
 public:
  Row(Composition& c, std::size_t first, std::size_t width, bool is_mixed)
      : c_(c), first_(first), width_(width), is_mixed_(is_mixed) {
    for (std::size_t i = 1; i < width; ++i) {
      if (shape_of(c[first + i]) != shape_of(c[first]))
        c.refuse("weight, gradient and states must have one shape");
    }
  }

  const Value& weight() const { return c_[is_mixed_ ? first_ + width_ - 1 : first_]; }
  Value gradient() const {
    return is_mixed_ ? in_type(c_[first_ + 1], weight().array.dtype) : c_[first_ + 1];
  }
  Value& state(std::size_t number) const { return c_.written(first_ + 2 + number); }
  /// The weight in its own precision; both are written.
  Value finish(const Value& updated) const {
    if (!is_mixed_) return updated;
    assign(c_.written(first_ + width_ - 1), updated);
    return in_type(updated, c_[first_].array.dtype);
  }
  /// Whether the result goes where the weight is.
  bool is_in_place() const {
    return is_mixed_ || (c_.out() && c_.out()->array.storage.get() == weight().array.storage.get());
  }

 private:
  Composition& c_;
  const std::size_t first_, width_;
  const bool is_mixed_;
};

/// Moves a running mean towards a value, in place.
void follow(Value& mean, double decay, const Value& value) {
  assign(mean, decay * mean + (1 - decay) * value);
}

/// How much of a mean that started at zero is there after so many updates.
double share_reached(const Composition& c, double decay, double count) {
  if (!(count >= 1)) c.refuse("updates are counted from 1, but t is " + std::to_string(count));
  return 1 - std::pow(decay, count);
}

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

struct Betas {
  double beta1, beta2, epsilon;
};

void follow_moments(const Row& row, const Value& slope, const Betas& betas) {
  follow(row.state(0), betas.beta1, slope);
  follow(row.state(1), betas.beta2, square(slope));
}

/// The direction in which LAMB goes.
Value lamb_direction(const Composition& c, const Row& row, const Scaling& scaling,
                     const Betas& betas, double wd, bool bias_correction, double count) {
  follow_moments(row, scaling(row.gradient()), betas);
  Value mean = row.state(0), variance = row.state(1);
  if (bias_correction) {
    mean = mean / share_reached(c, betas.beta1, count);
    variance = variance / share_reached(c, betas.beta2, count);
  }
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

// --- one weight ---

/// Fields that most have, in MXNet's order; `lr` comes before what is a rule's own, and these
/// after.
#define SLOPE_FIELDS(Struct)                                                                   \
  field("wd", &Struct::wd, wd_doc), field("rescale_grad", &Struct::rescale_grad, rescale_doc), \
      field("clip_gradient", &Struct::clip_gradient, clip_doc)

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
  return (1 - given.lr * given.wd) * row.weight() - given.lr * sign(row.gradient());
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
  return (1 - given.lr * given.wd_lh) * row.weight() + given.lr * sign(moved);
}

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
  return row.weight() - given.lr * row.state(0) / (sqrt(row.state(1)) + given.epsilon);
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
  return bounded(row.weight() - given.lr * slope / sqrt(row.state(0) + given.epsilon),
                 given.clip_weights);
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
  return bounded(row.weight() + moved, given.clip_weights);
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
  return -sign(total) * maximum(abs(total) - given.lamda1, 0.0) /
         ((given.beta + sqrt(squares)) / given.lr + given.wd);
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
  follow(squares, given.beta2, square(slope));
  const Value spread = sqrt(squares / share_reached(c, given.beta2, count)) + given.epsilon;
  const Value fresh = share_reached(c, given.beta1, count) / given.lr * spread;
  assign(total, given.beta1 * total + (1 - given.beta1) * slope -
                    (fresh - given.beta1 * denominator) * row.weight());
  assign(denominator, fresh);
  return -total / denominator;
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
  return row.weight() - given.lr * slope / sqrt(history + given.epsilon);
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
  if (!is_mixed) return updated;
  assign(weight, updated);
  return in_type(updated, c[0].array.dtype);
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

#undef SLOPE_FIELDS

// --- many weights ---

/// Calls `rule(row, number)` for each weight; `more` arrays come behind those of all.
template <class Rule>
Value for_each_weight(Composition& c, std::int64_t count, std::size_t width, bool is_mixed,
                      std::size_t more, Rule&& rule) {
  // So many weights as arrays at most, so that their product with the width is a number.
  const auto given = static_cast<std::int64_t>(c.inputs().size());
  if (count < 1 || count > given ||
      c.inputs().size() != static_cast<std::size_t>(count) * width + more)
    c.refuse("got " + std::to_string(c.inputs().size()) + " arrays; " + std::to_string(count) +
             " weights need " + std::to_string(width) + " each" +
             (more ? ", and " + std::to_string(more) + " more" : ""));
  Value first;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const Value updated = rule(Row(c, i * width, width, is_mixed), i);
    if (i) {
      c.add_output(updated);
    } else {
      first = updated;
    }
  }
  return first;
}

/// One number for each weight.
void need_each(const Composition& c, std::string_view name, std::size_t given, std::int64_t count) {
  if (given != static_cast<std::size_t>(count))
    c.refuse(std::string(name) + " has " + std::to_string(given) + " numbers for " +
             std::to_string(count) + " weights");
}

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
  const Scaling scaling{factor_of(c, c.inputs().size() - 1), given.clip_gradient};
  return for_each_weight(c, given.num_weights, 4 + is_mixed, is_mixed, 1,
                         [&](const Row& row, std::size_t i) {
                           return adamw(row, scaling, {given.beta1, given.beta2, given.epsilon},
                                        given.lrs[i], given.wds[i], given.etas[i]);
                         });
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

// --- what goes with them ---

struct Several {
  std::int64_t num_arrays = 0;
  static constexpr auto fields =
      std::tuple{required("num_arrays", &Several::num_arrays, count_doc)};
};

void need_several(const Composition& c, const Several& given) {
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

/// What all steps have in common: names, a text, operands, and so many states that come last.
lazy::Op step(std::string_view name, std::string_view doc, std::vector<std::string_view> inputs,
              int states) {
  std::vector<lazy::GradientRule> rules(inputs.size(), no_gradient);
  return {.name = name,
          .mxnet_names = {name},
          .doc = doc,
          .inputs = std::move(inputs),
          .gradients = std::move(rules),
          .complete = complete_as_first,
          .in_graphs = {.auxiliary = states, .alike = true}};
}

/// Steps of many weights: so many arrays belong to each.
template <class Given, auto compose, auto count>
void declare_each(Table& table, std::string_view name, std::string_view doc) {
  table.compose<Given>({.name = name,
                        .mxnet_names = {name},
                        .doc = doc,
                        .inputs = {"data"},
                        .variadic = true,
                        .gradients = {no_gradient},
                        .compose = compose,
                        .node = [](NodeForm& node, const Given& given) {
                          node.outputs = lazy::numbered_outputs(given.*count);
                        }});
}

template <class Given>
void declare_step(Table& table, lazy::Op op, Value (*compose)(Composition&, const Given&)) {
  op.compose = compose;
  table.compose<Given>(std::move(op));
}

void declare_descent(Table& table) {
  declare_step(table,
               step("sgd_update", R"(Return a weight after a step down its gradient.

>>> weight = nd.array([1, 2])
>>> nd.sgd_update(weight, nd.array([1, -1]), out=weight, lr=0.5).asnumpy().tolist()
[0.5, 2.5])",
                    {"weight", "grad"}, 0),
               sgd_update<false>);
  declare_step(table,
               step("sgd_mom_update", R"(Return a weight after a step with momentum.

``mom`` becomes ``momentum * mom - lr * gradient``, and is added to the weight.

>>> weight, mom = nd.array([1, 2]), nd.zeros((2,))
>>> moved = nd.sgd_mom_update(weight, nd.array([1, -1]), mom, out=weight, lr=0.5, momentum=0.9)
>>> mom.asnumpy().tolist()
[-0.5, 0.5])",
                    {"weight", "grad", "mom"}, 1),
               sgd_mom_update<false>);
  declare_step(table,
               step("mp_sgd_update", R"(Return a weight of two precisions after a step down.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> w32 = nd.ones((1,))
>>> print(nd.mp_sgd_update(w, g, w32, lr=0.1).asnumpy().round(3))
[0.9])",
                    {"weight", "grad", "weight32"}, 1),
               sgd_update<true>);
  declare_step(
      table,
      step("mp_sgd_mom_update", R"(Return a weight of two precisions after a step with momentum.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> s0, w32 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.mp_sgd_mom_update(w, g, s0, w32, lr=0.1).asnumpy().round(3))
[0.9])",
           {"weight", "grad", "mom", "weight32"}, 2),
      sgd_mom_update<true>);
  declare_step(table,
               step("nag_mom_update", R"(Return a weight after a step of Nesterov's gradient.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0 = nd.ones((1,))
>>> print(nd.nag_mom_update(w, g, s0, lr=0.1, momentum=0.9).asnumpy().round(3))
[1.715])",
                    {"weight", "grad", "mom"}, 1),
               nag_mom_update<false>);
  declare_step(table,
               step("mp_nag_mom_update",
                    R"(Return a weight of two precisions after a step of Nesterov's gradient.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> s0, w32 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.mp_nag_mom_update(w, g, s0, w32, lr=0.1).asnumpy().round(3))
[0.9])",
                    {"weight", "grad", "mom", "weight32"}, 2),
               nag_mom_update<true>);
  declare_step(table,
               step("signsgd_update", R"(Return a weight after a step by the signs of its gradient.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> print(nd.signsgd_update(w, g, lr=0.1).asnumpy().round(3))
[0.9])",
                    {"weight", "grad"}, 0),
               signsgd_update);
  declare_step(table,
               step("signum_update", R"(Return a weight after a step by the signs of its momentum.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0 = nd.ones((1,))
>>> print(nd.signum_update(w, g, s0, lr=0.1, momentum=0.9).asnumpy().round(3))
[1.1])",
                    {"weight", "grad", "mom"}, 1),
               signum_update);
}

void declare_adaptive(Table& table) {
  declare_step(
      table,
      step("adam_update", R"(Return a weight after a step of Adam; ``lr`` is corrected already.

>>> weight, mean, var = nd.ones((1,)), nd.zeros((1,)), nd.zeros((1,))
>>> updated = nd.adam_update(weight, nd.array([2]), mean, var, lr=0.1, out=weight)
>>> round(float(mean), 3), round(float(var), 3)
(0.2, 0.004))",
           {"weight", "grad", "mean", "var"}, 2),
      adam_update);
  declare_step(
      table,
      step("rmsprop_update", R"(Return a weight after a step over the root of the mean square.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0 = nd.ones((1,))
>>> print(nd.rmsprop_update(w, g, s0, lr=0.1).asnumpy().round(3))
[0.949])",
           {"weight", "grad", "n"}, 1),
      rmsprop_update);
  declare_step(table,
               step("rmspropalex_update",
                    R"(Return a weight after a step over the deviation of its gradients.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0, s1, s2 = nd.ones((1,)), nd.zeros((1,)), nd.zeros((1,))
>>> print(nd.rmspropalex_update(w, g, s0, s1, s2, lr=0.1).asnumpy().round(3))
[0.949])",
                    {"weight", "grad", "n", "g", "delta"}, 3),
               rmspropalex_update);
  declare_step(table,
               step("ftrl_update", R"(Return a weight after a step towards the regularised leader.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0, s1 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.ftrl_update(w, g, s0, s1, lr=0.1).asnumpy().round(3))
[-0.015])",
                    {"weight", "grad", "z", "n"}, 2),
               ftrl_update);
  declare_step(table,
               step("ftml_update", R"(Return a weight after a step towards the moving leader.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0, s1, s2 = nd.ones((1,)), nd.ones((1,)), nd.ones((1,))
>>> print(nd.ftml_update(w, g, s0, s1, s2, lr=0.1, t=1).asnumpy().round(3))
[0.989])",
                    {"weight", "grad", "d", "v", "z"}, 3),
               ftml_update);
  lazy::Op grouped = step("group_adagrad_update",
                          R"(Return a weight after a step of AdaGrad with one sum for each row.

>>> w, g, history = nd.ones((2, 2)), nd.ones((2, 2)), nd.zeros((2, 1))
>>> print(nd.contrib.group_adagrad_update(w, g, history, lr=0.1).asnumpy().round(3))
[[0.9 0.9]
 [0.9 0.9]])",
                          {"weight", "grad", "history"}, 1);
  grouped.mxnet_names = {"_contrib_group_adagrad_update"};
  grouped.in_graphs.alike = false;
  declare_step(table, std::move(grouped), group_adagrad_update);
  const auto adamw = [&](lazy::Op op, std::string_view name, std::string_view spelling,
                         Value (*compose)(Composition&, const AdamW&)) {
    op.mxnet_names = {name};
    op.spellings = {spelling};
    op.takes_numbers = true;
    op.in_graphs.alike = false;
    declare_step(table, std::move(op), compose);
  };
  adamw(step("adamw_update", R"(Return a weight after a step of Adam with a decay of its own.

Nothing changes where ``rescale_grad``, a number or an array of one, is zero or not finite.

>>> w, g, mean, var = nd.ones((1,)), nd.ones((1,)), nd.zeros((1,)), nd.zeros((1,))
>>> print(nd.contrib.adamw_update(w, g, mean, var, 1.0, lr=0.01, eta=1).asnumpy().round(3))
[0.968])",
             {"weight", "grad", "mean", "var", "rescale_grad"}, 0),
        "_adamw_update",
        "nd.contrib.adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, "
        "beta2=0.999, epsilon=1e-08, wd=0.0, clip_gradient=-1.0, out=None, name=None)",
        adamw_update<false>);
  adamw(step("mp_adamw_update", R"(Return a weight of two precisions after a step of AdamW.

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
}

void declare_lamb(Table& table) {
  declare_step(table,
               step("lamb_update_phase1", R"(Return the direction in which LAMB moves a weight.

>>> w, g = nd.array([1]), nd.array([0.5])
>>> s0, s1 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.lamb_update_phase1(w, g, s0, s1, t=1, wd=0.1).asnumpy().round(3))
[0.401])",
                    {"weight", "grad", "mean", "var"}, 2),
               lamb_update_phase1<false>);
  lazy::Op mixed_direction = step("mp_lamb_update_phase1",
                                  R"(Return the direction in which LAMB moves a weight, in float32.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> s0, s1, w32 = nd.ones((1,)), nd.ones((1,)), nd.ones((1,))
>>> print(nd.mp_lamb_update_phase1(w, g, s0, s1, w32, t=1, wd=0.1).asnumpy().round(3))
[0.416])",
                                  {"weight", "grad", "mean", "var", "weight32"}, 0);
  mixed_direction.in_graphs.alike = false;
  declare_step(table, std::move(mixed_direction), lamb_update_phase1<true>);
  const auto move = [&](lazy::Op op, Value (*compose)(Composition&, const LambStep&)) {
    op.in_graphs.alike = false;
    declare_step(table, std::move(op), compose);
  };
  move(step("lamb_update_phase2",
            R"(Return a weight after a step of LAMB: ``r1`` and ``r2`` are norms.

>>> w, direction = nd.array([3, 4]), nd.array([0, 1])
>>> print(nd.lamb_update_phase2(w, direction, w.norm(), direction.norm(), lr=0.1).asnumpy())
[3.  3.5])",
            {"weight", "g", "r1", "r2"}, 0),
       lamb_update_phase2<false>);
  move(step("mp_lamb_update_phase2", R"(Return a weight of two precisions after a step of LAMB.

>>> w, g = nd.ones((1,), dtype="float16"), nd.ones((1,), dtype="float16")
>>> norm, w32 = nd.ones((1,)), nd.ones((1,))
>>> print(nd.mp_lamb_update_phase2(w, w32, norm, norm, w32, lr=0.5).asnumpy())
[0.5])",
            {"weight", "g", "r1", "r2", "weight32"}, 1),
       lamb_update_phase2<true>);
}

void declare_many(Table& table) {
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
  // nd.contrib takes lists of these arrays.
  declare_each<MultiAdamW, multi_adamw<false>, &MultiAdamW::num_weights>(
      table, "_multi_adamw_update", "Return weights after steps of AdamW.");
  declare_each<MultiAdamW, multi_adamw<true>, &MultiAdamW::num_weights>(
      table, "_multi_mp_adamw_update", "Return weights of two precisions after steps of AdamW.");
  declare_each<MultiLamb, multi_lamb<false>, &MultiLamb::num_tensors>(
      table, "_multi_lamb_update", "Return weights after steps of LAMB.");
  declare_each<MultiLamb, multi_lamb<true>, &MultiLamb::num_tensors>(
      table, "_multi_mp_lamb_update", "Return weights of two precisions after steps of LAMB.");
}

}  // namespace

void declare_updates(Table& table) {
  declare_descent(table);
  declare_adaptive(table);
  declare_lamb(table);
  declare_many(table);
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
