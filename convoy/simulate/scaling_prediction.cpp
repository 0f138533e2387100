// SPDX-License-Identifier: Apache-2.0

#include "convoy/simulate/scaling_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/base/text.h"
#include "convoy/benchmarks/measured_profile.h"
#include "convoy/comm/reduction_order.h"
#include "convoy/cost_model/cost_profile_file.h"
#include "convoy/cost_model/step_cost.h"
#include "convoy/job/cores.h"
#include "convoy/simulate/costed_job.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

/// The fraction of a link's bandwidth that TCP payload gets: 1448 bytes of a frame of
/// 1514.
constexpr double kPayload = 1448.0 / 1514.0;
constexpr double kBytesOfGigabit = 1e9 / 8;
constexpr std::size_t kLeastSamples = 16;  // a smaller pass takes as long

/// Makes jobs on given numbers of nodes, if the batch is large enough for their ranks.
class Jobs {
 public:
  Jobs(const Settings& settings, bool weak) : settings_(settings), weak_(weak) {}

  int ranks_per_node() const { return std::max(1, settings_.cluster.nproc_per_node); }

  std::size_t ranks(int nodes) const {
    return static_cast<std::size_t>(nodes) * static_cast<std::size_t>(ranks_per_node());
  }

  std::size_t batch(int nodes) const {
    return static_cast<std::size_t>(settings_.train.batch_size) *
           static_cast<std::size_t>(weak_ ? nodes : 1);
  }

  std::size_t microbatches(int nodes) const {
    const auto given = static_cast<std::size_t>(settings_.train.microbatches);
    return given == 0 ? ranks(nodes)
                      : given * (weak_ ? static_cast<std::size_t>(nodes) : 1);
  }

  bool fits(int nodes) const {
    return ranks(nodes) <= microbatches(nodes) && microbatches(nodes) <= batch(nodes);
  }

  std::size_t samples(int nodes) const {
    return (batch(nodes) + microbatches(nodes) - 1) / microbatches(nodes);
  }

  /// If the job does not fit, only the fields that ps_async needs are set.
  CostedJob of(int nodes) const {
    const int ranks = cluster(nodes).ranks();
    const ReductionOrder order(
        fits(nodes) ? microbatches(nodes) : static_cast<std::size_t>(ranks), ranks);
    return costed_job(settings_, cluster(nodes), order, fits(nodes) ? samples(nodes) : 1);
  }

 private:
  Cluster cluster(int nodes) const {
    const SimSettings& sim = settings_.sim;
    const double server = sim.server_gbps > 0 ? sim.server_gbps : sim.bandwidth_gbps;
    return {.machines = nodes,
            .ranks_per_machine = ranks_per_node(),
            .latency = sim.latency_us * 1e-6,
            .bandwidth = sim.bandwidth_gbps * kBytesOfGigabit * kPayload,
            .server_bandwidth = server * kBytesOfGigabit * kPayload};
  }

  const Settings& settings_;
  bool weak_;
};

