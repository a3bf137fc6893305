// SPDX-License-Identifier: Apache-2.0
// Random programs of ops. What a program does depends on its seed alone, so that it can run on any
// window and must leave the same bits.
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <random>

#include "lazy/random_stream.h"
#include "lazy_support.h"

namespace support {

/// Finite values only, of moderate size: conversions to integers are then defined.
class Program {
 public:
  /// `before_issue` is called before each call.
  Program(
      unsigned seed, Window& window, std::function<void()> before_issue = [] {})
      : window_(window), before_issue_(std::move(before_issue)), random_(seed) {
    static constexpr std::int64_t sizes[][2] = {
        {7, 24}, {64, 64}, {96, 130}, {5, 3000}, {300, 256}};
    const auto& size = sizes[below(5)];
    rows_ = size[0];
    columns_ = size[1];
    lazy::seed_random(seed);
    for (int i = 0; i < 4; ++i) full_.push_back(counted({rows_, columns_}));
    for (int i = 0; i < 2; ++i) {
      row_.push_back(counted({columns_}));
      column_.push_back(counted({rows_, 1}));
      one_.push_back(counted({1}));
    }
    weights_.push_back(counted({columns_, 32}));
  }

  /// One step. Returns an array that the program reads at this moment, if it does.
  std::optional<Array> step() {
    switch (below(15)) {
      case 0:
        chain();
        break;
      case 1:
        keep(full_, binary(any(full_), any(full_)));
        break;
      case 2:
        in_place();
        break;
      case 3:
        write_view();
        break;
      case 4:
        broadcast();
        break;
      case 5:
        reduce();
        break;
      case 6:
        softmax();
        break;
      case 7:
        product();
        break;
      case 8:
        casts();
        break;
      case 9:
        select();
        break;
      case 10:
        keep(full_, bounded(issue("fill_normal", {}, {0.0, 2.0, shape()})));
        break;
      case 11:
        keep_view();
        break;
      case 12:
        forget();
        break;
      case 13:
        return any(full_);
      case 14:
        return below(2) ? any(row_) : any(one_);
    }
    return std::nullopt;
  }

  /// All values that are still there. Everything must have finished.
  std::vector<std::string> values() const {
    std::vector<std::string> all;
    for (const auto* list : {&full_, &row_, &column_, &one_, &weights_, &views_}) {
      for (const Array& array : *list) {
        if (array.storage->failure) {
          check::fail(__FILE__, __LINE__, array.storage->failure->message);
        }
        all.emplace_back(reinterpret_cast<const char*>(array.storage->data()),
                         static_cast<std::size_t>(array.storage->bytes()));
      }
    }
    return all;
  }

  /// Lets every handle go.
  void forget_all() {
    for (auto* list : {&full_, &row_, &column_, &one_, &weights_, &views_}) {
      for (Array& array : *list) let_go(window_, array);
      list->clear();
    }
  }

 private:
  using Arrays = std::vector<Array>;

  int below(std::int64_t limit) {
    return static_cast<int>(random_() % static_cast<std::uint64_t>(limit));
  }
  Array any(const Arrays& list) { return list[static_cast<std::size_t>(below(std::ssize(list)))]; }
  Shape shape() const { return {rows_, columns_}; }

  Array counted(Shape shape) {
    Array array = filled(shape, 0);
    auto* data = reinterpret_cast<float*>(array.data());
    for (std::int64_t i = 0; i < array.size(); ++i) {
      data[i] = static_cast<float>((i * 37 + 11) % 101 - 50) / 16.0f;
    }
    return array;
  }

  Array issue(const char* name, const std::vector<Input>& inputs, std::vector<Argument> given = {},
              const Array* out = nullptr) {
    before_issue_();
    return call(window_, name, inputs, std::move(given), out);
  }

