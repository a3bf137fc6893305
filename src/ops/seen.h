// SPDX-License-Identifier: Apache-2.0
// Ops that copy their input as a view shows it: the elements in another order, a part of them, or
// the same ones in another shape. All that they say is which part of the memory the view is.
#pragma once

#include <string>
#include <utility>

#include "ops/gradients.h"
#include "ops/table.h"
#include "ops/views.h"

namespace afterglow::ops {

/// The input as the function that says the view sees it.
class Viewed {
 public:
  /// Without an inference nothing is left to be refused: the call was issued.
  explicit Viewed(const Layout& layout, const Inference* inference = nullptr)
      : layout(layout), inference_(inference) {}

  const Layout& layout;

  [[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::value) const {
    inference_->refuse(what, kind);
  }

 private:
  const Inference* inference_;
};

/// The input of the call, through a view, is what is copied.
void infer_view(Inference& inference, const Part& part);

/// An op whose view a function of the input and the parameters says.
template <class Parameters, Part (*view)(const Viewed&, const Parameters&)>
lazy::Op seen(lazy::Op op) {
  op.parameters = lazy::parameters_of<Parameters>();
  op.copies_view = true;
  op.infer = [](Inference& inference, const Parameters& given) {
    if (inference.call.inputs[0].is_immediate())
      inference.refuse("takes arrays, not numbers", ErrorKind::type);
    const Reference<Layout> layout = inference.call.inputs[0].layout;
    infer_view(inference, view(Viewed(*layout, &inference), given));
  };
  op.gradients = {reading_nothing([](Gradient& c) {
    return unviewed(c, view(Viewed(*c.saved(0).layout), c.parameters<Parameters>()));
  })};
  return op;
}

}  // namespace afterglow::ops
