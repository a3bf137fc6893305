// SPDX-License-Identifier: Apache-2.0
// The walk backwards over the tape. It calls the rules and adds up what they return, so everything
// computed here is issued like any statement, but waits for no room. Needs the issuing right, which
// rules that run Python may give away for a while.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "autograd/handle.h"

namespace afterglow::autograd {

/// Of a node whose call brings its gradients along.
class OwnGradients : public Keep {
 public:
  /// Whether the heads may be sparse.
  virtual bool takes_sparse() const { return false; }
  /// What a rule would return for each input. `heads`: of the outputs, none for those that nobody
  /// used. Nothing at all where the rules of the front end are to be asked.
  virtual std::vector<Handle> gradients(const Node& node, std::span<const Handle> heads) const = 0;
};

/// The rules of ops that have none of their own: those of the front end.
class OtherRules {
 public:
  virtual ~OtherRules() = default;
  /// For each input that is wanted what its rule returns; none where the gradient is zero by
  /// nature, or not wanted.
  virtual std::vector<Handle> gradients(const Reference<Node>& node, std::span<const Handle> heads,
                                        const std::vector<bool>& wanted) = 0;
};

/// How gradients are added up: ops have the calls for it.
class Accumulation {
 public:
  virtual ~Accumulation() = default;
  virtual Handle sum(const Handle& left, const Handle& right) const = 0;
  /// target[...] = value, and target[...] += value.
  virtual void write(Handle& target, const Value& value) const = 0;
  virtual void add_to(Handle& target, const Handle& value) const = 0;
};

/// Whoever holds the one reference to this memory is the only one who can reach it, but for
/// unfinished calls, which all later statements wait for.
bool is_held_once(const Storage& storage);

/// The nodes between heads and wanted arrays, latest first. They stay what they are as long as this
/// exists, whatever other threads do.
class WalkedNodes {
 public:
  WalkedNodes(std::span<const Origin> heads, std::span<const Origin> wanted, bool uses_up);
  ~WalkedNodes();
  WalkedNodes(const WalkedNodes&) = delete;
  WalkedNodes& operator=(const WalkedNodes&) = delete;

  /// The walk was completed.
  void finish();

  std::size_t size() const { return nodes_.size(); }
  const Reference<Node>& operator[](std::size_t i) const { return nodes_[i]; }
  /// -1 for one that is not among them.
  std::ptrdiff_t place_of(const Origin& origin) const;

 private:
  const std::vector<Reference<Node>> nodes_;
  const bool uses_up_;
};

class Walk {
 public:
  /// From `heads`, whose gradients are given, to the wanted arrays, or to all variables. `held`:
  /// what the heads hold.
  Walk(std::span<const Origin> heads, std::vector<Handle> gradients, std::vector<Origin> wanted,
       bool uses_up, Held held, const Accumulation& accumulation, OtherRules& other_rules);

  /// Whether gradients may reach it.
  bool is_walked(const Origin& origin) const { return nodes_.place_of(origin) >= 0; }
  /// Calls the rules. Without wanted arrays, the sums of variables go to their gradients.
  void run();
  /// The sum for each wanted array; none where the heads do not depend on it.
  std::vector<Handle> results();

 private:
  void add(const Origin& origin, Handle gradient);
  void take(std::size_t place);
  void deliver(Node& node, Handle total) const;
  void deliver_sparse(Node& node, const Handle& total) const;
  void call_rules(const Reference<Node>& node, std::span<const Handle> heads);
  void call_own_rules(const Reference<Node>& node, std::span<const Handle> heads);
  /// Where the sum of what an array is given lies; none for one that is not walked to.
  Handle* sum_of(const Origin& origin);

  const std::vector<Origin> wanted_;
  WalkedNodes nodes_;
  std::vector<Handle> sums_;         ///< for each output of each node, of which a variable has one
  std::vector<std::size_t> begins_;  ///< of those of each node, and where the last ones end
  std::vector<Handle> totals_;       ///< of the node whose rules are called
  const Held held_;
  const Accumulation& accumulation_;
  OtherRules& other_rules_;
};

}  // namespace afterglow::autograd
