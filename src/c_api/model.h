// SPDX-License-Identifier: Apache-2.0
// Graphs of MXNet's files, read once and run by issuing their calls.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "c_api/files.h"
#include "c_api/interface.h"
#include "c_api/ops.h"

namespace afterglow::c_api {

/// An output of a node.
struct Place {
  std::size_t node = 0, output = 0;
};

struct GraphNode {
  std::string name;
  std::unique_ptr<Invocation> invocation;  ///< none for a variable
  std::vector<Place> inputs;
};

/// Never changed once it is read, so that threads share it.
class Graph {
 public:
  /// `wanted`: names of outputs inside of the graph, in place of its own.
  Graph(std::string_view json, const std::string& source, std::span<const std::string> wanted = {});

  const std::vector<std::string>& outputs() const { return outputs_; }
  /// The variables that the outputs need, in the order of the file.
  const std::vector<std::string>& variables() const { return variables_; }
  /// Of those: labels, which losses read when gradients are wanted.
  const std::set<std::string>& labels() const { return labels_; }
  /// Arrays of the variables, by name. Labels may be left out.
  using Values = std::map<std::string, autograd::Handle>;
  std::vector<autograd::Handle> run(const Values& given) const;

 private:
  Place place_from(const struct Json& item, const std::string& what) const;
  void read_node(const struct Json& item);
  void find_needed();

  const std::string source_;
  std::vector<GraphNode> nodes_;
  std::vector<Place> heads_;
  std::vector<bool> is_needed_;
  std::vector<std::size_t> last_use_;  ///< of each node: the last that reads it
  std::vector<std::string> outputs_, variables_;
  std::set<std::string> labels_;
};

/// "arg:weight" and "aux:mean" without what stands before the colon.
Graph::Values weights_of(NamedArrays arrays, const std::string& source);

}  // namespace afterglow::c_api
