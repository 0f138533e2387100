// SPDX-License-Identifier: Apache-2.0

#include "convoy/fit/largest_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/system/memory.h"

namespace convoy {
namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

/// Finds where memory exceeds a limit. Memory grows nearly in proportion to the batch, so
/// the next batch to try is where a line between the two nearest would meet the limit.
class BatchSearch {
 public:
  BatchSearch(MemoryPlanner& planner, const Settings& settings, const JobShape& job,
              std::size_t recompute_units)
      : planner_(planner),
        settings_(settings),
        job_(job),
        recompute_units_(recompute_units) {}

  int largest(std::uint64_t limit, int most);

 private:
  struct Point {
    int batch;
    double bytes;
  };

  Point at(int batch) {
    settings_.train.batch_size = batch;
    return {batch, static_cast<double>(
                       planner_.machine_total(settings_, job_, recompute_units_))};
  }
  static int next(const Point& fits, const Point& does_not, double limit, bool halve);

  MemoryPlanner& planner_;
  Settings settings_;
  JobShape job_;
  std::size_t recompute_units_;
};

int BatchSearch::next(const Point& fits, const Point& does_not, double limit,
                      bool halve) {
  const double part =
      halve ? 0.5 : (limit - fits.bytes) / std::max(1.0, does_not.bytes - fits.bytes);
  const int step = static_cast<int>(std::floor((does_not.batch - fits.batch) * part));
  return std::clamp(fits.batch + step, fits.batch + 1, does_not.batch - 1);
}

int BatchSearch::largest(std::uint64_t limit, int most) {
  const auto bytes = static_cast<double>(limit);
  const int ranks = job_.is_asynchronous() ? 1 : job_.ranks;
  const int least = std::max(ranks, settings_.train.microbatches);
  if (least > most) return 0;
  Point fits = at(least);
  if (fits.bytes > bytes) return 0;
  Point does_not = at(most);
  if (does_not.bytes <= bytes) return most;
  for (int tries = 0; does_not.batch - fits.batch > 1; ++tries) {
    const Point tried = at(next(fits, does_not, bytes, tries % 3 == 2));
    (tried.bytes <= bytes ? fits : does_not) = tried;
  }
  return fits.batch;
}

/// The least number of recomputed units that fits; all if none does.
std::size_t least_recomputed(MemoryPlanner& planner, const Settings& settings,
                             const JobShape& job, std::size_t units,
                             std::uint64_t limit) {
  const auto fits = [&](std::size_t recomputed) {
    return planner.machine_total(settings, job, recomputed) <= limit;
  };
  std::size_t low = 0, high = units;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

int most_samples(const Workload& work) {
  return static_cast<int>(std::min<std::size_t>(work.samples.train.size(), 1 << 30));
}

std::string what_fits(MemoryPlanner& planner, const Settings& settings,
                      const Workload& work, const JobShape& job, std::uint64_t limit) {
  const int plain = largest_batch(planner, settings, job, 0, limit, most_samples(work));
  const int again =
      largest_batch(planner, settings, job, kAllUnits, limit, most_samples(work));
  if (again == 0)
    return "a smaller model, more memory, or strategy=fsdp on several ranks";
  const std::string recomputed =
      fmt::format("train.batch_size={} train.recompute=units", again);
  if (plain == 0) return recomputed + " fits";
  return fmt::format("train.batch_size={} fits, or {}; more train.microbatches need less",
                     plain, recomputed);
}

std::string largest_parts(const MemoryPlan& plan) {
  auto parts = plan.parts();
  std::ranges::stable_sort(parts, std::greater(), [](const auto& p) { return p.second; });
  std::vector<std::string> texts;
  for (const auto& [name, bytes] : parts) {
    if (texts.size() < 3) texts.push_back(fmt::format("{} {}", name, human_bytes(bytes)));
  }
  return join(texts);
}

void refuse_more_than(const MemoryLimit& limit, MemoryPlanner& planner,
                      const Settings& settings, const Workload& work, const JobShape& job,
                      std::size_t recompute_units) {
  const std::vector<MemoryPlan> plans = planner.machine(settings, job, recompute_units);
  std::size_t total = 0;
  for (const MemoryPlan& plan : plans) total += plan.total();
  if (total <= limit.bytes) return;
  const std::string processes =
      plans.size() == 1 ? "" : fmt::format(" for {} processes", plans.size());
  throw InputError(
      InputKind::settings,
      {.where = "memory",
       .found = fmt::format("{} planned{} with train.batch_size={} ({})",
                            human_bytes(total), processes, settings.train.batch_size,
                            largest_parts(plans.front())),
       .expected = fmt::format("at most {}, {}", human_bytes(limit.bytes), limit.source),
       .hint = what_fits(planner, settings, work, job, limit.bytes)});
}

}  // namespace

MemoryLimit memory_limit(const Settings& settings) {
  if (settings.cluster.memory_gib > 0) {
    return {static_cast<std::uint64_t>(settings.cluster.memory_gib * kGibibyte),
            "cluster.memory_gib"};
  }
  const std::uint64_t free = available_memory_bytes();
  const std::uint64_t own = resident_memory_bytes();
  return {free > free + own ? free : free + own, "which is free on this machine"};
}

int largest_batch(MemoryPlanner& planner, const Settings& settings, const JobShape& job,
                  std::size_t recompute_units, std::uint64_t limit, int most) {
  return BatchSearch(planner, settings, job, recompute_units).largest(limit, most);
}

RunMemory plan_run_memory(const Settings& settings, const Workload& work,
                          const JobShape& job, const PlannedProcess& process) {
  MemoryPlanner planner(work);
  RunMemory memory{.plan = {},
                   .recompute_units = recompute_units(settings),
                   .limit = memory_limit(settings)};
  // Ranks that start together see each other's memory as used, so their needs are
  // compared with all memory of the machine instead of what is free.
  const bool is_alone = job.local_ranks == 1 && job.local_servers() == 0;
  if (!is_alone && settings.cluster.memory_gib == 0) {
    memory.limit = {machine_memory_bytes(), "which this machine has"};
  }
  if (settings.train.recompute == RecomputeChoice::auto_) {
    memory.recompute_units = least_recomputed(
        planner, settings, job, work.layout.unit_count(), memory.limit.bytes);
  }
  refuse_more_than(memory.limit, planner, settings, work, job, memory.recompute_units);
  memory.plan = planner.process(settings, job, process, memory.recompute_units);
  return memory;
}

}  // namespace convoy
