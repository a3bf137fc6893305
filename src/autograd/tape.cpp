// SPDX-License-Identifier: Apache-2.0
#include "autograd/tape.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lazy/layer.h"
#include "lazy/window.h"

namespace afterglow::autograd {
namespace {

std::uint64_t next_sequence = 1;

std::unordered_map<const lazy::Op*, std::vector<Reads>>& all_reads() {
  static auto* const table = new std::unordered_map<const lazy::Op*, std::vector<Reads>>;
  return *table;
}

/// What the rule of one input reads. An op nobody spoke for keeps everything.
Reads reads_of(const lazy::Op& op, std::size_t input) {
  if (!op.gradients.empty()) {
    const lazy::GradientRule& rule = op.gradients[std::min(input, op.gradients.size() - 1)];
    return {rule.function != nullptr, rule.inputs, rule.outputs};
  }
  const auto found = all_reads().find(&op);
  if (found == all_reads().end() || found->second.empty()) return {};
  return found->second[std::min(input, found->second.size() - 1)];
}

bool leads_on(const Source& source) {
  return source.origin && source.origin->leads_on();
}

bool passes_gradients(const lazy::Op& op, std::span<const Source> sources, std::size_t input) {
  const Origin* const origin = sources[input].origin;
  return origin && origin->passes_gradients() && reads_of(op, input).differentiable;
}

/// What the rules of the given inputs read, all together.
Reads union_of_reads(const lazy::Op& op, std::span<const Source> sources) {
  Reads result{false, 0, 0};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!passes_gradients(op, sources, i)) continue;
    const Reads reads = reads_of(op, i);
    result.differentiable = true;
    result.inputs |= reads.inputs;
    result.outputs |= reads.outputs;
  }
  return result;
}

/// The outputs that the rule of any input reads.
std::uint32_t outputs_read(const lazy::Op& op) {
  std::uint32_t bits = 0;
  for (const lazy::GradientRule& rule : op.gradients) bits |= rule.outputs;
  if (!op.gradients.empty()) return bits;
  const auto found = all_reads().find(&op);
  if (found == all_reads().end()) return Reads().outputs;
  for (const Reads& reads : found->second) bits |= reads.differentiable ? reads.outputs : 0;
  return bits;
}

std::uint64_t sequence_of(const Reference<Node>& node) {
  return node->sequence;
}

bool has_bit(std::uint32_t bits, std::size_t index) {
  return bits >> std::min<std::size_t>(index, 31) & 1u;
}

Saved note_down(const Array& array) {
  Saved saved;
  saved.layout = array.layout;
  saved.dtype = array.dtype;
  saved.context = array.context();
  return saved;
}

void keep_value(Saved& saved, const Array& array) {
  static_cast<Array&>(saved.value) = array;
  saved.version = array.storage->version;
}

/// Looks at nodes, and at whatever they were computed from that was not seen before, once each.
void look_behind(std::vector<Node*> waiting, std::unordered_set<const Node*> seen,
                 const std::function<void(Node*)>& look) {
  while (!waiting.empty()) {
    Node* const node = waiting.back();
    waiting.pop_back();
    if (!seen.insert(node).second) continue;
    look(node);
    for (const Saved& input : node->inputs) {
      if (input.origin) waiting.push_back(input.origin.node.get());
    }
  }
}

/// Adds the variables to nodes (latest first) that only ops without a gradient lead to. Nothing
/// else that lies there is walked, claimed or used up.
void add_unreached_variables(std::vector<Node*>& found, std::vector<Node*> cut_off) {
  look_behind(std::move(cut_off), {found.begin(), found.end()}, [&](Node* node) {
    if (node->is_variable()) found.push_back(node);
  });
  std::ranges::sort(found, std::ranges::greater(), &Node::sequence);
}

}  // namespace

State& state() {
  static thread_local State the_state;
  return the_state;
}

void set_reads(const lazy::Op& op, std::vector<Reads> reads) {
  all_reads()[&op] = std::move(reads);
}

std::uint64_t next_node() {
  return next_sequence;
}

void Node::begin_walk(bool uses_up) {
  ++walks;
  if (uses_up && !is_variable()) claimant = std::this_thread::get_id();
}

void Node::end_walk() {
  if (--walks) return;
  claimant = {};
  if (released) forget();
}

void Node::release() {
  released = true;
  if (others_released) *others_released = true;
  if (!walks) forget();
}

void Node::forget() {
  keep.reset();
  for (std::vector<Saved>* list : {&inputs, &outputs}) {
    for (const Saved& saved : *list) {
      // Like a handle of Python's: what only unfinished calls need now counts as run-ahead.
      if (saved.value.storage) lazy::window().handle_goes(*saved.value.storage);
    }
    list->clear();
  }
}

void Node::destroy(Node* node) {
  static Node* dying = nullptr;
  static bool busy = false;
  node->next_dying = std::exchange(dying, node);
  if (busy) return;
  busy = true;
  while (dying) {
    Node* last = std::exchange(dying, dying->next_dying);
    last->forget();
    delete last;
  }
  busy = false;
}

