// SPDX-License-Identifier: Apache-2.0
//
// EventRecords: a run's records for TensorBoard.
//
//   train/   loss, accuracy, lr, weight_norm per step; epoch_loss, epoch_accuracy,
//            epoch_weight_norm
//   val/     loss, accuracy          test/  the same
//   perf/    images_per_second, step_ms, waiting_for_data_ms (of the rank that waits
//            longest); with several ranks rank_N/own_ms; epoch_seconds
//   comm/    with several ranks: bytes_sent (by all, since the last record), exposed_ms
//            (mean over ranks)
//   mem/     resident_bytes, peak_bytes of the first rank
//   staleness/  with ps_async: mean, max over the updates since the last record
//   clock/   with a virtual clock: virtual_seconds
//
// With console.style=imagenet also those of PyTorch's ImageNet example: Loss/train,
// Accuracy/train, Loss/Val and Accuracy/Val of single batches, in per cent; their steps
// count the points.
//
// Step times are medians since the last record. Besides the scalars, it writes the
// model's graph, the settings as text, and the values for the HParams page.

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

/// What is reported about the steps since the last record.
struct StepScalars {
  std::size_t step = 0;
  LossSum loss;  // of the step itself
  double learning_rate = 0;
  double images_per_second = 0;
  double step_ms = 0;
  std::optional<double> weight_norm{};  // if known
  std::span<const RankTiming> ranks;
  nlohmann::ordered_json more{};  // groups of numbers, by name; or null
};

class EventRecords {
 public:
  /// Writes nothing without a folder, as on all ranks but the first, or if the settings
  /// disable it. Every method throws a storage error if the file cannot be written.
  EventRecords(const RunFolder* folder, const Settings& settings);

  /// Called before the first record; describes the run. A run that resumes after
  /// `steps_done` steps continues its curves; earlier records of later steps are hidden.
  void begin(const Model& model, std::size_t steps_done = 0);

  void step(const StepScalars& scalars);
  void epoch(std::size_t step, const LossSum& mean, double seconds,
             std::optional<double> weight_norm = std::nullopt);
  void evaluation(std::string_view split, std::size_t step, const LossSum& sum);

  /// A batch that the style imagenet shows; `half` is "train" or "Val".
  void imagenet_point(std::string_view half, std::size_t number, const LossSum& batch);

  void histogram(const std::string& name, std::size_t step,
                 std::span<const float> numbers);

  /// Writes everything to disk. A run that is `over` will not be continued.
  void finish(bool over, bool success);

 private:
  void write_rank_scalars(const StepScalars& scalars);
  void write_more(const StepScalars& scalars);

  Settings settings_;
  std::optional<EventWriter> writer_;
};

}  // namespace convoy
