// SPDX-License-Identifier: Apache-2.0
// Ops that can be written down in graphs, read from files and asked for shapes, and that have no
// kernel yet. Their parameters are MXNet's.
#include "ops/completing.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

using lazy::field;
using lazy::required;

struct LRN {
  double alpha = 1e-4, beta = 0.75, knorm = 2;
  std::int64_t nsize = 0;
  static constexpr auto fields =
      std::tuple{field("alpha", &LRN::alpha, "times which the squares are taken"),
                 field("beta", &LRN::beta, "the power that divides"),
                 field("knorm", &LRN::knorm, "is added to the squares"),
                 required("nsize", &LRN::nsize, "channels that are taken together")};
};

}  // namespace

void declare_announced(Table& table) {
  table.announce<LRN>({.name = "LRN",
                       .mxnet_names = {"LRN"},
                       .inputs = {"data"},
                       .complete = complete_as_first,
                       .in_graphs = {.alike = true},
                       .node = hide_outputs<2>});
}

}  // namespace afterglow::ops
