// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/evaluation_policy.h"

#include <fmt/format.h>

namespace convoy {
namespace {

PlateauOptions plateau_options(const Settings& settings, bool higher_better) {
  return {.rate = settings.optimizer.lr,
          .higher_better = higher_better,
          .gamma = settings.schedule.gamma,
          .patience = settings.schedule.patience,
          .threshold = settings.schedule.threshold,
          .cooldown = settings.schedule.cooldown,
          .min_rate = settings.schedule.min_lr};
}

EarlyStopOptions early_stop_options(const TrainSettings& train, bool higher_better) {
  return {.higher_better = higher_better,
          .patience = train.patience,
          .min_delta = train.min_delta};
}

}  // namespace

EvaluationPolicy::EvaluationPolicy(const Settings& settings)
    : metric_(settings.checkpoint.best_metric),
      lowers_rate_(settings.schedule.name == ScheduleChoice::plateau),
      plateau_(plateau_options(settings, metric_ == BestMetric::accuracy)),
      early_stop_(early_stop_options(settings.train, metric_ == BestMetric::accuracy)) {}

void EvaluationPolicy::take_in(const LossSum& evaluation, int epoch) {
  const double metric =
      metric_ == BestMetric::accuracy ? evaluation.accuracy() : evaluation.mean_loss();
  plateau_.take_in(metric);
  early_stop_.take_in(metric, epoch);
}

std::optional<std::string> EvaluationPolicy::reason_to_end(std::string_view split) const {
  if (!early_stop_.is_over()) return std::nullopt;
  const EarlyStopState& state = early_stop_.state();
  return fmt::format("no better {} {} in {} evaluation{} (best {:.3f} in epoch {})",
                     split, choice_name(metric_), state.without_better,
                     state.without_better == 1 ? "" : "s", state.best.value_or(0),
                     state.best_epoch);
}

}  // namespace convoy
