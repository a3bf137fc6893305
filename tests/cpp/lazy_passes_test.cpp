// SPDX-License-Identifier: Apache-2.0
// The passes as pure functions of calls that no window has.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "lazy/passes/passes.h"
#include "lazy_support.h"

using namespace support;
using lazy::Call;
using lazy::Dying;
using lazy::FuseOptions;
using lazy::Plan;

namespace {

/// Calls in program order, inferred and counted as holders of their storages, but never run.
class Sketch {
 public:
  Sketch() = default;
  Sketch(const Sketch&) = delete;
  Sketch& operator=(const Sketch&) = delete;
  ~Sketch() {
    for (Call* call : calls) Call::destroy(call);
  }

  Array add(const lazy::Op& op, const std::vector<Input>& inputs, std::vector<Argument> given = {},
            const Array* out = nullptr) {
    Draft draft(op);
    add_inputs(*draft, inputs);
    const std::vector<Argument> arguments = arguments_of(op, std::move(given));
    lazy::Inference inference{op, *draft, arguments, false, context};
    op.infer(inference);
    lazy::Operand& output = draft->outputs[0];
    if (out) {
      static_cast<Array&>(output) = *out;
    } else {
      static_cast<Array&>(output) = Array::create(output.layout, output.dtype, inference.context);
    }
    draft->overwrites = output.covers_storage();
    draft->joined = true;
    draft->sequence = calls.size() + 1;
    for_each_storage(*draft, [](Storage& storage) { ++storage.slots.all; });
    const Array result = output;
    calls.push_back(draft.release());
    return result;
  }
  Array add(const char* name, const std::vector<Input>& inputs, std::vector<Argument> given = {},
            const Array* out = nullptr) {
    return add(op_named(name), inputs, std::move(given), out);
  }
  void into(const Array& out, const char* name, const std::vector<Input>& inputs) {
    add(name, inputs, {}, &out);
  }

  Plan plan() const {
    Plan plan;
    plan.calls = calls;
    plan.separate();
    return plan;
  }
  Plan fused(FuseOptions options = {.smallest = 0, .parallel = 0}) const {
    Plan fused = plan();
    lazy::fuse(fused, options);
    return fused;
  }
  /// "abc d": the groups of the plan, calls named by their place in program order.
  std::string groups(FuseOptions options = {.smallest = 0, .parallel = 0}) const {
    const Plan plan = fused(options);
    std::string text;
    for (std::size_t i = 0; i < plan.groups(); ++i) {
      if (i) text += ' ';
      for (const Call* call : plan.group(i)) text += static_cast<char>('a' + call->sequence - 1);
    }
    return text;
  }
  /// "10": which calls are observed.
  std::string seen() const {
    std::string text;
    lazy::Plan plan;
    plan.calls = calls;
    plan.separate();
    for (const bool wanted : lazy::observed(plan)) text += wanted ? '1' : '0';
    return text;
  }
  bool notes_are_clean() const {
    bool clean = true;
    for (const Call* call : calls) {
      for_each_storage(*call, [&](const Storage& storage) {
        const auto& notes = storage.notes;
        clean = clean && !notes.touched && !notes.written && notes.last_writer == -1 &&
                notes.last_toucher == -1;
      });
    }
    return clean;
  }

  std::vector<Call*> calls;
  Context context{};  ///< of ops without inputs
};

Array matrix(std::int64_t rows = 8, std::int64_t columns = 6, Context context = {}) {
  return filled({rows, columns}, 1, context);
}

const Argument last_axis = Shape{-1};
const std::vector<Argument> over_rows = {last_axis, true};  // keepdims

}  // namespace

// --- observed ---

TEST("observed: a chain whose end is dead is dead from its start") {
  Sketch sketch;
  const Array x = matrix();
  Array y = sketch.add("add", {sketch.add("exp", {sketch.add("negative", {x})}), 1.0});
  CHECK_EQUAL(sketch.seen(), "111");
  y = {};
  CHECK_EQUAL(sketch.seen(), "000");
  CHECK(sketch.notes_are_clean());
}

TEST("observed: a held intermediate keeps what is before it and not what is after") {
  Sketch sketch;
  const Array x = matrix();
  const Array middle = sketch.add("exp", {sketch.add("negative", {x})});
  sketch.add("add", {middle, 1.0});
  CHECK_EQUAL(sketch.seen(), "110");
  CHECK(sketch.notes_are_clean());
}

TEST("observed: writes to held storages are kept, with what they read") {
  Sketch sketch;
  const Array x = matrix(), y = matrix();
  sketch.into(y, "add", {sketch.add("exp", {x}), 1.0});
  sketch.into(y, "multiply", {y, 2.0});
  CHECK_EQUAL(sketch.seen(), "111");
  CHECK(sketch.notes_are_clean());
}

