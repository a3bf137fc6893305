// SPDX-License-Identifier: Apache-2.0
// What the ops that update weights have in common. The new weight is the result, which programs let
// go to the weight (`out=weight`), and the states are written in place. Each rule stands once, in
// the file of its family, whatever it is asked for: a weight, one of two precisions, or many of
// them; optimizers call these ops. They are made of elementwise ops, so an update is fused into one
// pass over weight, gradient and states, and no gradient passes through.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/compositions.h"
#include "ops/gradients.h"
#include "ops/table.h"

namespace afterglow::ops {

// --- what rules work on ---

inline bool is_number(const Value& value, double number) {
  return value.is_number() && value.number() == number;
}

/// x + factor * y, without what changes nothing.
Value plus(const Value& x, const Value& factor, const Value& y);

/// Clipped to the bound, if that is not negative.
Value bounded(const Value& x, double bound);

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
    for (std::size_t i = 0; i < width; ++i) {  // rescale_grad alone may be a number
      if (c[first + i].is_number())
        c.refuse("weight, gradient and states must be arrays, not numbers", ErrorKind::type);
      if (shape_of(c[first + i]) != shape_of(c[first]))
        c.refuse("weight, gradient and states must have one shape");
    }
  }

  const Value& weight() const { return c_[is_mixed_ ? first_ + width_ - 1 : first_]; }
  Value gradient() const {
    return is_mixed_ ? in_type(c_[first_ + 1], weight().array.dtype) : c_[first_ + 1];
  }
  Value& state(std::size_t number) const { return c_.written(first_ + 2 + number); }
  /// The new weight in its own type, whatever those of gradient and rates are; where it has two
  /// precisions, the copy is written.
  Value finish(const Value& updated) const {
    if (is_mixed_) assign(c_.written(first_ + width_ - 1), updated);
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
void follow(Value& mean, double decay, const Value& value);

/// How much of a mean that started at zero is there after so many updates.
double share_reached(const Composition& c, double decay, double count);

struct Betas {
  double beta1, beta2, epsilon;
};

/// Mean and mean square of gradients are the first two states.
void follow_moments(const Row& row, const Value& slope, const Betas& betas);

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
void need_each(const Composition& c, std::string_view name, std::size_t given, std::int64_t count);

// --- declarations ---

inline constexpr std::string_view lr_doc = "the learning rate";
inline constexpr std::string_view lrs_doc = "the learning rate of each weight";
inline constexpr std::string_view wd_doc = "times which the weight is added to the gradient";
inline constexpr std::string_view wds_doc = "the same for each weight";
inline constexpr std::string_view momentum_doc = "how much of the last move is kept";
inline constexpr std::string_view rescale_doc = "times which the gradient is taken";
inline constexpr std::string_view clip_doc =
    "the bound of the scaled gradient, if it is not negative";
inline constexpr std::string_view lazy_doc = "is taken and has no effect on dense gradients";
inline constexpr std::string_view beta1_doc = "how much of the mean is kept";
inline constexpr std::string_view beta2_doc = "how much of the mean square is kept";
inline constexpr std::string_view epsilon_doc = "is added to what is divided by";
inline constexpr std::string_view count_doc = "how many";

/// Fields that most have, in MXNet's order; `lr` comes before what is a rule's own, and these
/// after.
#define SLOPE_FIELDS(Struct)                                                                   \
  field("wd", &Struct::wd, wd_doc), field("rescale_grad", &Struct::rescale_grad, rescale_doc), \
      field("clip_gradient", &Struct::clip_gradient, clip_doc)

/// What all updates have in common: names, a text, operands, and so many states that come last.
lazy::Op update_op(std::string_view name, std::string_view doc,
                   std::vector<std::string_view> inputs, int states);

template <class Given>
void declare_update(Table& table, lazy::Op op, Value (*compose)(Composition&, const Given&)) {
  op.compose = compose;
  table.compose<Given>(std::move(op));
}

/// Updates of many weights: so many arrays belong to each.
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

}  // namespace afterglow::ops
