// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/loss_scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>

#include "convoy/base/vector_clones.h"
#include "convoy/optimizer/param_groups.h"

namespace convoy {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFF, kInfinite = 0x7F800000;

/// The largest magnitude's bits, in whose order infinity and not-a-number come last.
CONVOY_WITH_AVX2 std::uint32_t largest_bits(const float* numbers, std::size_t count) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(numbers[i]) & kMagnitude;
    largest = std::max(largest, bits);
  }
  return largest;
}

}  // namespace

LossScaler::LossScaler(const LossScaleOptions& options, ThreadTeam& team)
    : options_(options), state_{.scale = options.initial}, team_(team) {}

bool all_finite(std::span<const float> numbers, ThreadTeam& team) {
  std::atomic<bool> found = false;
  run_chunks(team, {0, numbers.size()}, [&](Range chunk) {
    if (largest_bits(numbers.data() + chunk.begin, chunk.size()) >= kInfinite)
      found = true;
  });
  return !found;
}

bool LossScaler::take_in(bool is_finite, double scale) {
  is_skipping_ = !is_finite;
  if (!is_finite) {
    const double half = scale / 2;
    if (half < state_.scale) state_.good_steps = 0;
    state_.scale = std::min(state_.scale, half);
    ++state_.skipped;
    return false;
  }
  if (++state_.good_steps == options_.growth_interval) {
    state_.scale = std::min(kMost, 2 * state_.scale);
    state_.good_steps = 0;
  }
  return true;
}

std::string LossScaler::overflow_message() const {
  return fmt::format(
      "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {:.1f}",
      state_.scale);
}

}  // namespace convoy
