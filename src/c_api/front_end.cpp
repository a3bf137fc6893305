// SPDX-License-Identifier: Apache-2.0
#include "c_api/front_end.h"

#include <set>

#include "autograd/front_end.h"
#include "c_api/waiting.h"

namespace afterglow::c_api {
namespace {

struct Place {
  std::string file, function;
  auto operator<=>(const Place&) const = default;
};

/// Kept for good: calls refer to places, and nobody counts how many do. Needs the right.
const Place* known_place(std::string_view file, std::string_view function) {
  static auto* const places = new std::set<Place>;
  return &*places->insert({std::string(file), std::string(function)}).first;
}

struct Here {
  const Place* place = nullptr;
  int line = 0;
};
constinit thread_local Here here;

std::string text_of(const lazy::Site& site) {
  if (!site.code()) return {};
  const auto& place = *static_cast<const Place*>(site.code());
  std::string text = place.file + ":" + std::to_string(site.instruction());
  if (!place.function.empty()) text += " in " + place.function;
  return text;
}

class FrontEnd : public autograd::FrontEnd {
 public:
  lazy::Site site() const override { return {const_cast<Place*>(here.place), here.line}; }
  std::string describe(const lazy::Site& site) const override { return text_of(site); }
  void wait_for_room() const override { c_api::wait_for_room(); }
  void wait_for_others(const Array& array) const override {
    wait_for(array, engine::WaitFor::write);
  }
  std::shared_ptr<Failure> wait_for_value(const Array& array) const override {
    return wait_quietly(array, engine::WaitFor::read);
  }
  [[noreturn]] void raise(Failure& failure) const override { raise_failure(failure); }
};

}  // namespace

void set_site(std::string_view file, int line, std::string_view function) {
  here = file.empty() ? Here{} : Here{known_place(file, function), line};
}

void raise_failure(Failure& failure) {
  failure.raised = true;
  const std::string place = text_of(failure.site);
  throw Error(failure.kind, failure.message + (place.empty() ? "" : "\n  issued at " + place));
}

void use_front_end() {
  static const FrontEnd front_end;
  autograd::chosen_front_end = &front_end;
}

}  // namespace afterglow::c_api