  /// Replaces one of the list, or adds to it. What is replaced loses its handle.
  void keep(Arrays& list, const Array& array) {
    if (list.size() < 5 && below(3) == 0) {
      list.push_back(array);
    } else {
      Array& old = list[static_cast<std::size_t>(below(std::ssize(list)))];
      let_go(window_, old);
      old = array;
    }
  }
  Array bounded(const Array& array, const Array* out = nullptr) {
    return issue("clip", {array}, {-40.0, 40.0}, out);
  }
  Array unary(const Array& array) {
    static constexpr const char* names[] = {"negative", "abs", "tanh", "sigmoid", "relu"};
    return issue(names[below(5)], {array});
  }
  const char* binary_name() {
    static constexpr const char* names[] = {"add", "subtract", "maximum", "minimum"};
    return names[below(4)];
  }
  Array binary(const Array& left, const Array& right) {
    if (below(4) == 0) return bounded(issue("multiply", {left, right}));
    return issue(binary_name(), {left, right});
  }

  /// Temporaries that die at once.
  void chain() {
    Array value = any(full_);
    const int length = 2 + below(40);
    for (int i = 0; i < length; ++i) {
      switch (below(5)) {
        case 0:
          value = unary(value);
          break;
        case 1:
          value = binary(value, any(full_));
          break;
        case 2:
          value = issue(binary_name(), {value, 0.25 * below(9)});
          break;
        case 3:
          value = issue(binary_name(), {value, any(below(2) ? row_ : column_)});
          break;
        case 4:
          value = issue("multiply", {value, 0.5});
          break;
      }
    }
    keep(full_, bounded(value));
  }

  void in_place() {
    const Array target = any(full_);
    switch (below(4)) {
      case 0:
        issue(binary_name(), {target, any(full_)}, {}, &target);
        break;
      case 1:
        issue("multiply", {target, 0.75}, {}, &target);
        break;
      case 2:
        issue(binary_name(), {target, any(row_)}, {}, &target);
        break;
      case 3:
        issue("copy", {0.125 * below(50)}, {{}, shape()}, &target);
        break;
    }
    bounded(target, &target);
  }

  /// x[a:b] = y[c:d] + z[e:f], of one storage perhaps, overlapping perhaps.
  void write_view() {
    const Array x = any(full_), y = any(full_), z = any(full_);
    const int kind = below(4);
    const std::int64_t step = 1 + below(2);
    const std::int64_t extent = kind == 1 ? columns_ : rows_;
    const std::int64_t count = 1 + below(std::max<std::int64_t>(1, extent / step / 2));
    const auto part = [&](const Array& array) {
      const std::int64_t begin = below(extent - (count - 1) * step);
      if (kind == 1) return columns_of(array, begin, count, step);
      if (kind == 2) return transposed(rows_of(array, begin, count, step));
      return rows_of(array, begin, count, step);
    };
    const Array target = part(x);
    const Array left = part(y);
    if (below(3) == 0) {
      issue("multiply", {left, 0.5}, {}, &target);
    } else {
      issue("multiply", {issue("add", {left, part(z)}), 0.5}, {}, &target);
    }
    if (kind == 3) issue("negative", {target}, {}, &target);
  }

  void broadcast() {
    const Array sum = issue("add", {any(full_), any(row_)});
    const Array difference = issue("subtract", {sum, any(column_)});
    keep(full_, bounded(issue("multiply", {difference, any(one_)})));
    // A row and a column alone make a matrix.
    if (below(2)) keep(full_, issue(binary_name(), {any(row_), any(column_)}));
  }

  void reduce() {
    const char* name = std::array{"sum", "max", "min", "mean"}[static_cast<std::size_t>(below(4))];
    const Array source = below(2) ? any(full_) : issue("abs", {any(full_)});
    switch (below(4)) {
      case 0: {
        const Array whole = issue("multiply", {issue(name, {source}, {{}, true}), 0.001});
        Array flat = bounded(whole);
        flat.layout = Layout::contiguous(Shape{1});
        keep(one_, flat);
        break;
      }
      case 1:
        keep(column_, bounded(issue(name, {source}, {Shape{1}, true})));
        break;
      case 2:
        keep(row_, bounded(issue(name, {source}, {Shape{0}})));
        break;
      case 3: {
        const Array column = issue(name, {source}, {Shape{1}, true});
        keep(full_, bounded(issue("subtract", {source, issue("multiply", {column, 0.5})})));
        break;
      }
    }
  }

