// SPDX-License-Identifier: Apache-2.0
// A program with memory of its own, and what its steps give when each runs alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/program.h"
#include "kernels/reduce.h"
#include "kernels_support.h"

namespace kernels_test {

using namespace afterglow::kernels;

inline DType compute_type(DType dtype) {
  return dtype == DType::float16 ? DType::float32 : dtype;
}

inline bool same_elements(const Buffer& a, const Buffer& b) {
  if (a.same_bits(b)) return true;
  const std::size_t size = size_of(a.dtype());
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const bool equal = std::memcmp(static_cast<const char*>(a.data()) + i * size,
                                   static_cast<const char*>(b.data()) + i * size, size) == 0;
    if (!equal && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

/// A program with the memory of its operands.
struct Example {
  std::vector<std::int64_t> shape;
  Program program;
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<std::int64_t> bases;
  std::vector<int> buffer_of;  ///< operands may share one
  std::vector<Buffer> buffers;
  std::int64_t size = 1, rows = 1, columns = 1;

  void set_shape(std::vector<std::int64_t> lengths, int split) {
    shape = std::move(lengths);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      size *= shape[i];
      (static_cast<int>(i) < split ? rows : columns) *= shape[i];
    }
    program.rank = static_cast<int>(shape.size());
    program.shape = shape.data();
    program.size = size;
    program.split = split;
  }

  int add_operand(DType dtype, std::vector<std::int64_t> steps, std::int64_t base,
                  std::int64_t extent) {
    strides.push_back(std::move(steps));
    bases.push_back(base);
    buffers.emplace_back(dtype, extent);
    fill_small(buffers.back());
    buffer_of.push_back(static_cast<int>(buffers.size()) - 1);
    return program.operands_used++;
  }

  /// One more operand that is the same view.
  int add_twin(int operand) {
    strides.push_back(strides[operand]);
    bases.push_back(bases[operand]);
    buffer_of.push_back(buffer_of[operand]);
    program.operands[program.operands_used] = program.operands[operand];
    return program.operands_used++;
  }

  /// Rows and columns at one stride each.
  int add_matrix(DType dtype, std::int64_t row_stride, std::int64_t column_stride) {
    std::vector<std::int64_t> steps(shape.size());
    std::int64_t row = row_stride, column = column_stride;
    for (int i = program.rank - 1; i >= 0; --i) {
      std::int64_t& stride = i < program.split ? row : column;
      steps[i] = stride;
      stride *= shape[i];
    }
    const std::int64_t back = std::max<std::int64_t>(0, -row_stride) * (rows - 1) +
                              std::max<std::int64_t>(0, -column_stride) * (columns - 1);
    const std::int64_t ahead = std::max<std::int64_t>(0, row_stride) * (rows - 1) +
                               std::max<std::int64_t>(0, column_stride) * (columns - 1);
    return add_operand(dtype, steps, back, back + ahead + 1);
  }
  int add_dense(DType dtype) { return add_matrix(dtype, columns, 1); }

  int add_step(const Step& step) {
    program.steps[program.steps_used] = step;
    return program.steps_used++;
  }

  /// Points the operands at `memory`.
  Program bound(std::vector<Buffer>& memory) {
    Program result = program;
    for (int i = 0; i < program.operands_used; ++i) {
      Buffer& buffer = memory[buffer_of[i]];
      Operand& operand = result.operands[i];
      operand.dtype = buffer.dtype();
      operand.data = static_cast<char*>(buffer.data()) +
                     bases[i] * static_cast<std::int64_t>(size_of(buffer.dtype()));
      operand.strides = strides[i].data();
    }
    return result;
  }
  std::int64_t offset(int operand, std::int64_t position) const {
    if (program.operands[operand].scalar) return 0;
    std::int64_t result = 0;
    for (int i = program.rank - 1; i >= 0; --i) {
      result += position % shape[i] * strides[operand][i];
      position /= shape[i];
    }
    return result;
  }
};

inline Step formula_step(Formula formula, DType compute, DType dtype, std::vector<Source> inputs,
                         int output = -1, bool per_row = false) {
  Step step;
  step.formula = formula;
  step.compute = compute;
  step.dtype = dtype;
  step.per_row = per_row;
  step.output = static_cast<std::int8_t>(output);
  step.inputs_used = static_cast<std::int8_t>(inputs.size());
  std::copy(inputs.begin(), inputs.end(), step.inputs);
  return step;
}

inline Step fold_step(Reduction reduction, DType compute, DType dtype, Source input,
                      int output = -1) {
  Step step = formula_step(Formula::copy, compute, dtype, {input}, output);
  step.kind = Step::Kind::fold;
  step.reduction = reduction;
  return step;
}

inline Source operand(int index) {
  return {Source::Kind::operand, static_cast<std::int8_t>(index)};
}
inline Source value(int index) {
  return {Source::Kind::step, static_cast<std::int8_t>(index)};
}

/// Every step alone, from contiguous temporaries into a contiguous temporary.
class Reference {
 public:
  Reference(const Example& example, const Program& program)
      : example_(example), program_(program) {}

  void run() {
    for (int i = 0; i < program_.steps_used; ++i) {
      const Step& step = program_.steps[i];
      const bool by_row = step.per_row || step.kind == Step::Kind::fold;
      Buffer result(step.dtype, by_row ? example_.rows : example_.size);
      if (step.kind == Step::Kind::fold)
        reduce(step, result);
      else
        apply(step, result);
      if (step.output >= 0) store(step, result, by_row);
      values_.push_back(std::move(result));
    }
  }

 private:
  /// One element for each of the pass, or for each row.
  Buffer load(Source source, bool by_row) const {
    const std::int64_t count = by_row ? example_.rows : example_.size;
    const bool from_operand = source.kind == Source::Kind::operand;
    const DType dtype =
        from_operand ? program_.operands[source.index].dtype : values_[source.index].dtype();
    const char* data = from_operand ? static_cast<const char*>(program_.operands[source.index].data)
                                    : static_cast<const char*>(values_[source.index].data());
    Buffer result(dtype, count);
    const std::int64_t element = static_cast<std::int64_t>(size_of(dtype));
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t place = i;
      if (from_operand)
        place = example_.offset(source.index, by_row ? i * example_.columns : i);
      else if (values_[source.index].size() != count)
        place = i / example_.columns;
      std::memcpy(static_cast<char*>(result.data()) + i * element, data + place * element, element);
    }
    return result;
  }

  static void run_formula(Formula formula, DType compute, std::vector<Buffer>& inputs,
                          Buffer& output) {
    ElementwisePass pass;
    pass.compute = compute;
    pass.produced = produced_type(formula, compute);
    pass.function = block_function(formula, compute);
    pass.inputs_used = static_cast<int>(inputs.size());
    pass.rank = 1;
    pass.size = output.size();
    pass.shape = &pass.size;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      pass.inputs[i] = {inputs[i].data(), inputs[i].dtype()};
    pass.output = {output.data(), output.dtype()};
    for (int share = 0; share < share_count(pass); ++share) run_share(pass, share);
  }

  void apply(const Step& step, Buffer& result) const {
    std::vector<Buffer> inputs;
    for (int i = 0; i < step.inputs_used; ++i) inputs.push_back(load(step.inputs[i], step.per_row));
    run_formula(step.formula, step.compute, inputs, result);
  }

  void reduce(const Step& step, Buffer& result) const {
    std::vector<Buffer> inputs;
    inputs.push_back(load(step.inputs[0], false));
    if (compute_type(inputs[0].dtype()) != step.compute) {
      Buffer converted(step.compute, example_.size);
      run_formula(Formula::copy, step.compute, inputs, converted);
      inputs[0] = std::move(converted);
    }
    const std::int64_t shape[] = {example_.rows, example_.columns}, strides[] = {shape[1], 1};
    ReducePass pass(step.reduction, {inputs[0].data(), inputs[0].dtype(), 2, shape, strides}, 2,
                    result.data(), step.dtype);
    for (int share = 0; share < pass.shares(); ++share) pass.run(share);
    pass.finish();
  }

  void store(const Step& step, const Buffer& result, bool by_row) const {
    const Operand& target = program_.operands[step.output];
    std::vector<Buffer> inputs{result};
    if (target.dtype != step.dtype) {
      inputs.emplace_back(target.dtype, result.size());
      std::vector<Buffer> source{result};
      run_formula(Formula::copy, target.dtype, source, inputs[1]);
    }
    const Buffer& stored = inputs.back();
    const std::int64_t element = static_cast<std::int64_t>(size_of(target.dtype));
    for (std::int64_t i = 0; i < stored.size(); ++i)
      std::memcpy(static_cast<char*>(target.data) +
                      example_.offset(step.output, by_row ? i * example_.columns : i) * element,
                  static_cast<const char*>(stored.data()) + i * element, element);
  }

  const Example& example_;
  const Program& program_;
  std::vector<Buffer> values_;
};

}  // namespace kernels_test
