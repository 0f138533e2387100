// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/version.h"
#include "convoy/data/dataset.h"
#include "convoy/system/memory.h"
#include "convoy/train/training_parts.h"
#include "convoy/train/whole_units.h"

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

/// Of the validation set; null if there is none.
json best_val_loss_of(const TrainingParts& parts) {
  const std::optional<LeastLoss>& least = parts.policy.least_loss();
  if (!least || parts.monitored_split() != "val") return nullptr;
  return {{"epoch", least->epoch}, {"loss", least->loss}};
}

/// Null if the run has no target.
json target_of(const TrainingParts& parts) {
  const double wanted = parts.settings.train.target_accuracy;
  if (wanted == 0) return nullptr;
  const std::optional<TargetReached>& target = parts.policy.target();
  return {{"accuracy", wanted},
          {"split", parts.monitored_split()},
          {"reached", target.has_value()},
          {"seconds", target ? json(target->seconds) : json(nullptr)},
          {"epoch", target ? json(target->epoch) : json(nullptr)}};
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

json kernels_of_ranks(const std::vector<RankTotals>& ranks) {
  json list = json::array();
  for (const RankTotals& rank : ranks) list.push_back(name_of(rank.kernels));
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

/// Hashes what was trained, unit by unit.
std::string weights_of(TrainingParts& parts) {
  const Layout& layout = parts.work.layout;
  const TrainedNumbers trained = parts.trained_numbers();
  WholeUnits units(layout, trained.numbers, trained.plan,
                   parts.description().sharding.pool, parts.comm);
  Sha256 digest;
  for_each_unit(units, layout, [&](UnitId unit) {
    add_to_digest(layout, unit, trained.numbers, digest);
  });
  add_to_digest(parts.work.statistics_layout, parts.weights().statistics, digest);
  return digest.hex();
}

/// Of this process.
std::uint64_t skipped_files(const DataPair& data) {
  std::uint64_t count = 0;
  for (const Dataset* half : {&data.train, &data.test}) {
    if (half->files && half->files->damaged) count += half->files->damaged->count();
  }
  return count;
}

/// Of all processes. A file that two of them skipped counts twice.
std::uint64_t skipped_of(const std::vector<RankTotals>& ranks) {
  std::uint64_t count = 0;
  for (const RankTotals& rank : ranks) count += rank.skipped_files;
  return count;
}

}  // namespace

RunTimes RunSummary::times(double total_seconds) const {
  const UpdateTelemetry telemetry = parts_.updates->telemetry();
  return {.total = total_seconds,
          .training = training_,
          .waiting_for_data = telemetry.waiting_for_data,
          .communicating = telemetry.exposed,
          .checkpointing = checkpointing_,
          .evaluating = evaluating_};
}

json RunSummary::seconds(const std::vector<RankTotals>& ranks, double total) const {
  return {{"total", total},
          {"training", training_},
          {"evaluating", evaluating_},
          {"checkpointing", checkpointing_},
          {"waiting_for_data", parts_.updates->telemetry().waiting_for_data},
          {"exposed_communication", ranks.front().exposed_seconds}};
}

/// What was planned for the first rank, part by part; null if nothing was.
json planned_memory_of(const TrainingParts& parts) {
  if (!parts.memory) return nullptr;
  json object = {{"bytes", parts.memory->plan.total()},
                 {"limit_bytes", parts.memory->limit.bytes}};
  for (const auto& [name, bytes] : parts.memory->plan.parts()) {
    object["parts"][std::string(name)] = bytes;
  }
  return object;
}

json RunSummary::step_ms() const {
  const StepTimes::Quantiles times = records_.step_times().quantiles();
  return {
      {"mean", times.mean}, {"p50", times.p50}, {"p90", times.p90}, {"max", times.max}};
}

/// By rank: medians per step, and total injected delays.
json RunSummary::rank_ms(const std::vector<RankTotals>& ranks) const {
  const std::vector<RankTiming> timings = records_.pace().whole();
  const std::vector<double> slept =
      slept_of(ranks, parts_.updates->telemetry().slept_by_worker);
  json list = json::array();
  for (std::size_t rank = 0; rank < timings.size(); ++rank) {
    list.push_back({{"own", timings[rank].own},
                    {"waiting_for_data", timings[rank].data},
                    {"exposed_communication", timings[rank].exposed},
                    {"injected_in_all", slept.at(rank) * 1e3}});
  }
  return list;
}

json RunSummary::to_json(const Outcome& outcome, const TrainPosition& end,
                         const std::vector<RankTotals>& ranks,
                         double total_seconds) const {
  const auto images = static_cast<double>(records_.images());
  json object = {
      {"version", version()},
      {"command", ""},
      {"model", parts_.settings.model.name},
      {"parameters", parts_.work.layout.parameter_count()},
      {"trained_parameters", parts_.work.layout.trained_count()},
      {"data", parts_.settings.data.name},
      {"strategy", parts_.description().strategy},
      {"ranks", parts_.description().workers},
      {"threads", parts_.rig.team().threads()},
      {"kernels", kernels_of_ranks(ranks)},
      {"microbatches", parts_.description().microbatches},
      {"lanes", parts_.description().microbatches},  // its former name
      {"batch_size", parts_.settings.train.batch_size},
      {"precision", choice_name(parts_.settings.precision.name)},
      {"epochs", end.epoch},
      {"steps", end.step},
      {"train",
       {{"loss", outcome.train.mean_loss()}, {"accuracy", outcome.train.accuracy()}}},
      {"test", test_of(outcome)},
      {"best_val_loss", best_val_loss_of(parts_)},
      {"target", target_of(parts_)},
      {"seconds", seconds(ranks, total_seconds)},
      {"images_per_second", training_ > 0 ? images / training_ : 0},
      {"step_ms", step_ms()},
      {"communication", communication_of(ranks)},
      {"peak_rss_bytes", peak_rss_bytes_of(ranks)},
      {"planned_memory", planned_memory_of(parts_)},
      {"rank_ms", rank_ms(ranks)},
      {"slowest", slowest_of(records_)},
      {"weights_sha256", ranks.front().weights()},
      {"exit", {{"code", static_cast<int>(outcome.code)}, {"reason", outcome.reason}}}};
  if (parts_.settings.data.corrupt == CorruptChoice::skip) {
    object["skipped_files"] = skipped_of(ranks);
  }
  const json more = parts_.updates->telemetry().summary_fields;
  if (more.is_object()) object.update(more);
  return object;
}

std::vector<RankTotals> agreed_totals(TrainingParts& parts) {
  std::vector<RankTotals> ranks = gather_totals(parts.comm, rank_totals(parts));
  const std::optional<std::size_t> other = rank_with_other_weights(ranks);
  check(!other, fmt::format("rank {} ends at the weights of rank 0", other.value_or(0)));
  return ranks;
}

RankTotals rank_totals(TrainingParts& parts) {
  const UpdateTelemetry telemetry = parts.updates->telemetry();
  Traffic traffic = parts.comm.total_traffic();
  traffic += telemetry.worker_traffic;
  RankTotals own{.bytes_sent = traffic.bytes_sent,
                 .bytes_received = traffic.bytes_received,
                 .peak_rss_bytes = peak_memory_bytes(),
                 .skipped_files = skipped_files(parts.work.data),
                 .exposed_seconds = telemetry.exposed,
                 .slept_seconds = telemetry.slept,
                 .kernels = kernel_set(parts.settings)};
  std::ranges::copy(weights_of(parts), own.weights_sha256.begin());
  return own;
}

}  // namespace convoy
