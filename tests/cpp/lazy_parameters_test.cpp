// SPDX-License-Identifier: Apache-2.0
// Parameters as ops state them: what is read from arguments, what is refused, what others see.
#include "lazy/parameters.h"

#include <optional>
#include <string>
#include <vector>

#include "check.h"

using namespace afterglow;
using lazy::Argument;
using lazy::Choice;
using lazy::field;
using lazy::required;

namespace {

enum class Side { left, right };

constexpr auto choices(Side) {
  return std::array{Choice{"left", Side::left}, Choice{"right", Side::right}};
}

enum class Way { in, out, through };

constexpr auto choices(Way) {
  return std::array{Choice{"in", Way::in}, Choice{"out", Way::out},
                    Choice{"through", Way::through}};
}

struct Everything {
  std::int64_t count;
  double rate = 0.5;
  lazy::Number bound = 1.5;
  bool keep = true;
  Shape shape = {2, 3};
  std::optional<DType> dtype;
  std::optional<Context> context;
  Side side = Side::right;
  std::optional<Way> way;
  static constexpr auto fields = std::tuple{required("count", &Everything::count, "how many"),
                                            field("rate", &Everything::rate),
                                            field("bound", &Everything::bound),
                                            field("keep", &Everything::keep),
                                            field("shape", &Everything::shape),
                                            field("dtype", &Everything::dtype),
                                            field("context", &Everything::context),
                                            field("side", &Everything::side),
                                            field("way", &Everything::way)};
};

/// The defaults, and a count.
std::vector<Argument> arguments() {
  std::vector<Argument> result;
  for (const lazy::Parameter& parameter : lazy::parameters_of<Everything>())
    result.push_back(parameter.default_value);
  result[0] = std::int64_t{7};
  return result;
}

std::size_t place_of(std::string_view name) {
  const auto all = lazy::parameters_of<Everything>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return i;
  }
  throw std::out_of_range(std::string(name));
}

Everything read(const std::vector<Argument>& given) {
  return lazy::read_parameters<Everything>(
      given, [](const lazy::Refusal& refusal) { throw Error(refusal.kind, refusal.text); });
}

Everything read_with(std::string_view name, Argument value) {
  std::vector<Argument> given = arguments();
  given[place_of(name)] = std::move(value);
  return read(given);
}

/// "value: text" of the refusal.
std::string refusal(std::string_view name, Argument value) {
  try {
    read_with(name, std::move(value));
  } catch (const Error& error) {
    return (error.kind() == ErrorKind::value ? "value: " : "type: ") + std::string(error.what());
  }
  return "";
}

}  // namespace

TEST("defaults come from the members, and required parameters have none") {
  const auto all = lazy::parameters_of<Everything>();
  CHECK(all[0].required);
  CHECK(all[0].default_value == Argument{});
  CHECK_EQUAL(all[0].doc, "how many");
  CHECK(!all[1].required);
  CHECK(all[1].default_value == Argument{0.5});
  CHECK(all[2].default_value == Argument{1.5});
  CHECK(all[3].default_value == Argument{true});
  CHECK((all[4].default_value == Argument{Shape{2, 3}}));
  CHECK(all[5].default_value == Argument{});
  CHECK(all[place_of("side")].default_value == Argument{std::string("right")});
  CHECK(all[place_of("way")].default_value == Argument{});
}

TEST("arguments become members, and members arguments") {
  std::vector<Argument> given = arguments();
  given[place_of("rate")] = std::int64_t{2};
  given[place_of("bound")] = std::int64_t{4};
  given[place_of("keep")] = Argument{};
  given[place_of("dtype")] = static_cast<std::int64_t>(DType::int8);
  given[place_of("context")] = Shape{Context::cpu_pinned, 3};
  given[place_of("side")] = std::string("left");
  given[place_of("way")] = std::string("through");
  const Everything all = read(given);
  CHECK_EQUAL(all.count, 7);
  CHECK_EQUAL(all.rate, 2.0);
  CHECK_EQUAL(std::get<std::int64_t>(all.bound), 4);
  CHECK(!all.keep);
  CHECK((all.shape == Shape{2, 3}));
  CHECK(all.dtype == DType::int8);
  CHECK((all.context == Context{Context::cpu_pinned, 3}));
  CHECK(all.side == Side::left);
  CHECK(all.way == Way::through);
  given[place_of("rate")] = 2.0;
  given[place_of("keep")] = false;
  CHECK(lazy::write_arguments(all) == given);
}

TEST("an integer is a shape of one, and types have names") {
  std::vector<Argument> given = arguments();
  given[place_of("shape")] = std::int64_t{5};
  given[place_of("dtype")] = std::string("uint8");
  const Everything all = read(given);
  CHECK((all.shape == Shape{5}));
  CHECK(all.dtype == DType::uint8);
}

TEST("what a field does not take is refused by name, with what it takes") {
  CHECK_EQUAL(refusal("count", {}), "value: needs count");
  CHECK_EQUAL(refusal("count", 1.5), "type: count must be an integer");
  CHECK_EQUAL(refusal("rate", std::string("2")), "type: rate must be a number");
  CHECK_EQUAL(refusal("bound", Shape{1}), "type: bound must be a number");
  CHECK_EQUAL(refusal("keep", 0.5), "type: keep must be a boolean");
  CHECK_EQUAL(refusal("shape", {}), "type: shape must be an integer or a tuple of integers");
  CHECK_EQUAL(refusal("dtype", std::string("float1")), "type: dtype must be a data type");
  CHECK_EQUAL(refusal("dtype", std::int64_t{dtype_count}), "type: dtype must be a data type");
  CHECK_EQUAL(refusal("context", std::int64_t{1}), "type: context must be a device");
}

TEST("a wrong name is told the right ones") {
  CHECK_EQUAL(refusal("side", std::string("top")),
              "value: side is 'top'; it must be 'left' or 'right'");
  CHECK_EQUAL(refusal("way", std::string("")),
              "value: way is ''; it must be 'in', 'out' or 'through'");
  CHECK_EQUAL(refusal("way", std::int64_t{1}), "type: way must be 'in', 'out' or 'through'");
  CHECK_EQUAL(refusal("side", {}), "type: side must be 'left' or 'right'");
}

CHECK_MAIN
