// SPDX-License-Identifier: Apache-2.0
#include "autograd/anomaly.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "lazy/composing.h"
#include "lazy/layer.h"

namespace afterglow::autograd {
namespace {

/// What is seen of the elements of an array.
struct Elements {
  std::int64_t nans = 0, infinities = 0;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;

  /// Of those that are not finite; empty if all are.
  std::string counts() const {
    std::string text = nans ? std::to_string(nans) + " nan" : "";
    if (nans && infinities) text += " and ";
    return infinities ? text + std::to_string(infinities) + " inf" : text;
  }
  void add(double value) {
    if (std::isnan(value)) {
      ++nans;
    } else if (std::isinf(value)) {
      ++infinities;
    } else {
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    }
  }
};

template <class Element>
Element element_at(const std::byte* place) {
  Element element;
  std::memcpy(&element, place, sizeof element);
  return element;
}

double number_at(const std::byte* place, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return element_at<float>(place);
    case DType::float64:
      return element_at<double>(place);
    default:
      return half_to_float(element_at<std::uint16_t>(place));
  }
}

/// Of a view of floating-point elements, in C order.
Elements elements_of(const Array& array, const Layout& layout) {
  Elements seen;
  const std::size_t item = size_of(array.dtype);
  const std::byte* place = array.data();
  const auto shape = layout.shape(), strides = layout.strides();
  std::array<std::int64_t, max_rank> index{};
  for (std::int64_t left = layout.size(); left > 0; --left) {
    seen.add(number_at(place, array.dtype));
    for (int axis = layout.rank() - 1; axis >= 0; --axis) {
      place += strides[axis] * static_cast<std::int64_t>(item);
      if (++index[axis] < shape[axis]) break;
      place -= strides[axis] * shape[axis] * static_cast<std::int64_t>(item);
      index[axis] = 0;
    }
  }
  return seen;
}

std::string text_of(double number) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.6g", number);
  return text.data();
}

}  // namespace

AnomalyCheck::AnomalyCheck(const lazy::Call& call)
    : name_(lazy::named(*call.op, call.outer)),
      inputs_(lazy::describe_inputs(call)),
      site_(call.site.copy()) {
  // What is made of numbers alone is as finite as whoever gave them wanted it.
  is_looked_at_ = std::ranges::any_of(
      call.inputs, [](const lazy::Operand& input) { return !input.is_immediate(); });
  for (const lazy::Operand& input : call.inputs) {
    if (is_looked_at_) add_input(input);
  }
}

void AnomalyCheck::add_input(const lazy::Operand& input) {
  Elements seen;
  if (input.is_immediate()) {
    if (is_floating(input.dtype)) seen.add(number_at(input.immediate.data(), input.dtype));
  } else {
    if (front_end().wait_for_value(input) || (!input.data() && input.size())) {
      is_looked_at_ = false;  // there is no value
      return;
    }
    if (is_floating(input.dtype))
      seen = elements_of(input, input.given ? *input.given : *input.layout);
  }
  has_nan_ |= seen.nans > 0;
  has_infinity_ |= seen.infinities > 0;
  std::string values = seen.counts();
  if (seen.lowest <= seen.highest) {
    std::string range = text_of(seen.lowest);
    if (seen.lowest < seen.highest) range += " to " + text_of(seen.highest);
    values = values.empty() ? range : range + " and " + values;
  }
  if (values.empty()) return;  // nothing that could be told of it
  if (!values_.empty()) values_ += ", ";
  values_ += values;
}

void AnomalyCheck::look_at(const Array& result, const std::vector<Array>* more) {
  const std::shared_ptr<Failure> failure = front_end().wait_for_value(result);
  if (failure && !failure->raised) front_end().raise(*failure);
  if (failure || !is_looked_at_) return;
  const auto look = [&](const Array& array) {
    if (!is_floating(array.dtype) || !array.data()) return;
    const Elements seen = elements_of(array, *array.layout);
    // Infinities that were given, such as those of masks, are passed on as they were meant to be.
    if (seen.nans || (seen.infinities && !has_infinity_)) refuse(array, seen.counts());
  };
  look(result);
  if (more) std::ranges::for_each(*more, look);
}

void AnomalyCheck::refuse(const Array& result, const std::string& seen) {
  Failure failure;
  const char* const given = has_nan_        ? ", and its inputs have nan"
                            : has_infinity_ ? ", and its inputs have inf"
                                            : ", but all inputs are finite";
  failure.message = name_ + "the result, " + to_string(result.shape()) + " " +
                    name_of(result.dtype) + ", has " + seen + given + "; inputs: " + inputs_;
  if (!values_.empty()) failure.message += "; their values: " + values_;
  if (differentiated && differentiated->op) {
    failure.message += "\n  in the gradient of [" + std::string(differentiated->op->name) + "]";
    const std::string place = front_end().describe(differentiated->site);
    if (!place.empty()) failure.message += " issued at " + place;
  }
  failure.site = std::move(site_);
  failure.layer = lazy::current_layer;
  front_end().raise(failure);
}

}  // namespace afterglow::autograd