TEST("observed: a write through a view counts for the storage, a dead view is nobody") {
  Sketch sketch;
  const Array x = filled({6}, 1);
  Array held = filled({12}, 1), dead = filled({12}, 1);
  {
    const Array part_of_held = slice(held, 6, 6), part_of_dead = slice(dead, 6, 6);
    dead = {};
    sketch.into(part_of_held, "exp", {x});
    sketch.into(part_of_dead, "exp", {x});
    CHECK_EQUAL(sketch.seen(), "11");  // the view itself is a holder
  }
  CHECK_EQUAL(sketch.seen(), "10");
  CHECK(sketch.notes_are_clean());
}

TEST("observed: a later observed reader keeps all earlier writers of what it reads") {
  Sketch sketch;
  const Array x = matrix();
  Array y = sketch.add("exp", {x});
  sketch.into(y, "add", {y, 1.0});
  const Array z = sketch.add("negative", {y});
  sketch.into(y, "multiply", {y, 3.0});
  y = {};
  CHECK_EQUAL(sketch.seen(), "1110");  // what is written after the read is nobody's
  CHECK(sketch.notes_are_clean());
}

TEST("observed: an unobserved reader keeps nothing") {
  Sketch sketch;
  const Array x = matrix();
  Array y = sketch.add("exp", {x});
  sketch.add("negative", {y});
  y = {};
  const Array z = sketch.add("sqrt", {x});
  CHECK_EQUAL(sketch.seen(), "001");
}

TEST("observed: a group is judged as a whole, and keeps what all of it reads") {
  Sketch sketch;
  const Array x = matrix();
  Array made = sketch.add("exp", {x});
  sketch.add("negative", {made});  // dead, but it runs with the next one
  const Array wanted = sketch.add("sqrt", {x});
  sketch.add("abs", {x});
  made = {};
  Plan plan = sketch.plan();
  CHECK(lazy::observed(plan) == (std::vector<bool>{false, false, true, false}));
  plan.ends = {1, 3, 4};
  CHECK(lazy::observed(plan) == (std::vector<bool>{true, true, false}));
  CHECK(sketch.notes_are_clean());
}

// --- fuse: what goes together ---

TEST("fuse: chains, trees and several outputs are one group") {
  Sketch chain;
  const Array x = matrix();
  const Array end = chain.add("add", {chain.add("exp", {chain.add("negative", {x})}), 1.0});
  CHECK_EQUAL(chain.groups(), "abc");
  CHECK(chain.notes_are_clean());

  Sketch tree;
  const Array left = tree.add("exp", {x});
  const Array right = tree.add("negative", {x});  // beside it: both read x
  const Array both = tree.add("add", {left, right});
  const Array again = tree.add("multiply", {both, left});
  CHECK_EQUAL(tree.groups(), "abcd");
  CHECK(tree.notes_are_clean());
}

TEST("fuse: without a common array, or across shapes, calls stay apart") {
  Sketch sketch;
  const Array x = matrix(), y = matrix(), z = matrix(6, 8);
  sketch.add("exp", {x});
  sketch.add("exp", {y});
  sketch.add("exp", {z});
  CHECK_EQUAL(sketch.groups(), "a b c");
  Sketch join;
  // Independent chains that meet become one, unless there is a reason for their order.
  const Array a = join.add("exp", {x}), b = join.add("exp", {y});
  const Array c = join.add("add", {a, b});
  CHECK_EQUAL(join.groups(), "abc");
  Sketch ordered;
  const Array d = ordered.add("exp", {x});
  const Array folded = ordered.add("sum", {d}, {Shape{0}});
  const Array e = ordered.add("add", {y, folded});
  const Array f = ordered.add("add", {d, e});
  CHECK_EQUAL(ordered.groups(), "a b cd");
}

TEST("fuse: a reader between merged groups still comes before the next writer") {
  Sketch sketch;
  const Array x = matrix(), y = matrix();
  const Array a = sketch.add("exp", {y});
  const Array s = sketch.add("sum", {x}, {Shape{0}});
  const Array c = sketch.add("negative", {x});
  const Array d = sketch.add("add", {a, c});
  sketch.into(x, "multiply", {x, 2.0});
  const std::string groups = sketch.groups();
  CHECK(groups.find('b') < groups.find('e'));
  CHECK(sketch.notes_are_clean());
}

TEST("fuse: a merged group keeps the place that a forgotten reader gives it") {
  const Array x = matrix(6, 6), y = matrix(6, 6), z = matrix(6, 6);
  Sketch sketch;
  const Array a = sketch.add("exp", {x});
  const Array b = sketch.add("dot", {a, y});    // reads y
  const Array c = sketch.add("negative", {y});  // another group that does, the last one
  sketch.into(y, "exp", {z});                   // depends on both
  const Array d = sketch.add("dot", {a, c});
  const std::string groups = sketch.groups();
  CHECK(groups.find('b') < groups.find('d'));
}

