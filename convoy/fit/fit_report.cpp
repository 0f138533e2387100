// SPDX-License-Identifier: Apache-2.0

#include "convoy/fit/fit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/text.h"
#include "convoy/report/text_table.h"
#include "convoy/system/cpu.h"

namespace convoy {
namespace {

constexpr std::size_t kTableWidth = 100;

bool is_served_by(const std::string& strategy) { return strategy.starts_with("ps_"); }

JobShape shape_of(const Settings& settings, const std::string& strategy, int ranks) {
  const int nodes = std::max(1, settings.cluster.nnodes);
  return {.strategy = strategy,
          .ranks = ranks,
          .servers = is_served_by(strategy) ? settings.ps.servers : 0,
          .local_ranks = (ranks + nodes - 1) / nodes};
}

/// Each rank has its share of the cores.
Settings settings_of(const Settings& settings, const JobShape& job) {
  Settings own = settings;
  if (own.cluster.threads > 0) return own;
  own.cluster.threads = std::max(1, cpu_info().cores / job.local_ranks);
  return own;
}

bool supports(const std::string& strategy, int ranks) {
  return is_served_by(strategy) || (strategy == "single") == (ranks == 1);
}

FitRow row_of(MemoryPlanner& planner, const Settings& settings, const JobShape& job,
              bool recompute, const FitReport& report) {
  const std::size_t units = recompute ? kAllUnits : 0;
  Settings own = settings_of(settings, job);
  FitRow row{.precision = settings.precision.name,
             .ranks = job.ranks,
             .strategy = job.strategy,
             .recompute = recompute};
  row.batch = largest_batch(planner, own, job, units, report.limit.bytes, report.most);
  if (row.batch == 0) return row;
  own.train.batch_size = row.batch;
  for (const MemoryPlan& plan : planner.machine(own, job, units)) {
    row.rank_bytes = std::max(row.rank_bytes, plan.total());
    row.machine_bytes += plan.total();
  }
  return row;
}

/// Of every strategy for so many ranks.
void add_rows(MemoryPlanner& planner, const Settings& settings, int ranks,
              FitReport& report) {
  for (const std::string& strategy : planned_strategies()) {
    if (!supports(strategy, ranks)) continue;
    for (const bool recompute : {false, true}) {
      report.rows.push_back(row_of(planner, settings, shape_of(settings, strategy, ranks),
                                   recompute, report));
    }
  }
}

std::string batch_text(const FitRow& row, int most) {
  if (row.batch == 0) return "none";
  const std::string batch = with_commas(static_cast<std::uint64_t>(row.batch));
  return row.batch == most ? batch + " (all)" : batch;
}

}  // namespace

FitReport fit_batches(const Settings& settings, const Workload& work,
                      const std::vector<int>& ranks, const MemoryLimit& limit) {
  FitReport report{.model = settings.model.name,
                   .data = settings.data.name,
                   .optimizer = choice_name(settings.optimizer.name),
                   .limit = limit,
                   .most = static_cast<int>(work.samples.train.size()),
                   .rows = {}};
  MemoryPlanner planner(work);
  for (const PrecisionChoice precision :
       {PrecisionChoice::fp32, PrecisionChoice::amp_o2, PrecisionChoice::bf16}) {
    Settings own = settings;
    own.precision.name = precision;
    // Some kernels are for one precision; memory does not depend on them.
    if (precision != settings.precision.name) own.network.kernels = KernelsChoice::auto_;
    if (precision != PrecisionChoice::fp32) own.ddp.compress = CompressChoice::none;
    for (const int count : ranks) add_rows(planner, own, count, report);
  }
  return report;
}

std::string fit_text(const FitReport& report) {
  std::vector<TextColumn> table = {{.head = "precision", .cells = {}, .left = true},
                                   {.head = "ranks", .cells = {}},
                                   {.head = "strategy", .cells = {}, .left = true},
                                   {.head = "recompute", .cells = {}, .left = true},
                                   {.head = "largest batch", .cells = {}},
                                   {.head = "per rank", .cells = {}},
                                   {.head = "per machine", .cells = {}}};
  for (const FitRow& row : report.rows) {
    table[0].cells.push_back(choice_name(row.precision));
    table[1].cells.push_back(std::to_string(row.ranks));
    table[2].cells.push_back(row.strategy);
    table[3].cells.emplace_back(row.recompute ? "units" : "none");
    table[4].cells.push_back(batch_text(row, report.most));
    table[5].cells.push_back(row.batch == 0 ? "" : human_bytes(row.rank_bytes));
    table[6].cells.push_back(row.batch == 0 ? "" : human_bytes(row.machine_bytes));
  }
  return fmt::format(
      "{} on {} with {}: largest train.batch_size within {} per machine, {}\n\n{}",
      report.model, report.data, report.optimizer, human_bytes(report.limit.bytes),
      report.limit.source, text_table(table, kTableWidth));
}

nlohmann::ordered_json fit_json(const FitReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const FitRow& row : report.rows) {
    rows.push_back({{"precision", choice_name(row.precision)},
                    {"ranks", row.ranks},
                    {"strategy", row.strategy},
                    {"recompute", row.recompute ? "units" : "none"},
                    {"batch_size", row.batch},
                    {"rank_bytes", row.rank_bytes},
                    {"machine_bytes", row.machine_bytes}});
  }
  return {{"model", report.model},
          {"data", report.data},
          {"optimizer", report.optimizer},
          {"limit_bytes", report.limit.bytes},
          {"limit", report.limit.source},
          {"samples", report.most},
          {"rows", rows}};
}

}  // namespace convoy
