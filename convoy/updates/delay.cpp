// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/delay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/settings/delay_milliseconds.h"

namespace convoy {
namespace {

constexpr double kMostSeconds = 3600;  // limit of a heavy tail

/// The factor of a slowed rank's delay.
double factor(const InjectSettings& settings, int rank) {
  return rank == settings.slow_rank && settings.slow_ms == 0 ? settings.slow_factor : 1;
}

double mean_milliseconds(const InjectSettings& settings, int rank) {
  return delay_milliseconds(settings.delay).value_or(0) * factor(settings, rank) +
         (rank == settings.slow_rank ? settings.slow_ms : 0);
}

}  // namespace

Delay::Delay(const InjectSettings& settings, std::uint64_t seed, int rank)
    : kind_(settings.delay_kind),
      mean_(mean_milliseconds(settings, rank) * 1e-3),
      deviation_(settings.sigma_ms * 1e-3 * factor(settings, rank)),
      shape_(settings.pareto_shape),
      slow_down_(mean_ > 0 ? 0 : factor(settings, rank) - 1),
      random_(seed, RngStream::delay, static_cast<std::uint32_t>(rank)),
      on_off_(settings.on_steps, settings.off_steps, random_) {}

double Delay::seconds(std::size_t step, double computed) const {
  const double own = mean_ > 0 ? drawn(step) : 0;
  return std::clamp(own + slow_down_ * computed, 0.0, kMostSeconds);
}

double Delay::drawn(std::size_t step) const {
  switch (kind_) {
    case DelayKind::gaussian:
      return std::max(0.0, mean_ + deviation_ * random_.normal(step));
    case DelayKind::pareto:
      return drawn_from_pareto(step);
    case DelayKind::on_off:
      return on_off_.is_on(step) ? mean_ : 0;
    case DelayKind::constant:
      break;
  }
  return mean_;
}

double Delay::drawn_from_pareto(std::size_t step) const {
  const double least = mean_ * (shape_ - 1) / shape_;
  return least * std::pow(1 - random_.fraction(step), -1 / shape_);
}

Delay make_delay(const Settings& settings, int rank, int ranks) {
  if (settings.inject.slow_rank >= ranks) {
    throw InputError(InputKind::settings,
                     {.where = "inject.slow_rank",
                      .found = std::to_string(settings.inject.slow_rank),
                      .expected = fmt::format("below {}, the ranks; -1 for none", ranks),
                      .hint = "ranks are numbered from 0"});
  }
  return {settings.inject, settings.train.seed, rank};
}

}  // namespace convoy
