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
      target_accuracy_(settings.train.target_accuracy),
      min_epochs_(settings.train.min_epochs),
      plateau_(plateau_options(settings, metric_ == BestMetric::accuracy)),
      early_stop_(early_stop_options(settings.train, metric_ == BestMetric::accuracy)) {}

void EvaluationPolicy::take_in(const LossSum& evaluation, int epoch, double seconds) {
  const double loss = evaluation.mean_loss(), accuracy = evaluation.accuracy();
  const double metric = metric_ == BestMetric::accuracy ? accuracy : loss;
  plateau_.take_in(metric);
  early_stop_.take_in(metric, epoch);
  if (!least_loss_ || loss < least_loss_->loss) least_loss_ = {epoch, loss};
  if (target_accuracy_ > 0 && !target_ && accuracy >= target_accuracy_) {
    target_ = {epoch, seconds, accuracy};
  }
}

std::optional<std::string> EvaluationPolicy::reason_to_end(std::string_view split,
                                                           int epoch) const {
  if (epoch < min_epochs_) return std::nullopt;
  if (target_accuracy_ > 0 && target_) {
    return fmt::format("train.target_accuracy={} is reached", target_accuracy_);
  }
  if (!early_stop_.is_over()) return std::nullopt;
  const EarlyStopState& state = early_stop_.state();
  return fmt::format("no better {} {} in {} evaluation{} (best {:.3f} in epoch {})",
                     split, choice_name(metric_), state.without_better,
                     state.without_better == 1 ? "" : "s", state.best.value_or(0),
                     state.best_epoch);
}

std::string EvaluationPolicy::target_finding(std::string_view split) const {
  if (!target_) {
    return fmt::format("{} accuracy has not reached {} (train.target_accuracy)", split,
                       target_accuracy_);
  }
  return fmt::format(
      "{} accuracy reached {} (train.target_accuracy) after {:.1f} s, in epoch {}: "
      "{:.4f}",
      split, target_accuracy_, target_->seconds, target_->epoch, target_->accuracy);
}

std::vector<std::string> EvaluationPolicy::findings(std::string_view split) const {
  std::vector<std::string> lines;
  if (least_loss_ && split == "val") {
    lines.push_back(fmt::format("the least validation loss was at epoch {} ({:.4f})",
                                least_loss_->epoch, least_loss_->loss));
  }
  if (target_accuracy_ > 0) lines.push_back(target_finding(split));
  return lines;
}

void EvaluationPolicy::save_to(PolicyState& state) const {
  state.plateau = plateau_.state();
  state.early_stop = early_stop_.state();
  state.least_loss = least_loss_;
  state.target = target_;
}

/// A resumed run may have another target.
void EvaluationPolicy::restore_from(const PolicyState& state) {
  plateau_.set_state(state.plateau);
  early_stop_.set_state(state.early_stop);
  least_loss_ = state.least_loss;
  target_ = state.target;
  if (target_ && target_->accuracy < target_accuracy_) target_.reset();
}

}  // namespace convoy
