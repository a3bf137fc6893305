// SPDX-License-Identifier: Apache-2.0
// Sums over devices, for what is normalised over all parts of a batch.
#include "lazy/aggregate.h"
#include "lazy/capture.h"
#include "lazy/costs.h"
#include "lazy/meeting.h"
#include "ops/compose.h"
#include "ops/gradients.h"
#include "ops/operators.h"
#include "ops/table.h"

namespace afterglow::ops {

using autograd::Composition;

namespace {

struct DeviceSum {
  std::string key;
  std::int64_t devices = 1;
  static constexpr auto fields =
      std::tuple{field("key", &DeviceSum::key, "by which the calls of the devices find each other"),
                 field("devices", &DeviceSum::devices, "how many there are")};
};

/// A call of our own that a meeting computes, with an output that is settled.
Value meet(const lazy::Op& op, const Value& input, std::shared_ptr<lazy::HostFunction> function,
           const Reference<Layout>& layout, DType dtype) {
  autograd::CallBuilder builder(op, false);
  builder.add(input);
  lazy::Call& call = builder.call();
  lazy::Operand& output = call.outputs.emplace_back();
  output.layout = layout;
  output.dtype = dtype;
  call.cost = lazy::worth_a_thread;  // never on the thread that publishes
  call.host = std::move(function);
  return builder.issue();
}

constexpr auto infer_nothing = [](Inference&) {};

Value device_sum(Composition& c, const DeviceSum& given) {
  static const lazy::Op bring = {.name = "bring_to_devices",
                                 .inputs = {"data"},
                                 .infer = infer_nothing,
                                 .kernel = lazy::host_pass,
                                 .may_fail = true};
  static const lazy::Op take = {.name = "sum_of_devices",
                                .inputs = {"token"},
                                .infer = infer_nothing,
                                .kernel = lazy::host_pass,
                                .may_fail = true};
  const Value x = contiguous(c[0]);
  // Where calls are inferred and forgotten nobody meets.
  if (given.devices == 1 || lazy::Diversion::current()) return copy(x);
  if (x.array.dtype != DType::float32 && x.array.dtype != DType::float64)
    c.refuse("got " + std::string(name_of(x.array.dtype)) + "; float32 or float64 is needed");
  if (lazy::window().serial())
    c.refuse("devices wait for each other, which the serial engine cannot do", ErrorKind::mxnet);
  if (lazy::Capture* const capture = lazy::Capture::current())
    capture->refuse("devices wait for each other");
  const Context device = x.array.context();
  const auto meeting =
      lazy::Meeting::join(given.key, device, static_cast<std::size_t>(given.devices));
  const Value token =
      meet(bring, x, meeting->bring(device), Layout::contiguous({}), DType::float32);
  meeting->hold(token.array);
  return meet(take, token, meeting->take(), x.array.layout, x.array.dtype);
}

}  // namespace

Value sum_over_devices(const Value& x, const std::string& key, std::int64_t devices) {
  Value inputs[] = {x};
  const lazy::Argument arguments[] = {key, devices};
  return call(the_op<"device_sum">(), inputs, {arguments, {}, nullptr}, false);
}

void declare_device_sum(Table& table) {
  table.compose<DeviceSum>(
      {.name = "device_sum",
       .inputs = {"data"},
       // What one device brings is in the sums of all, so its gradient is the sum of theirs.
       .gradients = {reading_nothing([](Gradient& c) {
         const auto given = c.parameters<DeviceSum>();
         return sum_over_devices(c.g, given.key + ", backward", given.devices);
       })},
       .compose = device_sum});
}

}  // namespace afterglow::ops
