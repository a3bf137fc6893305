// SPDX-License-Identifier: Apache-2.0
// Objects of Python's that the gradient of a recorded call needs: a block, a function of the
// user's.
//
// Such an object may lead back to the arrays that were computed from the call. So they, and not the
// tape, own it: arrays are Python's, and the garbage collector looks through those that own
// something. The node on the tape only knows the object, and takes it away from the arrays when it
// is released. Whoever walks the tape has its heads, so the objects are there.
#pragma once

#include "bindings/array_type.h"

namespace afterglow::bindings {

struct HeldObject;

/// What arrays own: a Python object with one reference to another.
nb::object make_held(nb::handle object);

/// A node's side of what make_held() made.
class KnownObject {
 public:
  explicit KnownObject(nb::handle held);
  ~KnownObject();
  KnownObject(const KnownObject&) = delete;
  KnownObject& operator=(const KnownObject&) = delete;

  /// None if no array owns it any more.
  nb::object get() const;

 private:
  friend struct HeldObject;
  HeldObject* held_;
};

/// A node's or an array's share of what make_held() made.
inline autograd::Held to_held(nb::handle held) {
  return autograd::Held(held.ptr());
}

/// An array that owns something is seen by the garbage collector from now on. To be called whenever
/// it may have come to own something.
inline void look_after(ArrayObject& array) {
  if (!array.held || array.tracked) return;
  PyObject_GC_Track(&array);
  array.tracked = true;
}

void bind_held();

}  // namespace afterglow::bindings
