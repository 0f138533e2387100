// SPDX-License-Identifier: Apache-2.0
//
// What a trainer says of itself: its plan beforehand, its summary afterwards.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "convoy/base/text.h"
#include "convoy/base/version.h"
#include "convoy/train/trainer.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

json test_of(const Outcome& outcome) {
  if (!outcome.test) return nullptr;
  const LossSum& sum = outcome.test->sum;
  return {{"loss", sum.mean_loss()},
          {"accuracy", sum.accuracy()},
          {"correct", sum.correct},
          {"total", sum.samples}};
}

json communication_of(const std::vector<RankTotals>& ranks) {
  json list = json::array();
  for (const RankTotals& rank : ranks) {
    list.push_back(
        {{"bytes_sent", rank.bytes_sent}, {"bytes_received", rank.bytes_received}});
  }
  return list;
}

json peak_rss_bytes_of(const std::vector<RankTotals>& ranks) {
  json list = json::array();
  for (const RankTotals& rank : ranks) list.push_back(rank.peak_rss_bytes);
  return list;
}

json slowest_of(const Records& records) {
  const std::optional<Straggler> straggler = find_straggler(records.pace().whole());
  return straggler ? json(describe(*straggler)) : json(nullptr);
}

/// Seconds by rank, or by worker.
std::vector<double> slept_of(const std::vector<RankTotals>& totals,
                             const std::vector<double>& by_worker) {
  if (!by_worker.empty()) return by_worker;
  std::vector<double> slept;
  for (const RankTotals& rank : totals) slept.push_back(rank.slept_seconds);
  return slept;
}

/// By rank: medians of a step, and what was slept in all.
json rank_ms_of(const std::vector<RankTiming>& paces, const std::vector<double>& slept) {
  json list = json::array();
  for (std::size_t rank = 0; rank < paces.size(); ++rank) {
    list.push_back({{"own", paces[rank].own},
                    {"waiting_for_data", paces[rank].data},
                    {"exposed_communication", paces[rank].exposed},
                    {"injected_in_all", slept.at(rank) * 1e3}});
  }
  return list;
}

}  // namespace

std::string Trainer::plan() const {
  const std::size_t buffer = work_.layout.size() * sizeof(float);
  const std::size_t remembered =
      (optimizer_->slots().size() + updates_->slots().size()) * buffer +
      (averages_ ? averages_->bytes() : 0);
  const UpdateMemory memory = updates_->description().memory;
  std::string text;
  text +=
      fmt::format("model     {} for {} x {} x {} images, {} classes, {} parameters\n",
                  work_.model.name, work_.model.input.channels, work_.model.input.height,
                  work_.model.input.width, class_count(work_.model),
                  with_commas(work_.layout.parameter_count()));
  if (initial_) {
    text += fmt::format("init      {}: {}\n", settings_.model.init, initial_->summary());
  }
  if (restored_) {
    text += fmt::format("resume    {}: step {}, epoch {}, {} of {} samples in\n",
                        settings_.train.resume, with_commas(restored_->step),
                        restored_->epoch, with_commas(restored_->samples),
                        with_commas(updates_->description().samples_per_epoch));
  }
  text += fmt::format("data      {}: {} training, {} validation, {} test samples\n",
                      settings_.data.name, with_commas(work_.samples.train.size()),
                      with_commas(work_.samples.validation.size()),
                      with_commas(work_.data.test.size()));
  text += updates_->description().plan;
  text += fmt::format("steps     {} an epoch, {} in all\n",
                      with_commas(updates_->description().steps_per_epoch),
                      with_commas(steps_planned()));
  text += fmt::format("schedule  {}, learning rate {:.4g} at first, {:.4g} at last\n",
                      settings_.schedule.name, schedule_.at(0).rate,
                      schedule_.at(steps_planned() - 1).rate);
  text += fmt::format(
      "memory    values {}, gradients {}, optimizer {},\n"
      "          activations {}, evaluation {}, data {}\n",
      human_bytes(buffer), human_bytes(memory.gradients), human_bytes(remembered),
      human_bytes(memory.activations), human_bytes(evaluator_.bytes()),
      human_bytes(work_.data.train.images.size() + work_.data.test.images.size()));
  return text;
}

RunTimes Trainer::times(double total_seconds) const {
  return {.total = total_seconds,
          .training = seconds_.training,
          .waiting_for_data = updates_->telemetry().waiting_for_data,
          .communicating = updates_->telemetry().exposed,
          .checkpointing = seconds_.checkpointing,
          .evaluating = seconds_.evaluating};
}

nlohmann::ordered_json Trainer::summary(const Outcome& outcome, const Records& records,
                                        const std::vector<RankTotals>& ranks,
                                        double total_seconds) const {
  const StepTimes::Quantiles times = records.step_times().quantiles();
  const auto images = static_cast<double>(records.images());
  const double rate = seconds_.training > 0 ? images / seconds_.training : 0;
  nlohmann::ordered_json json = {
      {"version", version()},
      {"command", ""},
      {"model", settings_.model.name},
      {"parameters", work_.layout.parameter_count()},
      {"data", settings_.data.name},
      {"strategy", updates_->description().strategy},
      {"ranks", updates_->description().workers},
      {"threads", team_.threads()},
      {"lanes", updates_->description().microbatches},
      {"batch_size", settings_.train.batch_size},
      {"epochs", records.epoch()},
      {"steps", records.steps()},
      {"train",
       {{"loss", outcome.train.mean_loss()}, {"accuracy", outcome.train.accuracy()}}},
      {"test", test_of(outcome)},
      {"seconds",
       {{"total", total_seconds},
        {"training", seconds_.training},
        {"evaluating", seconds_.evaluating},
        {"checkpointing", seconds_.checkpointing},
        {"waiting_for_data", updates_->telemetry().waiting_for_data},
        {"exposed_communication", ranks.front().exposed_seconds}}},
      {"images_per_second", rate},
      {"step_ms",
       {{"mean", times.mean},
        {"p50", times.p50},
        {"p90", times.p90},
        {"max", times.max}}},
      {"communication", communication_of(ranks)},
      {"peak_rss_bytes", peak_rss_bytes_of(ranks)},
      {"rank_ms", rank_ms_of(records.pace().whole(),
                             slept_of(ranks, updates_->telemetry().slept_by_worker))},
      {"slowest", slowest_of(records)},
      {"weights_sha256", ranks.front().weights()},
      {"exit", {{"code", static_cast<int>(outcome.code)}, {"reason", outcome.reason}}}};
  const nlohmann::ordered_json more = updates_->telemetry().summary_fields;
  if (more.is_object()) json.update(more);
  return json;
}

}  // namespace convoy
