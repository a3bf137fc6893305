// SPDX-License-Identifier: Apache-2.0
// Finding the first call whose result has nan, or is infinite although its inputs are not. Where a
// thread looks for it, every call is waited for before and after it is issued, and its values are
// looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/front_end.h"
#include "autograd/tape.h"
#include "base/rare_of_thread.h"

namespace afterglow::autograd {

/// Of threads that say nothing else.
inline bool detects_anomalies_by_default = false;

/// What a thread says.
enum class Detection : std::int8_t { by_default, off, on };
using OwnDetection = RareOfThread<Detection, Detection>;

inline bool detects_anomalies() {
  const Detection own = OwnDetection::get();
  return own == Detection::by_default ? detects_anomalies_by_default : own == Detection::on;
}

/// The node whose gradient this thread computes, if any.
inline constinit thread_local const Node* differentiated = nullptr;

/// One call that is looked at.
class AnomalyCheck {
 public:
  /// Waits for the inputs, which the call may overwrite.
  explicit AnomalyCheck(const lazy::Call& call);
  /// Waits for the results, and raises what is wrong with them.
  void look_at(const Array& result, const std::vector<Array>* more);

 private:
  void add_input(const lazy::Operand& input);
  void refuse(const Array& result, const std::string& seen);

  std::string name_, inputs_, values_;
  lazy::Site site_;
  /// There are arrays among the inputs, and all of them have values.
  bool is_looked_at_ = false;
  /// Among the elements of the inputs.
  bool has_nan_ = false, has_infinity_ = false;
};

}  // namespace afterglow::autograd