  void softmax() {
    const Array x = any(full_);
    const Array powers =
        issue("exp", {issue("subtract", {x, issue("max", {x}, {Shape{1}, true})})});
    keep(full_, issue("divide", {powers, issue("sum", {powers}, {Shape{1}, true})}));
  }

  void product() {
    const Array left = any(full_), factor = any(weights_);
    const Array wide = issue("dot", {left, factor});
    const Array bias = issue("mean", {wide}, {Shape{0}});
    const Array hidden = issue("relu", {issue("add", {issue("dot", {left, factor}), bias})});
    const Array small = issue("clip", {hidden}, {-8.0, 8.0});
    if (below(2)) {
      const Array sum = issue("add", {issue("dot", {small, factor}, {false, true}), any(row_)});
      keep(full_, bounded(issue("relu", {sum})));
    } else {
      keep(weights_, bounded(issue("dot", {left, small}, {true, false})));
    }
  }

  void casts() {
    static constexpr DType types[] = {DType::float16, DType::int32,   DType::int64,
                                      DType::uint8,   DType::float64, DType::int8};
    const DType type = types[below(6)];
    const Array positive = issue("clip", {any(full_)}, {0.0, 30.0});
    const auto cast = [&](const Array& array, DType to) {
      return issue("copy", {array}, {static_cast<std::int64_t>(to)});
    };
    Array value = cast(positive, type);
    for (int i = below(4); i > 0; --i) {
      value = below(2) ? issue("maximum", {value, 3.0}) : issue("add", {value, value});
    }
    keep(full_, bounded(cast(value, DType::float32)));
    const Array promoted = issue("add", {value, any(full_)});
    if (below(2)) keep(full_, bounded(cast(promoted, DType::float32)));
  }

  void select() {
    const Array mask = issue("greater", {any(full_), any(full_)});
    keep(full_, issue("select", {mask, any(full_), issue("negative", {any(full_)})}));
    if (below(2)) keep(full_, issue("copy", {mask}, {static_cast<std::int64_t>(DType::float32)}));
  }

  /// A view lives on when the array it was made from is gone.
  void keep_view() {
    const Array base = any(full_);
    const Array view = below(2) ? rows_of(base, below(rows_ - 1), 2) : transposed(base);
    if (views_.size() < 3) {
      views_.push_back(view);
    } else {
      keep(views_, view);
    }
    const Array& kept = views_[static_cast<std::size_t>(below(std::ssize(views_)))];
    issue("multiply", {kept, -0.5}, {}, &kept);
  }

  void forget() {
    Array& gone = full_[static_cast<std::size_t>(below(std::ssize(full_)))];
    const Array instead = any(full_);
    let_go(window_, gone);
    gone = instead;
  }

  Window& window_;
  std::function<void()> before_issue_;
  std::mt19937_64 random_;
  std::int64_t rows_ = 0, columns_ = 0;
  Arrays full_, row_, column_, one_, weights_, views_;
};

/// The bits that a program leaves on the serial engine with all passes off.
inline std::vector<std::string> expected_values(unsigned seed, int steps) {
  auto window = serial();
  window->passes() = {false, false, false};
  Program program(seed, *window);
  for (int i = 0; i < steps; ++i) program.step();
  auto values = program.values();
  program.forget_all();
  return values;
}

inline void check_values(const std::vector<std::string>& found,
                         const std::vector<std::string>& expected, const std::string& where) {
  if (found.size() != expected.size()) check::fail(__FILE__, __LINE__, where + ": other arrays");
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    std::size_t byte = 0;
    while (found[i][byte] == expected[i][byte]) ++byte;
    check::fail(__FILE__, __LINE__,
                where + ": array " + std::to_string(i) + " of " + std::to_string(found[i].size()) +
                    " bytes differs from byte " + std::to_string(byte) + " on");
  }
}

}  // namespace support
