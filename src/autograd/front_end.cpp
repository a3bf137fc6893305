// SPDX-License-Identifier: Apache-2.0
#include "autograd/front_end.h"

#include "base/error.h"

namespace afterglow::autograd {
namespace {

const FrontEnd*& chosen() {
  static const FrontEnd none;
  static const FrontEnd* front_end = &none;
  return front_end;
}

}  // namespace

void FrontEnd::raise(Failure& failure) const {
  failure.raised = true;
  throw Error(failure.kind, failure.message);
}

const FrontEnd& front_end() {
  return *chosen();
}

void set_front_end(const FrontEnd& front_end) {
  chosen() = &front_end;
}

}  // namespace afterglow::autograd
