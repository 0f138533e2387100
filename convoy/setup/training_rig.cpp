// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/training_rig.h"

#include <cmath>
#include <utility>

#include "convoy/base/error.h"

namespace convoy {

LaidOutModel lay_out(Model model) {
  Layout layout = build_layout(model);
  Layout statistics = build_statistics_layout(model);
  return {std::move(model), std::move(layout), std::move(statistics)};
}

void freeze(std::span<const SegmentId> segments, LaidOutModel& model) {
  model.layout.freeze(segments);
  model.statistics_layout = build_statistics_layout(model.model, model.layout);
}

TrainingRig::TrainingRig(const LaidOutModel& model, const RigOptions& options)
    : model_(model),
      team_(options.threads),
      values_(model.layout),
      statistics_(model.statistics_layout),
      recompute_units_(options.recompute_units) {
  if (!options.update) return;
  optimizer_ = make_optimizer(options.update->optimizer, model.layout,
                              options.update->parameters, team_);
  if (options.update->values != Dtype::fp32) {
    auto masters = std::make_unique<MasterValues>(std::move(optimizer_), model.layout,
                                                  options.update->values, team_);
    masters_ = masters.get();
    optimizer_ = std::move(masters);
  }
  if (options.update->clip) clip_.emplace(model.layout, *options.update->clip, team_);
  if (options.update->loss_scale) scaler_.emplace(*options.update->loss_scale, team_);
}

void TrainingRig::initialize(std::uint64_t seed) {
  convoy::initialize(model_.layout, seed, values_);
  convoy::initialize(model_.statistics_layout, seed, statistics_);
}

void TrainingRig::adopt_values() {
  if (masters_ != nullptr) masters_->adopt(values_);
}

bool TrainingRig::is_diverged(double loss) const {
  if (!scaler_) return !std::isfinite(loss);
  return scaler_->is_exhausted() || (!std::isfinite(loss) && !scaler_->is_skipping());
}

void TrainingRig::start_step(std::size_t step, const StepRates& rates) {
  optimizer_->start_step(step - (scaler_ ? scaler_->state().skipped : 0), rates);
}

void TrainingRig::plan_passes(const PassOptions& options) {
  check(!network_, "passes are planned once");
  NetworkOptions network = options.network;
  network.most_samples =
      Microbatches::most_samples(options.batch_size, options.part.microbatches);
  network.statistics = &statistics_;
  if (recompute_units_) network.recompute_units = *recompute_units_;
  network_.emplace(model_.model, model_.layout, network, team_);
  microbatches_.emplace(*network_, model_.layout, options.part, team_, options.gradients);
}

}  // namespace convoy