/// Batch sizes of passes to measure: the largest, the smallest, and halvings between
/// them.
std::vector<std::size_t> sizes_of_passes(const Jobs& jobs,
                                         const std::vector<int>& nodes) {
  const std::size_t largest = jobs.batch(1);
  std::size_t smallest = largest;
  for (const int count : nodes) {
    if (jobs.fits(count)) smallest = std::min(smallest, jobs.samples(count));
  }
  smallest = std::min(std::max(smallest, kLeastSamples), largest);
  std::set<std::size_t> sizes = {smallest, largest};
  for (std::size_t size = largest / 2; size > smallest; size /= 2) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

std::string ranks_text(int ranks, int threads) {
  return fmt::format("{} rank{} of {} thread{}", ranks, ranks == 1 ? "" : "s", threads,
                     threads == 1 ? "" : "s");
}

/// Refuses a profile of something else.
void check_profile(const CostProfile& profile, const Settings& settings,
                   const MeasuredProfileOptions& wanted, const std::string& path) {
  const bool same = profile.model == settings.model.name &&
                    profile.ranks == wanted.ranks && profile.threads == wanted.threads &&
                    profile.passes.front().samples <= wanted.samples.front() &&
                    profile.passes.back().samples >= wanted.samples.back();
  if (same) return;
  const auto describe = [](const std::string& model, const std::string& ranks,
                           std::size_t least, std::size_t most) {
    return fmt::format("{}, {}, passes of {} to {} samples", model, ranks, least, most);
  };
  throw InputError(
      InputKind::settings,
      {.where = "--profile " + path,
       .found = describe(profile.model, ranks_text(profile.ranks, profile.threads),
                         profile.passes.front().samples, profile.passes.back().samples),
       .expected = describe(settings.model.name, ranks_text(wanted.ranks, wanted.threads),
                            wanted.samples.front(), wanted.samples.back()),
       .hint = "name another file, or remove this one to have it measured anew"});
}

CostProfile profile_for(const Settings& settings, const PredictOptions& options,
                        const Jobs& jobs) {
  const Cores cores = usable_cores();
  MeasuredProfileOptions wanted{
      .ranks = options.at_once > 0 ? options.at_once : jobs.ranks_per_node(),
      .threads = settings.cluster.threads,
      .cores = static_cast<int>(cores.size()),
      .samples = sizes_of_passes(jobs, options.nodes),
      .seconds = options.seconds};
  if (wanted.threads == 0) wanted.threads = threads_of(0, wanted.ranks, cores);
  if (settings.cluster.pin) {
    wanted.on_begin = [cores](int rank, int ranks) {
      pin_to(cores_of(rank, ranks, cores));
    };
  }
  if (!options.profile.empty() && std::filesystem::exists(options.profile)) {
    CostProfile profile = read_profile(options.profile);
    check_profile(profile, settings, wanted, options.profile);
    return profile;
  }
  CostProfile profile = measure_profile(settings, wanted);
  if (!options.profile.empty()) write_profile(profile, options.profile);
  return profile;
}

struct Row {
  std::string strategy;
  int nodes, ranks;
  std::size_t batch;  // samples per update
  StepCost cost;
  double images_per_second;
};

std::vector<Row> predicted_rows(const CostProfile& profile, const Jobs& jobs,
                                const std::vector<int>& nodes) {
  std::vector<Row> rows;
  for (const std::string& strategy : costed_strategies()) {
    const bool async = strategy == "ps_async", single = strategy == "single";
    for (const int count : single ? std::vector<int>{1} : nodes) {
      if (!async && !single && !jobs.fits(count)) continue;
      const CostedJob job = jobs.of(count);
      const StepCost cost = step_cost(strategy, profile, job);
      const std::size_t batch = async || single ? jobs.batch(1) : jobs.batch(count);
      rows.push_back({strategy, count, single ? 1 : job.cluster.ranks(), batch, cost,
                      static_cast<double>(batch) * cost.updates / cost.step});
    }
  }
  return rows;
}

json rows_json(const CostProfile& profile, const std::vector<Row>& rows) {
  json list = json::array();
  const double single = rows.front().images_per_second;
  for (const Row& row : rows) {
    list.push_back({{"strategy", row.strategy},
                    {"prediction_only", !can_run(row.strategy)},
                    {"nodes", row.nodes},
                    {"ranks", row.ranks},
                    {"batch_size", row.batch},
                    {"step_ms", row.cost.step * 1e3},
                    {"compute_ms", row.cost.compute * 1e3},
                    {"exposed_ms", row.cost.exposed * 1e3},
                    {"updates_a_step", row.cost.updates},
                    {"images_per_second", row.images_per_second},
                    {"speed_up", row.images_per_second / single},
                    {"efficiency", row.images_per_second / single / row.ranks},
                    {"bytes_sent", row.cost.sent},
                    {"link_bytes", row.cost.link_bytes}});
  }
  return {{"model", profile.model},
          {"ranks_per_node", profile.ranks},
          {"threads", profile.threads},
          {"parameter_bytes", gradient_bytes(profile)},
          {"rows", list}};
}

/// Strategies that convoy does not implement are marked with a star.
std::string row_text(const Row& row, double single) {
  const double speed_up = row.images_per_second / single;
  return fmt::format(
      "{:<16} {:>6} {:>6} {:>8} {:>11.3f} {:>11} {:>9.2f} {:>6.1f} % {:>6.1f} % "
      "{:>9.2f} {:>9.2f}\n",
      row.strategy + (can_run(row.strategy) ? "" : "*"), row.nodes, row.ranks,
      with_commas(row.batch), row.cost.step * 1e3,
      with_commas(static_cast<std::uint64_t>(row.images_per_second)), speed_up,
      100 * speed_up / row.ranks, 100 * std::max(0.0, row.cost.exposed) / row.cost.step,
      static_cast<double>(row.cost.sent) * 1e-6,
      static_cast<double>(row.cost.link_bytes) * 1e-6);
}

std::string table_text(const Settings& settings, const CostProfile& profile,
                       const Jobs& jobs, const PredictOptions& options,
                       const std::vector<Row>& rows) {
  std::string text = fmt::format(
      "{}, {:.1f} MB of gradients; measured with {}; links of {} Gbit/s, {} us\n",
      profile.model, static_cast<double>(gradient_bytes(profile)) * 1e-6,
      ranks_text(profile.ranks, profile.threads), settings.sim.bandwidth_gbps,
      settings.sim.latency_us);
  text += fmt::format(
      "{:<16} {:>6} {:>6} {:>8} {:>11} {:>11} {:>9} {:>8} {:>8} {:>9} {:>9}\n",
      "strategy", "nodes", "ranks", "batch", "step ms", "images/s", "speed-up",
      "efficient", "exposed", "MB sent", "MB link");
  for (const Row& row : rows) {
    text += row_text(row, rows.front().images_per_second);
  }
  text += "* a prediction only: convoy has no such strategy, or not by that algorithm\n";
  for (const int nodes : options.nodes) {
    if (jobs.fits(nodes)) continue;
    text += fmt::format(
        "{} nodes and more: fewer micro-batches than ranks, or samples than "
        "micro-batches; "
        "a larger train.batch_size or --weak\n",
        nodes);
    break;
  }
  return text;
}

}  // namespace

std::string predict(const Settings& settings, const PredictOptions& options) {
  const Jobs jobs(settings, options.weak);
  const CostProfile profile = profile_for(settings, options, jobs);
  const std::vector<Row> rows = predicted_rows(profile, jobs, options.nodes);
  return options.as_json ? json_text(rows_json(profile, rows)) + "\n"
                         : table_text(settings, profile, jobs, options, rows);
}

}  // namespace convoy
