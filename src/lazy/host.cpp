// SPDX-License-Identifier: Apache-2.0
#include "lazy/host.h"

#include "lazy/call.h"

namespace afterglow::lazy {
namespace {

class HostPass : public Pass {
 public:
  explicit HostPass(const Call& call) : call_(call) {}
  void run(int) override { call_.host->run(call_); }

 private:
  const Call& call_;
};

}  // namespace

std::unique_ptr<Pass> host_pass(const Call& call) {
  return std::make_unique<HostPass>(call);
}

void compute_on_host(Op& op) {
  op.is_host = true;
  op.infer = [](Inference& inference) {  // whoever has the function gives the outputs
    if (!inference.call.host)
      inference.refuse("is computed by Python; only its function there can be called",
                       ErrorKind::not_implemented);
  };
  op.kernel = host_pass;
  op.compose = {};
  op.may_fail = true;
}

}  // namespace afterglow::lazy