TEST("fuse: a merged group depends on all that its parts did") {
  const Array p = matrix(), q = matrix(), r = matrix(), w = matrix();
  Sketch sketch;
  const Array a = sketch.add("exp", {p});
  const Array folded = sketch.add("sum", {q}, {Shape{0}});
  const Array c = sketch.add("exp", {r});
  const Array d = sketch.add("add", {w, folded});
  const Array e = sketch.add("add", {c, d});  // two groups become one, which needs the fold
  const Array f = sketch.add("add", {a, e});  // and cannot go before it
  const std::string groups = sketch.groups();
  CHECK(groups.find('b') < groups.find('d'));
  CHECK(groups.find("ce") != std::string::npos || groups.find("cde") != std::string::npos);
}

TEST("fuse: rows, columns and single elements that repeat take part") {
  Sketch sketch;
  const Array x = matrix(), row = filled({6}, 2), column = filled({8, 1}, 3), one = filled({1}, 4);
  const Array a = sketch.add("add", {x, row});
  const Array b = sketch.add("multiply", {a, column});
  const Array c = sketch.add("subtract", {b, one});
  const Array d = sketch.add("maximum", {c, 0.5});
  CHECK_EQUAL(sketch.groups(), "abcd");
  // What is computed in the smaller shape is another pass.
  Sketch smaller;
  const Array doubled = smaller.add("multiply", {row, 2.0});
  const Array sum = smaller.add("add", {x, doubled});
  CHECK_EQUAL(smaller.groups(), "a b");
}

TEST("fuse: a reduction over the last axes joins, one over others does not") {
  const Array x = matrix();
  const Array cube = filled({4, 5, 6}, 1);
  const auto groups = [&](const Array& from, const std::vector<Argument>& arguments) {
    Sketch sketch;
    const Array y = sketch.add("sum", {sketch.add("exp", {from})}, arguments);
    const std::string text = sketch.groups();
    CHECK(sketch.notes_are_clean());
    return text;
  };
  CHECK_EQUAL(groups(x, {Shape{1}}), "ab");
  CHECK_EQUAL(groups(x, {Shape{1}, true}), "ab");
  CHECK_EQUAL(groups(x, {}), "ab");  // all axes are the last ones
  CHECK_EQUAL(groups(x, {Shape{0}}), "a b");
  CHECK_EQUAL(groups(cube, {Shape{2}}), "ab");
  CHECK_EQUAL(groups(cube, {Shape{1, 2}}), "ab");
  CHECK_EQUAL(groups(cube, {Shape{1}}), "a b");
  CHECK_EQUAL(groups(cube, {Shape{0, 2}}), "a b");
}

TEST("fuse: softmax is one group, and so is layer normalisation") {
  const Array x = matrix();
  Sketch softmax;
  const Array shifted = softmax.add("subtract", {x, softmax.add("max", {x}, over_rows)});
  const Array powers = softmax.add("exp", {shifted});
  const Array result = softmax.add("divide", {powers, softmax.add("sum", {powers}, over_rows)});
  CHECK_EQUAL(softmax.groups(), "abcde");
  CHECK(softmax.notes_are_clean());

  Sketch norm;
  const Array centred = norm.add("subtract", {x, norm.add("mean", {x}, over_rows)});
  const Array variance = norm.add("mean", {norm.add("square", {centred})}, over_rows);
  const Array deviation = norm.add("sqrt", {norm.add("add", {variance, 1e-5})});
  const Array scaled =
      norm.add("multiply", {norm.add("divide", {centred, deviation}), filled({6}, 1)});
  const Array shifted_again = norm.add("add", {scaled, filled({6}, 1)});
  CHECK_EQUAL(norm.groups(), "abcdefghi");
  CHECK(norm.notes_are_clean());
}

TEST("fuse: what reads a fold of rows that no tile can hold is another pass") {
  const Array x = filled({2, kernels::longest_row + 1}, 1);
  Sketch sketch;
  const Array shifted = sketch.add("subtract", {x, sketch.add("max", {x}, over_rows)});
  CHECK_EQUAL(sketch.groups(), "a b");
  const Array y = filled({2, kernels::longest_row}, 1);
  Sketch short_enough;
  const Array also = short_enough.add("subtract", {y, short_enough.add("max", {y}, over_rows)});
  CHECK_EQUAL(short_enough.groups(), "ab");
}

TEST("fuse: a fold over all elements is read by another pass") {
  const Array x = matrix();
  Sketch sketch;
  const Array y = sketch.add("divide", {x, sketch.add("sum", {x})});
  CHECK_EQUAL(sketch.groups(), "a b");
}

TEST("fuse: reductions over different numbers of axes are different passes") {
  const Array cube = filled({4, 5, 6}, 1);
  Sketch sketch;
  const Array a = sketch.add("sum", {cube}, {Shape{2}});
  const Array b = sketch.add("max", {cube}, {Shape{1, 2}});
  const Array c = sketch.add("min", {cube}, {Shape{2}});
  CHECK_EQUAL(sketch.groups(), "a b c");  // only the nearest group that reads the cube is tried
  Sketch equal;
  const Array d = equal.add("sum", {cube}, {Shape{2}});
  const Array e = equal.add("max", {cube}, {Shape{2}});
  CHECK_EQUAL(equal.groups(), "ab");
}

