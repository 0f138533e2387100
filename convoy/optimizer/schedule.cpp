// SPDX-License-Identifier: Apache-2.0

#include "convoy/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "convoy/base/error.h"

namespace convoy {
namespace {

/// Interpolates from `from` to `to` as `part` goes from 0 to 1.
double along_cosine(double from, double to, double part) {
  return to + (from - to) / 2 * (std::cos(std::numbers::pi * part) + 1);
}

double along_line(double from, double to, double part) {
  return (to - from) * part + from;
}

}  // namespace

Schedule::Schedule(ScheduleOptions options)
    : options_(std::move(options)),
      warmup_steps_(static_cast<std::size_t>(std::llround(
          options_.warmup_epochs * static_cast<double>(options_.steps_in_epoch)))) {
  check(options_.steps > 0 && options_.steps_in_epoch > 0, "a run has steps");
}

StepRates Schedule::at(std::size_t step) const {
  if (options_.curve == Curve::onecycle) return one_cycle(step);
  StepRates rates = {options_.rate, options_.momentum};
  if (step < warmup_steps_) {
    rates.rate *= static_cast<double>(step + 1) / static_cast<double>(warmup_steps_);
  } else {
    rates.rate = along_curve(step);
  }
  return rates;
}

double Schedule::along_curve(std::size_t step) const {
  const double rate = options_.rate;
  switch (options_.curve) {
    case Curve::step:
      return stepped(step);
    case Curve::exponential:
      return exponential(step);
    case Curve::cosine:
      return along_cosine(rate, options_.min_rate, part_after_warmup(step));
    case Curve::linear:
      return along_line(rate, rate * options_.end_factor, part_after_warmup(step));
    case Curve::constant:
    case Curve::onecycle:
      break;
  }
  return rate;
}

double Schedule::stepped(std::size_t step) const {
  const std::size_t epochs = step / options_.steps_in_epoch;
  const auto passed = [&](double milestone) {
    return static_cast<double>(epochs) >= milestone;
  };
  const auto changes = options_.milestones.empty()
                           ? static_cast<std::ptrdiff_t>(epochs) / options_.step_epochs
                           : std::ranges::count_if(options_.milestones, passed);
  return options_.rate * std::pow(options_.gamma, static_cast<double>(changes));
}

double Schedule::exponential(std::size_t step) const {
  const std::size_t epochs =
      step / options_.steps_in_epoch - warmup_steps_ / options_.steps_in_epoch;
  return options_.rate * std::pow(options_.gamma, static_cast<double>(epochs));
}

/// Returns the fraction of the run after the warm-up that is over. A run that ends within
/// the warm-up never calls it.
double Schedule::part_after_warmup(std::size_t step) const {
  const double part = static_cast<double>(step - warmup_steps_) /
                      static_cast<double>(options_.steps - warmup_steps_);
  return std::min(part, 1.0);
}

/// As in PyTorch, the maximum may lie between two steps, and the last step is the end.
StepRates Schedule::one_cycle(std::size_t step) const {
  const OneCycle& cycle = options_.one_cycle;
  const double now = static_cast<double>(step),
               steps = static_cast<double>(options_.steps);
  const double top = cycle.pct_start * steps - 1, end = steps - 1;
  // Where PyTorch would divide by a length of zero, this returns the end.
  const bool up = now <= top && top > 0;
  const double begin = up ? 0 : top, length = (up ? top : end) - begin;
  const double part = length > 0 ? std::min((now - begin) / length, 1.0) : 1;

  const auto along = cycle.linear ? along_line : along_cosine;
  const double first = cycle.max_rate / cycle.div_factor;
  StepRates rates = {up ? along(first, cycle.max_rate, part)
                        : along(cycle.max_rate, first / cycle.final_div_factor, part),
                     options_.momentum};
  if (cycle.cycle_momentum) {
    rates.momentum = up ? along(cycle.max_momentum, cycle.base_momentum, part)
                        : along(cycle.base_momentum, cycle.max_momentum, part);
  }
  return rates;
}

}  // namespace convoy
