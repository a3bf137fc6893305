// SPDX-License-Identifier: Apache-2.0
// Waits of a program in C: other threads issue meanwhile.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "array/array.h"
#include "lazy/failure.h"
#include "lazy/window.h"

namespace afterglow::c_api {

/// Waits, and throws what poisoned the value. The array is a copy of what a handle names, which
/// another thread may free meanwhile.
void wait_for(Array array, engine::WaitFor what = engine::WaitFor::read,
              std::optional<double> timeout_seconds = {});
/// The same, but what poisoned it is returned.
std::shared_ptr<Failure> wait_quietly(Array array, engine::WaitFor what,
                                      std::optional<double> timeout_seconds = {});
/// Until issuing one more call keeps within the run-ahead limits.
void wait_for_room();
/// Waits for everything issued so far and throws the first failure not raised yet.
void wait_for_all();
/// Waits and copies an array without gaps out; a later write cannot get in between.
void read_value(const Array& array, void* target);
/// Takes memory for a new array whose value comes from outside, once there is room for it.
void make_room_from_host(const Array& array);

}  // namespace afterglow::c_api