TEST("fuse: a product, its bias and its activation are one group") {
  const Array a = matrix(8, 4), b = matrix(4, 6);
  Sketch sketch;
  const Array product = sketch.add("dot", {a, b});
  const Array sum = sketch.add("add", {product, filled({6}, 1)});
  const Array result = sketch.add("relu", {sum});
  CHECK_EQUAL(sketch.groups(), "abc");
  // Nothing goes before a product in its group, no reduction after it, and no second product.
  Sketch before;
  const Array scaled = before.add("multiply", {a, 2.0});
  const Array of_scaled = before.add("dot", {scaled, b});
  const Array folded = before.add("sum", {of_scaled}, {last_axis});
  const Array second = before.add("dot", {of_scaled, matrix(6, 6)});
  CHECK_EQUAL(before.groups(), "a b c d");
}

TEST("fuse: a product's factor is not overwritten within its group") {
  const Array a = matrix(8, 8), b = matrix(8, 8);
  Sketch sketch;
  const Array product = sketch.add("dot", {a, b});
  sketch.into(a, "add", {product, 1.0});
  CHECK_EQUAL(sketch.groups(), "a b");
  Sketch elsewhere;
  const Array other = matrix(8, 8);
  const Array again = elsewhere.add("dot", {a, b});
  elsewhere.into(other, "add", {again, other});
  CHECK_EQUAL(elsewhere.groups(), "ab");
  Sketch in_place;
  const Array third = in_place.add("dot", {a, b});
  in_place.into(third, "add", {third, 1.0});
  CHECK_EQUAL(in_place.groups(), "ab");
}

TEST("fuse: what meets a product's result later joins the product") {
  const Array a = matrix(8, 4), b = matrix(4, 6), weight = matrix(8, 6);
  Sketch sketch;
  const Array gradient = sketch.add("dot", {a, b});
  const Array scaled = sketch.add("multiply", {gradient, 0.1});
  const Array decayed = sketch.add("multiply", {weight, 0.9});
  const Array moved = sketch.add("subtract", {decayed, scaled});
  sketch.into(weight, "copy", {moved});
  CHECK_EQUAL(sketch.groups(), "abcde");
  // Not where it comes from what another product leaves.
  Sketch twice;
  const Array first = twice.add("dot", {a, b});
  const Array second = twice.add("dot", {a, b});
  const Array third = twice.add("add", {first, second});
  CHECK_EQUAL(twice.groups(), "a bc");
}

// --- fuse: views ---

TEST("fuse: overlapping views that differ stay apart, equal ones go together") {
  const Array base = filled({100}, 1), other = filled({40}, 1);
  const auto groups = [&](const Array& written, const Array& read) {
    Sketch sketch;
    sketch.into(written, "exp", {other});
    const Array y = sketch.add("add", {read, other});
    const std::string text = sketch.groups();
    CHECK(sketch.notes_are_clean());
    return text;
  };
  CHECK_EQUAL(groups(slice(base, 0, 40), slice(base, 1, 40)), "a b");
  CHECK_EQUAL(groups(slice(base, 0, 40), slice(base, 0, 40, 2)), "a b");
  CHECK_EQUAL(groups(slice(base, 0, 40, 2), slice(base, 1, 40, 2)), "a b");  // cannot be told
  CHECK_EQUAL(groups(slice(base, 0, 40), slice(base, 0, 40)), "ab");
  CHECK_EQUAL(groups(slice(base, 0, 40), slice(base, 40, 40)), "ab");
  CHECK_EQUAL(groups(slice(base, 5, 40), slice(base, 4, 1)), "ab");    // one element, beside it
  CHECK_EQUAL(groups(slice(base, 5, 40), slice(base, 44, 1)), "a b");  // one element, in it
}

TEST("fuse: what is read is overwritten in the same group only as the same view") {
  const Array base = filled({100}, 1), other = filled({40}, 1);
  const auto groups = [&](const Array& read, const Array& written) {
    Sketch sketch;
    const Array y = sketch.add("add", {read, other});
    sketch.into(written, "exp", {y});
    return sketch.groups();
  };
  CHECK_EQUAL(groups(slice(base, 1, 40), slice(base, 0, 40)), "a b");
  CHECK_EQUAL(groups(slice(base, 0, 40, 2), slice(base, 0, 40)), "a b");
  CHECK_EQUAL(groups(slice(base, 44, 1), slice(base, 5, 40)), "a b");
  CHECK_EQUAL(groups(slice(base, 0, 40), slice(base, 0, 40)), "ab");
  CHECK_EQUAL(groups(slice(base, 40, 40), slice(base, 0, 40)), "ab");
}

TEST("fuse: two writes to a storage share a group only where they agree") {
  const Array base = filled({100}, 1), other = filled({40}, 1);
  const auto groups = [&](const Array& first, const Array& second) {
    Sketch sketch;
    sketch.into(first, "exp", {other});
    sketch.into(second, "negative", {other});
    return sketch.groups();
  };
  CHECK_EQUAL(groups(slice(base, 0, 40), slice(base, 1, 40)), "a b");
  CHECK_EQUAL(groups(slice(base, 0, 40), slice(base, 0, 40)), "ab");
  CHECK_EQUAL(groups(slice(base, 0, 40), slice(base, 50, 40)), "ab");
}

