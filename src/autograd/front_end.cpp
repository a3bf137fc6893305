// SPDX-License-Identifier: Apache-2.0
#include "autograd/front_end.h"

#include "base/error.h"

namespace afterglow::autograd {

void FrontEnd::raise(Failure& failure) const {
  failure.raised = true;
  throw Error(failure.kind, failure.message);
}

std::shared_ptr<Failure> FrontEnd::wait_for_value(const Array& array) const {
  return array.storage->failure;
}

const FrontEnd& front_end_of_cpp() {
  static const FrontEnd instance;
  return instance;
}

}  // namespace afterglow::autograd
