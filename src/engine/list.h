// SPDX-License-Identifier: Apache-2.0
// A doubly linked list whose links live in its members: adding and removing never allocate.
#pragma once

namespace afterglow::engine {

template <class Node>
struct Link {
  Node* previous = nullptr;
  Node* next = nullptr;
  bool linked = false;
};

template <class Node, Link<Node> Node::* link>
class List {
 public:
  Node* front() const { return first_; }
  bool empty() const { return first_ == nullptr; }
  Node* back() const { return last_; }
  static Node* before(const Node& node) { return (node.*link).previous; }
  static Node* after(const Node& node) { return (node.*link).next; }
  static bool contains(const Node& node) { return (node.*link).linked; }

  void push_back(Node& node) {
    node.*link = {last_, nullptr, true};
    (last_ ? (last_->*link).next : first_) = &node;
    last_ = &node;
  }

  void push_front(Node& node) {
    node.*link = {nullptr, first_, true};
    (first_ ? (first_->*link).previous : last_) = &node;
    first_ = &node;
  }

  void remove(Node& node) {
    auto [previous, next, linked] = node.*link;
    (previous ? (previous->*link).next : first_) = next;
    (next ? (next->*link).previous : last_) = previous;
    node.*link = {};
  }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace afterglow::engine