TEST("fuse: a matrix and its transpose are the same elements in another order") {
  const Array square = matrix(8, 8), other = matrix(8, 8);
  Sketch sketch;
  sketch.into(square, "exp", {other});
  const Array y = sketch.add("add", {transposed(square), other});
  CHECK_EQUAL(sketch.groups(), "a b");
  Sketch reading;
  const Array z = reading.add("add", {transposed(square), square});  // only read: any views do
  const Array w = reading.add("exp", {z});
  CHECK_EQUAL(reading.groups(), "ab");
}

TEST("fuse: a group with rows takes only views that can be walked by rows") {
  const Array x = filled({4, 5, 6}, 1);
  Array turned = x;  // axes 0 and 1 exchanged: rows do not join to one stride
  turned.layout = Layout::strided(Shape{5, 4, 6}, Shape{6, 30, 1});
  Sketch sketch;
  const Array y = sketch.add("sum", {sketch.add("exp", {turned})}, {Shape{2}});
  CHECK_EQUAL(sketch.groups(), "a b");
  Sketch joined;
  Array padded = filled({20, 7}, 1);
  padded.layout = Layout::strided(Shape{20, 6}, Shape{7, 1});
  const Array z = joined.add("sum", {joined.add("exp", {padded})}, {Shape{1}});
  CHECK_EQUAL(joined.groups(), "ab");
}

TEST("fuse: a fold's result is not taken for something else in its own group") {
  const Array x = matrix(6, 6);
  Sketch sketch;
  // (6,) meets (6, 6) as a row, though it holds one value per row.
  const Array sums = sketch.add("sum", {x}, {Shape{1}});
  const Array y = sketch.add("subtract", {x, sums});
  CHECK_EQUAL(sketch.groups(), "a b");
  Sketch kept;
  const Array column = kept.add("sum", {x}, over_rows);
  const Array z = kept.add("subtract", {x, column});
  CHECK_EQUAL(kept.groups(), "ab");
}

// --- fuse: what stays alone ---

TEST("fuse: contexts stay apart") {
  const Array here = matrix(), there = matrix(8, 6, Context{Context::cpu, 1});
  Sketch sketch;
  const Array a = sketch.add("exp", {here});
  sketch.into(there, "add", {a, 1.0});
  const Array b = sketch.add("negative", {a});
  CHECK_EQUAL(sketch.groups(), "ac b");
}

TEST("fuse: calls that may fail, or were made to, stay alone") {
  const Array x = matrix();
  Sketch injected;
  const Array a = injected.add("exp", {x});
  const Array b = injected.add("negative", {a});
  const Array c = injected.add("sqrt", {b});
  injected.calls[1]->injected_failure = ErrorKind::value;
  CHECK_EQUAL(injected.groups(), "a b c");
  injected.calls[1]->injected_failure.reset();
  CHECK_EQUAL(injected.groups(), "abc");

  static const lazy::Op fickle = [] {
    lazy::Op op = op_named("negative");
    op.name = "fickle";
    op.may_fail = true;
    return op;
  }();
  Sketch sketch;
  const Array d = sketch.add("exp", {x});
  const Array e = sketch.add(fickle, {d});
  const Array f = sketch.add("sqrt", {e});
  CHECK_EQUAL(sketch.groups(), "a b c");
}

TEST("fuse: ops that are neither elementwise nor folds nor products stay alone") {
  const Array x = matrix();
  Sketch sketch;
  const Array a = sketch.add("fill_uniform", {}, {0.0, 1.0, Shape{8, 6}});
  const Array b = sketch.add("exp", {a});
  const Array c = sketch.add("concat", {b, b}, {std::int64_t{0}});
  const Array d = sketch.add("exp", {c});
  CHECK_EQUAL(sketch.groups(), "a b c d");
}

TEST("fuse: groups keep to the limits of steps and operands") {
  const Array x = matrix();
  Sketch steps;
  Array y = x;
  for (int i = 0; i < 100; ++i) y = steps.add("negative", {y});
  const Plan chain = steps.fused();
  CHECK_EQUAL(chain.group(0).size(), static_cast<std::size_t>(kernels::most_steps));
  for (std::size_t i = 0; i < chain.groups(); ++i) {
    CHECK(chain.group(i).size() <= static_cast<std::size_t>(kernels::most_steps));
  }

  Sketch operands;
  std::vector<Array> others;
  y = x;
  for (int i = 0; i < 60; ++i) y = operands.add("add", {y, others.emplace_back(matrix())});
  const Plan plan = operands.fused();
  CHECK(plan.groups() > 2);
  for (std::size_t i = 0; i < plan.groups(); ++i) {
    CHECK(plan.group(i).size() > 1);
    // One new array and one result for each, and the first one's other side.
    CHECK(2 * plan.group(i).size() + 1 <= static_cast<std::size_t>(kernels::most_operands));
  }
}