Reference<Node> record(const lazy::Op& op, std::span<const lazy::Argument> arguments, bool legacy,
                       std::span<const Source> sources, std::span<const lazy::Operand> operands) {
  if (!state().recording || std::ranges::none_of(sources, leads_on)) return {};
  const Reads reads = union_of_reads(op, sources);
  Reference<Node> node(new Node);
  node->op = &op;
  node->legacy = legacy;
  node->layer = lazy::current_layer;
  node->arguments.assign(arguments.begin(), arguments.end());
  node->sequence = next_sequence++;
  node->passes_gradients = reads.differentiable;
  node->inputs.reserve(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Saved& saved = node->inputs.emplace_back();
    if (!sources[i].array) {
      saved.value = operands[i];
      saved.dtype = saved.value.dtype;
      continue;
    }
    saved = note_down(*sources[i].array);
    if (leads_on(sources[i])) {
      saved.origin = *sources[i].origin;
      saved.passes_gradients = passes_gradients(op, sources, i);
    }
    if (has_bit(reads.inputs, i)) keep_value(saved, *sources[i].array);
  }
  return node;
}

Origin add_output(Node& node, const Array& array) {
  Saved& saved = node.outputs.emplace_back(note_down(array));
  if (has_bit(outputs_read(*node.op), node.outputs.size() - 1)) keep_value(saved, array);
  return {Reference<Node>(&node), static_cast<int>(node.outputs.size()) - 1};
}

void use_up_together(std::span<const Origin> outputs, std::uint64_t first) {
  const auto released = std::make_shared<bool>(false);
  for (const Origin& output : outputs) {
    if (output && output.node->sequence >= first) output.node->others_released = released;
  }
}

Reference<Node> make_variable(const Array& array, Array gradient, Request request, bool legacy) {
  Reference<Node> node(new Node);
  node->legacy = legacy;
  node->sequence = next_sequence++;
  node->outputs.push_back(note_down(array));
  node->gradient = std::move(gradient);
  node->request = request;
  return node;
}

std::vector<Reference<Node>> collect(std::span<const Origin> heads, std::span<Node* const> wanted) {
  const auto is_earlier = [](const Node* left, const Node* right) {
    return left->sequence < right->sequence;
  };
  // A heap, whose first node is the latest: what leads to that one has been found by then, so a
  // node that several lead to comes out several times in a row.
  std::vector<Node*> found, waiting, cut_off;
  const auto visit = [&](const Origin& origin) {
    if (!origin) return;
    waiting.push_back(origin.node.get());
    std::ranges::push_heap(waiting, is_earlier);
  };
  for (const Origin& head : heads) visit(head);
  while (!waiting.empty()) {
    std::ranges::pop_heap(waiting, is_earlier);
    Node* const node = waiting.back();
    waiting.pop_back();
    if (!found.empty() && found.back() == node) continue;
    found.push_back(node);
    if (node->released)
      throw Error(ErrorKind::mxnet,
                  "the recorded graph of this value was freed by an earlier backward(); call that "
                  "with retain_graph=True to use it again");
    if (node->claimant != std::thread::id() && node->claimant != std::this_thread::get_id())
      throw Error(ErrorKind::mxnet,
                  "the recorded graph of this value is being used up by backward() in another "
                  "thread; call that with retain_graph=True to use it twice");
    for (const Saved& input : node->inputs) {
      if (input.passes_gradients) {
        visit(input.origin);
      } else if (input.origin) {
        cut_off.push_back(input.origin.node.get());
      }
    }
  }
  if (wanted.empty() && !cut_off.empty()) add_unreached_variables(found, std::move(cut_off));
  std::vector<Reference<Node>> result;
  result.reserve(found.size());
  for (std::size_t i = found.size(); i-- > 0;) {
    Node* const node = found[i];
    const bool is_wanted = std::ranges::find(wanted, node) != wanted.end();
    const bool reaches = node->is_variable()
                             ? wanted.empty() && node->request != Request::none
                             : std::ranges::any_of(node->inputs, [&](const Saved& input) {
                                 return input.origin && input.passes_gradients &&
                                        std::ranges::binary_search(
                                            result, input.origin.node->sequence, {}, &sequence_of);
                               });
    // A wanted value may also be an intermediate one.
    if (reaches || is_wanted) result.emplace_back(node);
  }
  std::ranges::reverse(result);
  return result;
}

bool depend_on(std::span<const Origin> heads, const Origin& array) {
  bool found = false;
  const auto compare = [&](const Origin& origin) {
    found =
        found || (origin && origin.node.get() == array.node.get() && origin.output == array.output);
  };
  std::vector<Node*> nodes;
  for (const Origin& head : heads) {
    compare(head);
    if (head) nodes.push_back(head.node.get());
  }
  look_behind(std::move(nodes), {}, [&](const Node* node) {
    for (const Saved& input : node->inputs) compare(input.origin);
  });
  return found;
}

}  // namespace afterglow::autograd
