// SPDX-License-Identifier: Apache-2.0
#include "lazy/random_stream.h"

#include <random>
#include <utility>

#include "lazy/call.h"

namespace afterglow::lazy {
namespace {

// Guarded by the issuing right.
std::map<std::pair<int, int>, Draw>& streams() {
  static auto* const all = new std::map<std::pair<int, int>, Draw>;
  return *all;
}

/// Without a seed every run differs.
std::uint64_t& base_seed() {
  static std::uint64_t seed = [] {
    std::random_device device;
    return (std::uint64_t{device()} << 32) | device();
  }();
  return seed;
}

/// Spreads (seed, context) over all 64 bits, so that neighbouring seeds share nothing.
std::uint64_t key_of(std::uint64_t seed, Context context) {
  std::uint64_t mixed = seed + 0x9E3779B97F4A7C15ull * (1 + static_cast<std::uint64_t>(context.id) +
                                                        (std::uint64_t{1} << 32) * context.type);
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
  return mixed ^ (mixed >> 31);
}

std::pair<int, int> place(Context context) {
  return {context.type, context.id};
}

}  // namespace

Draw draw_random(Context context, std::uint64_t blocks) {
  const auto [stream, created] = streams().try_emplace(place(context));
  if (created) stream->second.key = key_of(base_seed(), context);
  const Draw draw = stream->second;
  stream->second.counter += blocks;
  return draw;
}

void draw_random(Call& call, Context context, std::uint64_t blocks) {
  call.drawn = draw_random(context, blocks);
  call.drawn_blocks = blocks;
}

void seed_random(Context context, std::uint64_t seed) {
  streams()[place(context)] = {key_of(seed, context), 0};
}

void seed_random(std::uint64_t seed) {
  base_seed() = seed;
  streams().clear();
}

RandomState random_state() {
  return {base_seed(), streams()};
}

void set_random_state(RandomState state) {
  base_seed() = state.seed;
  streams() = std::move(state.streams);
}

}  // namespace afterglow::lazy