TEST("fuse: small passes and independent small calls stay apart") {
  const Array x = matrix(8, 6);
  Sketch sketch;
  const Array a = sketch.add("exp", {x});
  const Array b = sketch.add("negative", {x});
  const Array c = sketch.add("sqrt", {b});
  CHECK_EQUAL(sketch.groups({.smallest = 49, .parallel = 0}), "a b c");
  CHECK_EQUAL(sketch.groups({.smallest = 48, .parallel = 49}), "a bc");
  CHECK_EQUAL(sketch.groups({.smallest = 48, .parallel = 48}), "abc");
  Sketch empty;
  const Array none = filled({0, 6}, 1);
  const Array still_none = empty.add("exp", {empty.add("negative", {none})});
  CHECK_EQUAL(empty.groups(), "a b");
}

// --- fuse: random plans against rules worked out independently ---

namespace {

/// Every element of a view, as its place in the storage, in C order.
std::vector<std::int64_t> elements(const Array& array) {
  std::vector<std::int64_t> places = {array.offset};
  for (int axis = 0; axis < array.layout->rank(); ++axis) {
    std::vector<std::int64_t> next;
    for (const std::int64_t place : places) {
      for (std::int64_t i = 0; i < array.shape()[axis]; ++i) {
        next.push_back(place + i * array.layout->strides()[axis]);
      }
    }
    places.swap(next);
  }
  return places;
}

/// The very same elements, or none in common.
bool agree(const Array& left, const Array& right) {
  const auto first = elements(left), second = elements(right);
  if (first == second) return true;
  const std::set<std::int64_t> one(first.begin(), first.end()), two(second.begin(), second.end());
  if (first.size() != second.size() && one == two) return true;  // one value per row, repeated
  return std::none_of(one.begin(), one.end(),
                      [&](std::int64_t place) { return two.contains(place); });
}

void check_order(const std::vector<Call*>& before, const std::vector<Call*>& after) {
  CHECK_EQUAL(before.size(), after.size());
  std::map<const Call*, std::size_t> place;
  for (std::size_t i = 0; i < after.size(); ++i) place[after[i]] = i;
  CHECK_EQUAL(place.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = i + 1; j < before.size(); ++j) {
      std::set<const Storage*> first, second;
      for_each_storage(*before[i], [&](Storage& storage) { first.insert(&storage); });
      for_each_storage(*before[j], [&](Storage& storage) { second.insert(&storage); });
      const bool depends = second.contains(before[i]->outputs[0].storage.get()) ||
                           first.contains(before[j]->outputs[0].storage.get());
      if (depends) CHECK(place.at(before[i]) < place.at(before[j]));
    }
  }
}

void check_group(std::span<Call* const> group) {
  if (group.size() == 1) return;
  CHECK(group.size() <= static_cast<std::size_t>(kernels::most_steps));
  std::size_t operands = 0;
  std::set<const Storage*> written;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const Call& call = *group[i];
    CHECK(!call.injected_failure);
    CHECK(call.outputs[0].context() == group[0]->outputs[0].context());
    const bool product = !call.is_elementwise() && !call.op->reduction;
    CHECK(!product || i == 0);
    ++operands;
    for (const auto& input : call.inputs) {
      operands += input.is_immediate() || !written.contains(input.storage.get());
    }
    const lazy::Operand& output = call.outputs[0];
    for (const Call* other : group) {
      const bool other_product = !other->is_elementwise() && !other->op->reduction;
      for (const auto& input : other->inputs) {
        if (input.is_immediate() || input.storage.get() != output.storage.get()) continue;
        CHECK(agree(input, output));
        CHECK(!other_product || other == &call || !may_overlap(input, output));
      }
      const lazy::Operand& also = other->outputs[0];
      if (also.storage.get() == output.storage.get()) CHECK(agree(also, output));
    }
    written.insert(output.storage.get());
  }
  CHECK(operands <= static_cast<std::size_t>(kernels::most_operands));
}

