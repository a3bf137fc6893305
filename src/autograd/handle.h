// SPDX-License-Identifier: Apache-2.0
// Arrays as programs hold them, and what rules and compositions compute with.
#pragma once

#include <cstdint>
#include <utility>

#include "autograd/tape.h"
#include "lazy/immediate.h"

namespace afterglow::autograd {

/// What the gradients of a value need of the front end's (a block, a function of the user's): one
/// reference, counted by the front end. Needs the issuing right.
class Held {
 public:
  struct Hooks {
    void (*retain)(void*);
    void (*release)(void*);
    /// Both, as a new reference. Either may stand for both.
    void* (*join)(void* left, void* right);
  };
  static void set_hooks(Hooks hooks) { hooks_ = hooks; }

  Held() = default;
  /// Shares what it is given, which may be nothing.
  explicit Held(void* object) : object_(object) {
    if (object_) hooks_.retain(object_);
  }
  Held(const Held& other) : Held(other.object_) {}
  Held(Held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Held& operator=(Held other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Held() {
    if (object_) hooks_.release(object_);
  }

  explicit operator bool() const { return object_ != nullptr; }
  void* get() const { return object_; }
  /// Beside what it is.
  void share(const Held& other) {
    if (!other.object_ || other.object_ == object_) return;
    void* const joined = object_ ? hooks_.join(object_, other.object_) : nullptr;
    if (!joined) {
      *this = other;
    } else {
      hooks_.release(std::exchange(object_, joined));
    }
  }

 private:
  static inline Hooks hooks_ = {[](void*) {}, [](void*) {}, [](void* left, void*) { return left; }};
  void* object_ = nullptr;
};

/// An array with its place on the tape. None at all without a storage.
struct Handle {
  Array array;
  Origin origin;  ///< where the value comes from, if that was recorded
  Held held;
  bool legacy = false;  ///< answers as mx.nd does

  explicit operator bool() const { return static_cast<bool>(array.storage); }
};

/// What rules and compositions compute with: an array, or a number that meets one.
class Value : public Handle {
 public:
  Value() = default;
  Value(Handle handle) : Handle(std::move(handle)) {}
  Value(double number) : number_(number), kind_(Kind::number) {}
  Value(std::int64_t number) : integer_(number), kind_(Kind::integer) {}
  Value(int number) : Value(std::int64_t{number}) {}
  Value(bool number) : integer_(number), kind_(Kind::boolean) {}

  /// Of a value that is none yet: to a number, without a handle that would be copied.
  void set(double number) { number_ = number, kind_ = Kind::number; }
  void set(std::int64_t number) { integer_ = number, kind_ = Kind::integer; }
  void set(bool number) { integer_ = number, kind_ = Kind::boolean; }

  bool is_number() const { return kind_ != Kind::array; }
  bool is_integer() const { return kind_ >= Kind::integer; }  ///< 0 or 1 for truth values
  bool is_boolean() const { return kind_ == Kind::boolean; }
  double number() const { return is_integer() ? static_cast<double>(integer_) : number_; }
  std::int64_t integer() const { return integer_; }

 private:
  enum class Kind : std::uint8_t { array, number, integer, boolean };

  union {
    double number_ = 0;
    std::int64_t integer_;
  };
  Kind kind_ = Kind::array;
};

}  // namespace afterglow::autograd
