// SPDX-License-Identifier: Apache-2.0

#include "convoy/landscape/point_losses.h"

#include <algorithm>

#include "convoy/network/microbatches.h"

namespace convoy {
namespace {

NetworkOptions planned(NetworkOptions options, bool training, std::size_t most_samples,
                       const FlatBuffer& statistics) {
  options.most_samples = most_samples;
  options.training = training;
  options.label_smoothing = 0;
  options.statistics = &statistics;
  return options;
}

}  // namespace

PointLosses::PointLosses(const LaidOutModel& model, const PointLossOptions& options,
                         ThreadTeam& team, Comm& comm)
    : model_(model),
      measure_over_(model.statistics_layout.trained().empty() ? nullptr
                                                              : options.measure_over),
      comm_(comm),
      weights_(model),
      batch_size_(evaluation_batch_size(
          model.model.input, static_cast<std::size_t>(class_count(model.model)))),
      evaluating_(
          model.model, model.layout,
          planned(options.network, /*training=*/false, batch_size_, weights_.statistics),
          team) {
  if (measure_over_ == nullptr) return;
  measuring_.emplace(
      model.model, model.layout,
      planned(options.network, /*training=*/true, batch_size_, weights_.statistics),
      team);
}

std::optional<std::vector<LossSum>> PointLosses::run(const PointSource& source,
                                                     const EvaluationSet& set,
                                                     const PointObserver& observer) {
  points_ = own_points(source.count);
  sums_.assign(points_.size(), {});
  observer_ = &observer;
  const std::size_t measured = measure_over_ ? measure_over_->samples.size() : 0;
  planned_ = static_cast<double>(points_.size() * (set.samples.size() + measured));
  done_ = 0;
  if (measure_over_ != nullptr && !measure_statistics(source)) return std::nullopt;
  if (!add_losses(source, set)) return std::nullopt;
  return gathered(source.count);
}

/// Every rank has nearly as many points as any other.
std::vector<std::size_t> PointLosses::own_points(std::size_t count) const {
  std::vector<std::size_t> points;
  for (auto point = static_cast<std::size_t>(comm_.rank()); point < count;
       point += static_cast<std::size_t>(comm_.ranks())) {
    points.push_back(point);
  }
  return points;
}

/// Makes a pass with every batch and every own point. Returns false as soon as a rank is
/// asked to stop.
bool PointLosses::for_each_batch(const EvaluationSet& set, DamagedSample damaged,
                                 const Pass& pass) {
  Loader loader(set.data, set.samples,
                {.batch_size = batch_size_,
                 .shuffle = false,
                 .normalization = set.normalization,
                 .image = model_.model.input,
                 .damaged = damaged});
  loader.start_epoch(0);
  for (std::size_t number = 0; const Batch* batch = loader.next(); ++number) {
    for (std::size_t own = 0; own < points_.size(); ++own) {
      if (observer_->should_stop()) break;
      pass(*batch, number, own);
      note_pass(batch->count);
    }
    if (any_stops()) return false;
  }
  return true;
}

void PointLosses::note_pass(std::size_t samples) {
  done_ += static_cast<double>(samples);
  observer_->progress(done_ / planned_);
}

bool PointLosses::any_stops() {
  const char own = observer_->should_stop() ? 1 : 0;
  std::vector<char> all(static_cast<std::size_t>(comm_.ranks()));
  comm_.all_gather(std::as_bytes(std::span(&own, 1)),
                   std::as_writable_bytes(std::span(all)));
  return std::ranges::count(all, 1) > 0;
}

/// Frozen statistics are the point's own.
void PointLosses::begin_measuring(FlatBuffer& running) const {
  std::ranges::copy(weights_.statistics.numbers(), running.data());
  for (const Range& range : model_.statistics_layout.trained()) {
    std::ranges::fill(running.view(range), 0.0f);
  }
}

/// The mean of the batches' statistics, as update_bn() has it.
bool PointLosses::measure_statistics(const PointSource& source) {
  statistics_.clear();
  for (std::size_t own = 0; own < points_.size(); ++own) {
    statistics_.emplace_back(model_.statistics_layout);
  }
  PassListener no_listener;
  return for_each_batch(
      *measure_over_, DamagedSample::replaced,
      [&](const Batch& batch, std::size_t number, std::size_t own) {
        source.set_weights(points_[own], weights_);
        FlatBuffer& running = statistics_[own];
        if (number == 0) begin_measuring(running);
        measuring_->forward({batch.images, batch.labels}, weights_.values,
                            {.step = static_cast<std::uint32_t>(number)}, no_listener);
        update_running_stats(
            model_.statistics_layout, measuring_->batch_statistics().numbers(),
            /*microbatches=*/1, running, 1.0f / static_cast<float>(number + 1));
      });
}

bool PointLosses::add_losses(const PointSource& source, const EvaluationSet& set) {
  PassListener no_listener;
  const auto add = [&](const Batch& batch, std::size_t, std::size_t own) {
    source.set_weights(points_[own], weights_);
    if (measure_over_ != nullptr) {
      std::ranges::copy(statistics_[own].numbers(), weights_.statistics.data());
    }
    sums_[own] += evaluating_.forward({batch.images, batch.labels}, weights_.values, {},
                                      no_listener);
  };
  return for_each_batch(set, DamagedSample::left_out, add);
}

std::vector<LossSum> PointLosses::gathered(std::size_t count) {
  const auto ranks = static_cast<std::size_t>(comm_.ranks());
  sums_.resize((count + ranks - 1) / ranks);
  std::vector<LossSum> by_rank(sums_.size() * ranks), all;
  comm_.all_gather(std::as_bytes(std::span<const LossSum>(sums_)),
                   std::as_writable_bytes(std::span(by_rank)));
  for (std::size_t point = 0; point < count; ++point) {
    all.push_back(by_rank[point % ranks * sums_.size() + point / ranks]);
  }
  return all;
}

}  // namespace convoy