/// A few matrices of two storages each and views of them; returns what a random call may name.
class RandomPlan {
 public:
  explicit RandomPlan(unsigned seed) : random_(seed) {
    for (int i = 0; i < 4; ++i)
      arrays_.push_back(matrix(12, 12, Context{Context::cpu, static_cast<std::int16_t>(i == 3)}));
    for (int i = 0; i < 40; ++i) step();
  }
  Sketch sketch;

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  const Array& any() {
    return arrays_[static_cast<std::size_t>(below(static_cast<int>(arrays_.size())))];
  }
  /// (6, 6) in ever other ways.
  Array part() {
    const Array& base = any();
    const auto rows = base.shape()[0], columns = base.shape()[1];
    if (rows < 12 || columns < 12) return base;
    const Array corner =
        columns_of(rows_of(base, 6 * below(2) + below(2) * below(1), 6), 6 * below(2), 6);
    switch (below(5)) {
      case 0:
        return columns_of(rows_of(base, below(7), 6), below(7), 6);
      case 1:
        return columns_of(rows_of(base, below(2), 6, 2), below(2), 6, 2);
      case 2:
        return transposed(corner);
      default:
        return corner;
    }
  }
  static bool allowed(const std::vector<Input>& inputs, const Array& out) {
    return std::all_of(inputs.begin(), inputs.end(), [&](const Input& input) {
      return !input.array.storage || same_view(input.array, out) || !may_overlap(input.array, out);
    });
  }
  void step() {
    const bool small = below(2);
    std::vector<Input> inputs = {small ? part() : any()};
    const char* name = "exp";
    switch (below(6)) {
      case 0:
        inputs.push_back(1.5), name = "multiply";
        break;
      case 1:
        inputs.push_back(small ? part() : any()), name = "add";
        break;
      case 2:
        inputs.push_back(slice(any(), below(60), 1)), name = "subtract";
        break;
      case 3:
        return reduce(inputs[0].array);
      case 4:
        return multiply();
      default:
        break;
    }
    const bool fits = inputs.size() < 2 || !inputs[1].array.storage ||
                      inputs[1].array.size() == 1 ||
                      same_shape(*inputs[0].array.layout, *inputs[1].array.layout);
    if (!fits) return;
    if (below(2)) {
      const Array out = small ? part() : any();
      if (same_shape(*out.layout, *inputs[0].array.layout) && allowed(inputs, out)) {
        sketch.into(out, name, inputs);
        maybe_fail();
        return;
      }
    }
    keep(sketch.add(name, inputs));
    maybe_fail();
  }
  void maybe_fail() {
    if (below(30) == 0) sketch.calls.back()->injected_failure = ErrorKind::value;
  }
  void reduce(const Array& from) {
    const Array folded =
        sketch.add(below(2) ? "sum" : "max", {from}, {Shape{below(3) ? 1 : 0}, true});
    if (!below(3)) return;
    const Array less = sketch.add("subtract", {from, folded});
    if (below(2)) keep(less);
  }
  void multiply() {
    const Array& left = any();
    const Array& right = any();
    if (left.shape()[1] != right.shape()[0]) return;
    const Array product = sketch.add("dot", {left, right});
    keep(below(2) ? product : sketch.add("relu", {product}));
  }
  void keep(const Array& array) {
    if (arrays_.size() < 8) {
      arrays_.push_back(array);
    } else {
      arrays_[static_cast<std::size_t>(below(8))] = array;
    }
  }

  std::mt19937 random_;
  std::vector<Array> arrays_;
};

}  // namespace

TEST("fuse: densely connected plans over one shape keep every order") {
  for (unsigned seed = 0; seed < random_programs(400); ++seed) {
    std::mt19937 random(seed);
    Sketch sketch;
    std::vector<Array> arrays = {filled({50}, 1), filled({50}, 2)};
    const unsigned failing = random() % 20;
    for (unsigned i = 0; i < 30; ++i) {
      const Array left = arrays[random() % arrays.size()], right = arrays[random() % arrays.size()];
      if (random() % 4 == 0) {
        sketch.into(left, "maximum", {left, right});
      } else {
        arrays.push_back(sketch.add("minimum", {left, right}));
      }
      if (i == failing) sketch.calls.back()->injected_failure = ErrorKind::value;
    }
    const Plan plan = sketch.fused();
    check_order(sketch.calls, plan.calls);
    for (std::size_t i = 0; i < plan.groups(); ++i) check_group(plan.group(i));
  }
}

TEST("fuse: random plans keep every order and every rule of a group") {
  std::size_t fused_calls = 0, products = 0, folds = 0;
  for (unsigned seed = 0; seed < random_programs(400); ++seed) {
    const RandomPlan random(seed);
    for (const FuseOptions options : {FuseOptions{0, 0}, FuseOptions{40, 100}}) {
      const Plan plan = random.sketch.fused(options);
      check_order(random.sketch.calls, plan.calls);
      CHECK(random.sketch.notes_are_clean());
      CHECK_EQUAL(plan.ends.back(), plan.calls.size());
      for (std::size_t i = 0; i < plan.groups(); ++i) {
        const auto group = plan.group(i);
        check_group(group);
        if (group.size() == 1) continue;
        fused_calls += group.size();
        products += group[0]->op->kernel_then != nullptr;
        for (const Call* call : group) folds += call->op->reduction.has_value();
      }
    }
  }
  CHECK(fused_calls && products && folds);
}

// --- donors ---

namespace {

constexpr std::int64_t large = 64;  // elements whose bytes do not fit into the storage itself

/// Donors of all calls of the sketch as one group, in which these arrays die.
std::string donated(const Sketch& sketch, const std::vector<Array>& dying,
                    const std::vector<Array>& named) {
  Dying list;
  for (const Array& array : dying) list.add(*array.storage);
  list.sort();
  std::string text;
  for (const Storage* donor : lazy::donors(sketch.calls, list)) {
    char name = '-';
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (named[i].storage.get() == donor) name = static_cast<char>('a' + i);
    }
    text += name;
  }
  return text;
}

}  // namespace

