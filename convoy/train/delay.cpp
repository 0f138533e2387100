// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/delay.h"

#include <algorithm>

#include "convoy/base/text.h"

namespace convoy {
namespace {

constexpr double kMostMilliseconds = 60000;

/// A slowed rank's delay is so many times the others'.
double factor(const InjectSettings& settings, int rank) {
  return rank == settings.slow_rank ? settings.slow_factor : 1;
}

}  // namespace

std::optional<double> delay_milliseconds(std::string_view text) {
  if (text == "none") return 0;
  if (text == "small") return 10;
  if (text == "medium") return 20;
  if (text == "long") return 30;
  const std::optional<double> value = number_in(text);
  if (!value || !(*value >= 0 && *value <= kMostMilliseconds)) return std::nullopt;
  return value;
}

Delay::Delay(const InjectSettings& settings, std::uint64_t seed, int rank)
    : mean_(delay_milliseconds(settings.delay).value_or(0) * 1e-3 *
            factor(settings, rank)),
      deviation_(mean_ > 0 && settings.delay_kind == "gaussian"
                     ? settings.sigma_ms * 1e-3 * factor(settings, rank)
                     : 0),
      slow_down_(mean_ > 0 ? 0 : factor(settings, rank) - 1),
      random_(seed, Purpose::delay, static_cast<std::uint32_t>(rank)) {}

double Delay::seconds(std::size_t step, double computed) const {
  const double noise = deviation_ > 0 ? deviation_ * random_.normal(step) : 0;
  return std::max(0.0, mean_ + noise) + slow_down_ * computed;
}

}  // namespace convoy
