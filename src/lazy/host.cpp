// SPDX-License-Identifier: Apache-2.0
#include "lazy/host.h"

#include <map>

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

std::unique_ptr<Pass> host_kernel(const Call& call) {
  return std::make_unique<HostPass>(call);
}

}  // namespace

const Op& host_op(const std::string& name) {
  static std::map<std::string, Op>& ops = *new std::map<std::string, Op>;
  const auto [place, is_new] = ops.try_emplace(name);
  if (is_new) {
    Op& op = place->second;
    op.name = place->first;
    op.inputs = {"data"};
    op.variadic = true;
    op.infer = [](Inference&) {};  // its outputs are given
    op.kernel = host_kernel;
    op.may_fail = true;
  }
  return place->second;
}

}  // namespace afterglow::lazy
