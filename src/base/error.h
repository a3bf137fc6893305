// SPDX-License-Identifier: Apache-2.0
// Errors with the name of the Python class they become. Raised at the call for wrong arguments;
// thrown inside a kernel they become the failure that poisons the call's outputs.
#pragma once

#include <stdexcept>
#include <string>

namespace afterglow {

enum class ErrorKind {
  mxnet,
  value,
  type,
  index,
  memory,
  not_implemented,
  timeout,
  axis,
  overflow,
  argument,
  zero_division,
  unknown_form
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace afterglow
