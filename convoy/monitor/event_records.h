// SPDX-License-Identifier: Apache-2.0
//
// EventRecords: a run's records as TensorBoard shows them.
//
//   train/   loss, accuracy, lr of a step; epoch_loss, epoch_accuracy
//   val/     loss, accuracy          test/  the same
//   perf/    images_per_second, step_ms, waiting_for_data_ms (of the rank that waits
//            longest); of several ranks rank_N/own_ms; epoch_seconds
//   comm/    of several ranks: bytes_sent (by all, since the record before), exposed_ms
//            (mean of the ranks)
//   mem/     resident_bytes, peak_bytes of the first rank
//   staleness/  with ps_async: mean, max of the updates since the record before
//   clock/   under a virtual clock: virtual_seconds
//
// Times of steps are medians over those since the record before. Beside the scalars come
// the model's graph, the settings as text, and what the HParams page compares.

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "convoy/checkpoint/run_folder.h"
#include "convoy/events/event_writer.h"
#include "convoy/monitor/rank_timings.h"
#include "convoy/network/loss.h"
#include "convoy/network/model.h"
#include "convoy/params/flat_buffer.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// What there is to say of the steps since the record before.
struct StepScalars {
  std::size_t step = 0;
  LossSum loss;  // of the step itself
  double learning_rate = 0;
  double images_per_second = 0;
  double step_ms = 0;
  std::span<const RankTiming> ranks;
  nlohmann::ordered_json more{};  // groups of numbers, by name, or null
};

class EventRecords {
 public:
  /// Writes nothing without a folder, as on all ranks but the first, or if the settings
  /// say so. Throws a storage error when the folder's file cannot be written; so does
  /// every method.
  EventRecords(const RunFolder* folder, const Settings& settings);

  /// Before the first record: what the run is. A run that goes on after `steps_done`
  /// steps continues its curves; what was written of later steps is not shown.
  void begin(const Model& model, std::size_t steps_done = 0);

  void step(const StepScalars& scalars);
  void epoch(std::size_t step, const LossSum& mean, double seconds);
  void evaluation(std::string_view split, std::size_t step, const LossSum& sum);

  /// Histograms of every tensor, if the settings want them after this epoch.
  void tensors(int epoch, std::size_t step, const Layout& layout,
               const FlatBuffer& values, const FlatBuffer& gradients);

  /// All is on disk afterwards. A run that is `over` will not be continued.
  void finish(bool over, bool success);

 private:
  void write_rank_scalars(const StepScalars& scalars);
  void write_more(const StepScalars& scalars);

  Settings settings_;
  std::optional<EventWriter> writer_;
};

}  // namespace convoy
