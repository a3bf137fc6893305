// SPDX-License-Identifier: Apache-2.0
// One stream of random counters per context. Drawn at issue, in program order.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "array/context.h"

namespace afterglow::lazy {

struct Draw {
  std::uint64_t key = 0;
  std::uint64_t counter = 0;
};

/// Reserves `blocks` generator blocks of the context's stream. Needs the issuing right.
Draw draw_random(Context context, std::uint64_t blocks);
struct Call;
/// The same for a call, whose kernel finds its place in the stream in Call::drawn.
void draw_random(Call& call, Context context, std::uint64_t blocks);
/// Restarts the stream of one context.
void seed_random(Context context, std::uint64_t seed);
/// Restarts the streams of all contexts, each with numbers of its own.
void seed_random(std::uint64_t seed);

/// Where all streams are, by the type and number of their contexts. Needs the issuing right.
struct RandomState {
  std::uint64_t seed = 0;  ///< of streams that nobody has drawn from yet
  std::map<std::pair<int, int>, Draw> streams;
};
RandomState random_state();
void set_random_state(RandomState state);

}  // namespace afterglow::lazy
