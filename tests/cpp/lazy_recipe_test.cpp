// SPDX-License-Identifier: Apache-2.0
// Calls that were captured once and are issued again.
#include "lazy/recipe.h"

#include <random>

#include "lazy_support.h"

using namespace support;
using lazy::Capture;
using lazy::Recipe;

namespace {

using Arrays = std::vector<Array>;

std::unique_ptr<Recipe> recipe_of(Capture& capture, Arrays outputs, Arrays heads = {},
                                  Arrays gradients = {}) {
  return Recipe::make(capture, {outputs, heads, gradients});
}

Array compute(const Recipe& recipe, Window& window, const Array& input) {
  return recipe.compute(window, Arrays{input}).outputs[0];
}

}  // namespace

TEST("a recipe computes what was captured, from other inputs") {
  for (const int threads : {1, 2, 4}) {
    auto window = threaded(threads);
    const Array weight = filled({5000}, 2);
    std::unique_ptr<Recipe> recipe;
    {
      Capture capture(Arrays{filled({5000}, 1)});
      const Array x = capture.inputs()[0];
      const Array product = apply(*window, "multiply", x, weight);
      const Array again = apply(*window, "multiply", x, weight);
      call(*window, "exp", {x});  // nobody needs it
      const Array y = apply(*window, "add", product, again);
      recipe = recipe_of(capture, {y});
      CHECK_EQUAL(value(*window, y), 4.0f);
    }
    CHECK(recipe);
    CHECK_EQUAL(recipe->size(), 2u);  // one product and the sum
    CHECK(!recipe->has_effects());
    std::vector<Array> results;
    for (int i = 0; i < 50; ++i) {
      const Array x = filled({5000}, static_cast<float>(i));
      results.push_back(compute(*recipe, *window, x));
    }
    for (int i = 0; i < 50; ++i)
      CHECK_EQUAL(value(*window, results[static_cast<std::size_t>(i)]),
                  4.0f * static_cast<float>(i));
    apply(*window, "multiply", weight, 10.0, &weight);  // by reference, not by value
    const Array x = filled({5000}, 1);
    CHECK_EQUAL(value(*window, compute(*recipe, *window, x)), 40.0f);
    finish(*window);
  }
}

TEST("the second part reads what the first has kept") {
  auto window = threaded(2);
  const Array head = filled({100}, 0);
  std::unique_ptr<Recipe> recipe;
  {
    Capture capture(Arrays{filled({100}, 3)});
    const Array x = capture.inputs()[0];
    const Array square = apply(*window, "multiply", x, x);
    const Array y = call(*window, "exp", {square});
    capture.begin_second_part();
    const Array inner = apply(*window, "multiply", head, y);
    const Array slope = apply(*window, "multiply", inner, apply(*window, "multiply", x, 2.0));
    recipe = recipe_of(capture, {y}, {head}, {slope});
  }
  CHECK(recipe);
  const Array given = filled({100}, 1), one = filled({100}, 1);
  Recipe::Results results = recipe->compute(*window, Arrays{given});
  CHECK_EQUAL(results.kept.size(), 2u);  // y and the input
  const std::vector<Array> slopes = recipe->differentiate(*window, results.kept, Arrays{one});
  CHECK(std::abs(value(*window, slopes[0]) - 2 * 2.7182817f) < 1e-5f);
  finish(*window);
}

TEST("writes outside happen each time, and inputs that overlap them are told") {
  auto window = threaded(2);
  const Array total = filled({10}, 0);
  std::unique_ptr<Recipe> recipe;
  {
    Capture capture(Arrays{filled({10}, 1)});
    const Array x = capture.inputs()[0];
    apply(*window, "add", total, x, &total);
    const Array y = apply(*window, "multiply", total, 2.0);
    recipe = recipe_of(capture, {y});
  }
  CHECK(recipe);
  CHECK(recipe->has_effects());
  const Array x = filled({10}, 5);
  CHECK(!recipe->alias(Arrays{x}));
  CHECK(recipe->alias(Arrays{total}));
  const Array y = compute(*recipe, *window, x);
  const Array z = compute(*recipe, *window, x);
  CHECK_EQUAL(value(*window, y), 12.0f);
  CHECK_EQUAL(value(*window, z), 22.0f);
  CHECK_EQUAL(value(*window, total), 11.0f);
  finish(*window);
}

TEST("what starts from values of the host and is written in part is refused") {
  auto window = threaded(1);
  Capture capture(Arrays{filled({10}, 1)});
  const Array x = capture.inputs()[0];
  const Array made = filled({10}, 7);  // while capturing, but by no call
  apply(*window, "add", made, x, &made);
  CHECK(!recipe_of(capture, {made}));
  CHECK(!capture.refusal().empty());
  finish(*window);
}

TEST("random chains: replays equal the calls, whatever runs meanwhile") {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    auto window = threaded(1 + round % 4);
    const std::int64_t size = 1 << (2 + round % 12);
    const auto chain = [&](const Array& x, unsigned seed) {
      std::mt19937 choice(seed);
      std::vector<Array> values{x};
      for (int i = 0; i < 12; ++i) {
        const Array left = values[choice() % values.size()],
                    right = values[choice() % values.size()];
        const char* const names[] = {"add", "maximum", "subtract"};
        values.push_back(apply(*window, names[choice() % 3], left, right));
        if (choice() % 4 == 0) values.push_back(apply(*window, "multiply", values.back(), 0.5));
      }
      return values.back();
    };
    const unsigned seed = random();
    std::unique_ptr<Recipe> recipe;
    {
      Capture capture(Arrays{filled({size}, 1)});
      const Array x = capture.inputs()[0];
      const Array y = chain(x, seed);
      recipe = recipe_of(capture, {y});
    }
    CHECK(recipe);
    std::vector<Array> expected, found;
    for (int i = 0; i < 10; ++i) {
      const Array x = filled({size}, static_cast<float>(i) - 4);
      expected.push_back(chain(x, seed));
      found.push_back(compute(*recipe, *window, x));
    }
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK_EQUAL(value(*window, found[i]), value(*window, expected[i]));
    finish(*window);
  }
}

TEST("an input is known by its handle, whatever memory it shares with others") {
  auto window = threaded(2);
  const Array weight = filled({100}, 3);
  const auto part = [](const Array& array, std::int64_t offset, std::int64_t size) {
    Array view = array;
    view.offset += offset;
    view.layout = Layout::contiguous(Shape{size});
    return view;
  };
  std::unique_ptr<Recipe> recipe;
  {
    // The inputs are the weight itself and a part of it.
    Capture capture(Arrays{weight, part(weight, 20, 10)});
    const Array x = capture.inputs()[0], y = capture.inputs()[1];
    const Array sum = apply(*window, "add", part(x, 5, 5), part(y, 5, 5));
    recipe = recipe_of(capture, {apply(*window, "multiply", sum, part(weight, 0, 5))});
  }
  CHECK(recipe);
  const Array x = filled({100}, 1), y = filled({40}, 2);
  const auto results = [&](const Array& first, const Array& second) {
    return recipe->compute(*window, Arrays{first, second}).outputs[0];
  };
  CHECK_EQUAL(value(*window, results(x, part(y, 30, 10))), 9.0f);
  CHECK_EQUAL(value(*window, results(weight, weight)), 18.0f);
  // Whoever gives less than was captured is refused before anything is touched.
  CHECK_THROWS("beyond an array", results(x, part(y, 31, 9)));
  CHECK_THROWS("beyond an array", results(filled({4}, 1), y));
  finish(*window);
}

CHECK_MAIN