TEST("donors: an input that dies and is as large gives its buffer, another does not") {
  const Array x = filled({large}, 1), y = filled({large}, 1);
  Sketch sketch;
  const Array z = sketch.add("add", {x, y});
  CHECK_EQUAL(donated(sketch, {x}, {x, y}), "a");
  CHECK_EQUAL(donated(sketch, {y}, {x, y}), "b");
  CHECK_EQUAL(donated(sketch, {}, {x, y}), "-");
  CHECK_EQUAL(donated(sketch, {z}, {x, y}), "-");
}

TEST("donors: a result that has a buffer, or writes a part, takes none") {
  const Array x = filled({large}, 1), y = filled({large}, 1);
  Sketch sketch;
  sketch.into(y, "exp", {x});
  CHECK_EQUAL(donated(sketch, {x}, {x}), "-");
  const Array fresh = Array::create(Layout::contiguous(Shape{2 * large}), DType::float32, {});
  Sketch part;
  part.into(slice(fresh, 0, large), "exp", {x});
  CHECK_EQUAL(donated(part, {x}, {x}), "-");
}

TEST("donors: parts, repeated and differently sized inputs give nothing") {
  const Array whole = filled({2 * large}, 1), row = filled({large}, 1);
  Sketch part;
  const Array y = part.add("exp", {slice(whole, 0, large)});
  CHECK_EQUAL(donated(part, {whole}, {whole}), "-");
  Sketch repeated;
  const Array z = repeated.add("add", {filled({2, large}, 1), row});
  CHECK_EQUAL(donated(repeated, {row}, {row}), "-");
  Sketch narrower;
  const Array x = filled({large}, 1);
  const Array half = narrower.add("copy", {x}, {static_cast<std::int64_t>(DType::float16)});
  CHECK_EQUAL(donated(narrower, {x}, {x}), "-");
  Sketch as_wide;
  const Array integers = as_wide.add("copy", {x}, {static_cast<std::int64_t>(DType::int32)});
  CHECK_EQUAL(donated(as_wide, {x}, {x}), "a");
  Sketch inside;
  const Array few = filled({4}, 1);
  const Array also_few = inside.add("exp", {few});
  CHECK_EQUAL(donated(inside, {few}, {few}), "-");
}

TEST("donors: transposed inputs give nothing") {
  const Array x = filled({16, 16}, 1);
  Sketch sketch;
  const Array y = sketch.add("exp", {transposed(x)});
  CHECK_EQUAL(donated(sketch, {x}, {x}), "-");
  Sketch both;  // the same elements are read in another order as well
  const Array z = both.add("add", {x, transposed(x)});
  CHECK_EQUAL(donated(both, {x}, {x}), "-");
}

TEST("donors: a later reader within the group keeps its input") {
  const Array x = filled({large}, 1);
  Sketch sketch;
  const Array y = sketch.add("exp", {x});
  const Array z = sketch.add("add", {y, x});
  const Array w = sketch.add("negative", {z});
  CHECK_EQUAL(donated(sketch, {x}, {x}), "-a-");
}

TEST("donors: a buffer is given once") {
  const Array x = filled({large}, 1), y = filled({large}, 1);
  Sketch sketch;
  const Array a = sketch.add("add", {x, y});
  const Array b = sketch.add("negative", {a});
  const Array c = sketch.add("negative", {b});
  CHECK_EQUAL(donated(sketch, {x}, {x, y}), "a--");
  CHECK_EQUAL(donated(sketch, {x, y}, {x, y}), "ab-");
}

TEST("donors: what the group itself writes is no input of it, but for a product's result") {
  const Array x = filled({large}, 1);
  Sketch sketch;
  const Array y = sketch.add("exp", {x});
  const Array z = sketch.add("negative", {y});
  CHECK_EQUAL(donated(sketch, {y}, {y}), "--");
  Sketch overwritten;  // x is written before it is read again
  overwritten.into(x, "exp", {x});
  const Array w = overwritten.add("negative", {x});
  CHECK_EQUAL(donated(overwritten, {x}, {x}), "--");

  const Array a = filled({8, 8}, 1), b = filled({8, 8}, 1);
  Sketch product;
  const Array p = product.add("dot", {a, b});
  const Array r = product.add("relu", {p});
  CHECK_EQUAL(donated(product, {p}, {p}), "-a");
  CHECK_EQUAL(donated(product, {a, b}, {a, b}), "--");  // read until the end
}

TEST("donors: folds take no buffer, and leave the input they have read to what follows") {
  const Array x = filled({large, large}, 1);
  Sketch sketch;
  const Array shifted = sketch.add("subtract", {x, sketch.add("max", {x}, over_rows)});
  CHECK_EQUAL(donated(sketch, {x}, {x}), "-a");
  Sketch folds_last;
  const Array y = folds_last.add("exp", {x});
  const Array s = folds_last.add("max", {x}, over_rows);
  CHECK_EQUAL(donated(folds_last, {x}, {x}), "--");
}

CHECK_MAIN
