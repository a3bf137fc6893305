// SPDX-License-Identifier: Apache-2.0
// What issuing asks of Python.
#include "autograd/front_end.h"

#include "bindings/functions.h"
#include "bindings/site.h"
#include "bindings/sparse.h"
#include "bindings/waiting.h"

namespace afterglow::bindings {
namespace {

class PythonFrontEnd : public autograd::FrontEnd {
 public:
  lazy::Site site() const override { return capture_site(); }
  std::string describe(const lazy::Site& site) const override { return describe_site(site); }
  void wait_for_room() const override { bindings::wait_for_room(); }
  void wait_for_others(const Array& array) const override {
    wait_for(array, engine::WaitFor::write);
  }
  std::shared_ptr<Failure> wait_for_value(const Array& array) const override {
    return bindings::wait_for_value(array);
  }
  autograd::Handle sparse_sum(const autograd::Handle& left,
                              const autograd::Handle& right) const override {
    return add_sparse(left, right);
  }
  void sparse_write(const autograd::Handle& target, const autograd::Handle& value) const override {
    write_sparse(target, value);
  }
  autograd::Handle to_dense(const autograd::Handle& sparse) const override {
    return dense_handle(sparse);
  }
  autograd::Handle sum_rows(const autograd::Handle& indices, const autograd::Handle& values,
                            const Shape& shape) const override {
    return add_rows(indices, values, shape);
  }
  [[noreturn]] void raise(Failure& failure) const override { raise_failure(failure); }
};

}  // namespace

void bind_front_end() {
  static const PythonFrontEnd front_end;
  autograd::chosen_front_end = &front_end;
}

}  // namespace afterglow::bindings
