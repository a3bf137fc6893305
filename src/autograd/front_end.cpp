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

namespace {

[[noreturn]] void refuse_sparse() {
  throw Error(ErrorKind::not_implemented, "sparse arrays are those of Python");
}

}  // namespace

Handle FrontEnd::sparse_sum(const Handle&, const Handle&) const {
  refuse_sparse();
}

void FrontEnd::sparse_write(const Handle&, const Handle&) const {
  refuse_sparse();
}

Handle FrontEnd::to_dense(const Handle&) const {
  refuse_sparse();
}

Handle FrontEnd::sum_rows(const Handle&, const Handle&, const Shape&) const {
  refuse_sparse();
}

const FrontEnd& front_end_of_cpp() {
  static const FrontEnd instance;
  return instance;
}

}  // namespace afterglow::autograd
