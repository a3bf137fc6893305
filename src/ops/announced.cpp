// SPDX-License-Identifier: Apache-2.0
// Ops that can be written down in graphs, read from files and asked for shapes, and that have no
// kernel yet. Their parameters are MXNet's.
#include <array>
#include <string>

#include "ops/completing.h"
#include "ops/table.h"

namespace afterglow::ops {
namespace {

enum class Blank { first, last };

constexpr auto choices(Blank) {
  return std::array{Choice{"first", Blank::first}, Choice{"last", Blank::last}};
}

struct CTCLoss {
  bool use_data_lengths = false, use_label_lengths = false;
  Blank blank_label = Blank::first;
  static constexpr auto fields =
      std::tuple{field("use_data_lengths", &CTCLoss::use_data_lengths,
                       "whether sequences have lengths of their own"),
                 field("use_label_lengths", &CTCLoss::use_label_lengths, "whether labels have"),
                 field("blank_label", &CTCLoss::blank_label, "which class is the blank")};
};

struct KLSparseReg {
  double sparseness_target = 0.1, penalty = 0.001, momentum = 0.9;
  static constexpr auto fields = std::tuple{
      field("sparseness_target", &KLSparseReg::sparseness_target, "the mean that is wanted"),
      field("penalty", &KLSparseReg::penalty, "times which the gradient is taken"),
      field("momentum", &KLSparseReg::momentum, "the weight of the average of earlier batches")};
};

}  // namespace

void declare_announced(Table& table) {
  table.announce<CTCLoss>(
      {.name = "CTCLoss",
       .mxnet_names = {"CTCLoss", "ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"},
       .inputs = {"data", "label", "data_lengths", "label_lengths"},
       .optional_inputs = 2,
       .complete =
           [](Completion& completion, const CTCLoss&) {
             need_rank(completion, 0, 3);
             if (completion.shapes[0]) completion.results = {{(*completion.shapes[0])[1]}};
           },
       .node = number_outputs<2>});
  table.announce<KLSparseReg>(
      {.name = "IdentityAttachKLSparseReg",
       .mxnet_names = {"IdentityAttachKLSparseReg"},
       .inputs = {"data", "moving_avg"},
       .complete =
           [](Completion& completion, const KLSparseReg&) {
             const auto& data = completion.shapes[0];
             if (!data) return;
             if (data->size() < 2) completion.refuse("needs data of at least 2 dimensions");
             completion.shapes[1] = Shape{(*data)[1]};
             completion.results = {*data};
           },
       .in_graphs = {
           .auxiliary = 1, .beginnings = {{"moving_avg", R"(["zero", {}])"}}, .is_loss = true}});
}

}  // namespace afterglow::ops
