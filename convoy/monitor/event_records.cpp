// SPDX-License-Identifier: Apache-2.0

#include "convoy/monitor/event_records.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/monitor/model_graph.h"
#include "convoy/monitor/run_hparams.h"
#include "convoy/system/memory.h"

namespace convoy {

EventRecords::EventRecords(const RunFolder* folder, const Settings& settings)
    : settings_(settings) {
  if (folder != nullptr && settings.run.tensorboard) writer_.emplace(folder->path());
}

void EventRecords::begin(const Model& model, std::size_t steps_done) {
  if (!writer_) return;
  if (steps_done > 0 || !writer_->is_first()) {
    writer_->start_again(steps_done > 0 ? steps_done + 1 : 0);
  }
  writer_->text("settings", fmt::format("```\n{}\n```", to_yaml(settings_)));
  const std::string metrics[] = {"test/accuracy", "test/loss"};
  writer_->start_session(run_hparams(settings_), metrics);
  if (writer_->is_first()) writer_->graph(model_graph(model));
  writer_->flush();
}

void EventRecords::step(const StepScalars& scalars) {
  if (!writer_) return;
  const auto write = [&](std::string_view tag, double value) {
    writer_->scalar(tag, scalars.step, value);
  };
  write("train/loss", scalars.loss.mean_loss());
  write("train/accuracy", scalars.loss.accuracy());
  write("train/lr", scalars.learning_rate);
  if (scalars.weight_norm) write("train/weight_norm", *scalars.weight_norm);
  write("perf/images_per_second", scalars.images_per_second);
  write("perf/step_ms", scalars.step_ms);
  write("perf/waiting_for_data_ms",
        std::ranges::max(scalars.ranks, {}, &RankTiming::data).data);
  write("mem/resident_bytes", static_cast<double>(resident_memory_bytes()));
  write("mem/peak_bytes", static_cast<double>(peak_memory_bytes()));
  if (scalars.ranks.size() > 1) write_rank_scalars(scalars);
  write_more(scalars);
}

void EventRecords::imagenet_point(std::string_view half, std::size_t number,
                                  const LossSum& batch) {
  if (!writer_) return;
  writer_->scalar(fmt::format("Loss/{}", half), number, batch.mean_loss());
  writer_->scalar(fmt::format("Accuracy/{}", half), number, 100 * batch.accuracy());
}

void EventRecords::write_more(const StepScalars& scalars) {
  for (const auto& [group, numbers] : scalars.more.items()) {
    if (numbers.is_number()) {
      writer_->scalar("clock/" + group, scalars.step, numbers.get<double>());
      continue;
    }
    for (const auto& [name, value] : numbers.items()) {
      if (!value.is_number()) continue;
      writer_->scalar(group + "/" + name, scalars.step, value.get<double>());
    }
  }
}

void EventRecords::write_rank_scalars(const StepScalars& scalars) {
  double bytes_sent = 0, exposed_ms = 0;
  for (std::size_t rank = 0; rank < scalars.ranks.size(); ++rank) {
    const RankTiming& pace = scalars.ranks[rank];
    writer_->scalar(fmt::format("perf/rank_{}/own_ms", rank), scalars.step, pace.own);
    bytes_sent += static_cast<double>(pace.bytes_sent);
    exposed_ms += pace.exposed / static_cast<double>(scalars.ranks.size());
  }
  writer_->scalar("comm/bytes_sent", scalars.step, bytes_sent);
  writer_->scalar("comm/exposed_ms", scalars.step, exposed_ms);
}

void EventRecords::epoch(std::size_t step, const LossSum& mean, double seconds,
                         std::optional<double> weight_norm) {
  if (!writer_) return;
  writer_->scalar("train/epoch_loss", step, mean.mean_loss());
  writer_->scalar("train/epoch_accuracy", step, mean.accuracy());
  writer_->scalar("perf/epoch_seconds", step, seconds);
  if (weight_norm) writer_->scalar("train/epoch_weight_norm", step, *weight_norm);
}

void EventRecords::evaluation(std::string_view split, std::size_t step,
                              const LossSum& sum) {
  if (!writer_) return;
  writer_->scalar(fmt::format("{}/loss", split), step, sum.mean_loss());
  writer_->scalar(fmt::format("{}/accuracy", split), step, sum.accuracy());
}

void EventRecords::histogram(const std::string& name, std::size_t step,
                             std::span<const float> numbers) {
  if (writer_) writer_->histogram(name, step, numbers);
}

void EventRecords::finish(bool over, bool success) {
  if (!writer_) return;
  if (over) writer_->end_session(success);
  writer_->flush();
}

}  // namespace convoy
