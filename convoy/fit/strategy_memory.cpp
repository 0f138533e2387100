// SPDX-License-Identifier: Apache-2.0

#include "convoy/fit/strategy_memory.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/comm/reduction_order.h"
#include "convoy/comm/shared_segment.h"
#include "convoy/network/microbatches.h"
#include "convoy/params/reduction_tree.h"
#include "convoy/setup/precision.h"
#include "convoy/setup/workload.h"
#include "convoy/strategy/fsdp_memory.h"

namespace convoy {
namespace {

/// What Gloo's all-reduce receives ahead, of other ranks' partial sums.
constexpr std::size_t kGlooStaging = std::size_t{3} << 20;

std::size_t bytes_of(std::size_t floats) { return floats * sizeof(float); }

bool has_averages(const Settings& settings) {
  return settings.train.ema > 0 || settings.train.swa_start > 0;
}

/// What a checkpoint has of each number, in buffers as large as the layout.
std::size_t saved_buffers(const Settings& settings) {
  return 1 + optimizer_slots(settings) + (has_averages(settings) ? 1 : 0);
}

std::size_t largest_unit(const Layout& layout) {
  std::size_t largest = 0;
  for (std::size_t unit = 0; unit < layout.unit_count(); ++unit) {
    largest = std::max(largest, layout.unit(UnitId{unit}).size());
  }
  return largest;
}

bool exchanges_16_bits(const Settings& settings) {
  return gradient_dtype(settings) != Dtype::fp32;
}

/// What is exchanged at once: a unit, or a bucket, which ends with the segment that fills
/// it.
std::size_t largest_exchange(const StrategyCase& of) {
  const Layout& layout = of.model.layout;
  if (of.job.strategy != "ddp") return largest_unit(layout);
  const double bucket = of.settings.ddp.bucket_mb * 1e6 / sizeof(float);
  return std::min(layout.trained_size(),
                  largest_unit(layout) + static_cast<std::size_t>(bucket));
}

/// Between machines, partial sums and the sum of a bucket, as they are sent.
std::size_t narrow_copies(const StrategyCase& of) {
  if (!exchanges_16_bits(of.settings)) return 0;
  return (whole_subtrees(of.part).size() + 1) * largest_exchange(of) *
         bytes_of(gradient_dtype(of.settings));
}

/// The slots that one rank writes and reads, of the memory that ranks share.
std::size_t transport_bytes(const StrategyCase& of) {
  const JobShape& job = of.job;
  if (job.ranks == 1) return 0;
  if (!job.one_machine()) return kGlooStaging + narrow_copies(of);
  return 2 * static_cast<std::size_t>(job.ranks - 1) * SharedSegment::kSlots *
         SharedSegment::slot_bytes_of(job.ranks);
}

/// Every rank has everything; the first one copies it to write checkpoints.
StrategyMemory replicated(const StrategyCase& of) {
  const Layout& layout = of.model.layout;
  const std::size_t whole = bytes_of(layout.size());
  const std::size_t trained = bytes_of(layout.trained_size());
  const bool saves = of.settings.checkpoint.enabled && of.process.number == 0;
  return {.values = whole,
          .gradients = Microbatches::gradient_buffers(of.part) * trained,
          .optimizer = optimizer_slots(of.settings) * trained,
          .averages = has_averages(of.settings) ? whole : 0,
          .exchange = transport_bytes(of),
          .checkpoint = saves ? saved_buffers(of.settings) * whole : 0};
}

std::size_t largest_segment(const Layout& layout) {
  std::size_t largest = 0;
  for (const Segment& segment : layout.segments()) {
    if (segment.trained) largest = std::max(largest, segment.range.size());
  }
  return largest;
}

/// The first rank gathers all partial sums of one tensor after the other.
StrategyMemory gathered(const StrategyCase& of) {
  StrategyMemory memory = replicated(of);
  const ReductionOrder order(of.part.microbatches, of.job.ranks);
  const std::size_t own = order.partials_of(of.process.number).size();
  const bool is_narrow = exchanges_16_bits(of.settings);
  const std::size_t of_all = (is_narrow ? 2 : 1) * order.partials();
  const std::size_t at_once =
      (own > 1 || is_narrow ? own : 0) + (of.process.number == 0 ? of_all : 0);
  memory.exchange += at_once * bytes_of(largest_segment(of.model.layout));
  return memory;
}

/// What a worker of 16 bits packs before it pushes, and receives before it unpacks.
std::size_t packed_by_worker(const StrategyCase& of, std::size_t partials) {
  const Layout& layout = of.model.layout;
  const Dtype pushed = gradient_dtype(of.settings), values = value_dtype(of.settings);
  const std::size_t trained = partials * layout.trained_size();
  return (pushed == Dtype::fp32 ? 0 : trained * bytes_of(pushed)) /
             static_cast<std::size_t>(of.job.servers) +
         (values == Dtype::fp32 ? 0 : layout.size() * bytes_of(values));
}

/// What a worker pushes and pulls, in memory that it shares with its server or, from
/// another machine, in the server's own.
std::size_t exchanged_bytes(const StrategyCase& of, std::size_t partials) {
  const Layout& layout = of.model.layout;
  return partials * layout.trained_size() * bytes_of(gradient_dtype(of.settings)) +
         stored_types(of.settings, layout).bytes({0, layout.size()});
}

std::size_t partials_of_worker(const StrategyCase& of, int worker) {
  if (of.job.is_asynchronous()) return 1;
  const ReductionOrder order(of.part.microbatches, of.job.ranks);
  return order.partials_of(worker).size();
}

StrategyMemory served(const StrategyCase& of) {
  const Layout& layout = of.model.layout;
  const std::size_t whole = bytes_of(layout.size());
  const std::size_t trained = bytes_of(layout.trained_size());
  if (of.process.kind == ProcessKind::worker) {
    const std::size_t partials = partials_of_worker(of, of.process.number);
    return {.values = whole,
            .gradients = Microbatches::gradient_buffers(of.part) * trained,
            .exchange = (of.job.one_machine() ? exchanged_bytes(of, partials) : 0) +
                        packed_by_worker(of, partials)};
  }
  const auto servers = static_cast<std::size_t>(of.job.servers);
  StrategyMemory memory = replicated(of);
  memory.gradients = trained / servers;
  // All have all masters until the first update, and to evaluate.
  const bool has_masters = value_dtype(of.settings) != Dtype::fp32;
  memory.optimizer /= servers;
  if (has_masters) memory.optimizer += trained - trained / servers;
  memory.exchange = 0;
  for (int worker = 0; worker < of.job.ranks; ++worker) {
    // The first answer is copied before it is known whether the worker shares memory.
    const std::size_t partials = partials_of_worker(of, worker);
    const std::size_t widened = exchanges_16_bits(of.settings) ? partials * trained : 0;
    memory.exchange += (exchanged_bytes(of, partials) + whole + widened) / servers;
  }
  const bool compensates = of.settings.ps.compensation != Compensation::none;
  if (compensates)
    memory.exchange += static_cast<std::size_t>(of.job.ranks) * whole / servers;
  return memory;
}

/// Two units at a time are gathered in 16 bits.
std::size_t packed_bytes(const StrategyCase& of) {
  const Dtype values = value_dtype(of.settings);
  if (values == Dtype::fp32) return 0;
  return 2 * largest_unit(of.model.layout) * bytes_of(values);
}

/// Units are gathered while they are computed. One by one while they are saved takes
/// less, unless that is the only time.
StrategyMemory sharded(const StrategyCase& of) {
  if (of.job.ranks == 1) return replicated(of);
  const FsdpOptions options = strategy_options(of.settings).fsdp;
  const FsdpMemory own =
      fsdp_memory(of.model.layout, of.job.ranks, of.part.microbatches, options);
  const bool sums_first = options.shard == FsdpShard::optimizer;
  const bool saves = of.settings.checkpoint.enabled && !of.job.one_machine();
  return {
      .values = own.values + own.gathered,
      .gradients =
          (sums_first ? Microbatches::gradient_buffers(of.part) : 1) * own.gradients +
          own.passing,
      .optimizer = optimizer_slots(of.settings) * own.slot,
      .averages = has_averages(of.settings) ? own.average : 0,
      .exchange = transport_bytes(of) + packed_bytes(of),
      .checkpoint = saves && sums_first ? bytes_of(largest_unit(of.model.layout)) : 0};
}

struct Entry {
  const char* name;
  StrategyMemory (*memory)(const StrategyCase&);
};

constexpr Entry kStrategies[] = {{"single", replicated},     {"ddp", replicated},
                                 {"all_reduce", replicated}, {"gather_scatter", gathered},
                                 {"fsdp", sharded},          {"ps_sync", served},
                                 {"ps_async", served}};

}  // namespace

std::size_t optimizer_slots(const Settings& settings) {
  const std::size_t masters = value_dtype(settings) == Dtype::fp32 ? 0 : 1;
  return (settings.optimizer.name == OptimizerChoice::sgd ? 1 : 2) + masters;
}

std::vector<std::string> planned_strategies() {
  std::vector<std::string> names;
  for (const Entry& entry : kStrategies) names.emplace_back(entry.name);
  return names;
}

StrategyMemory strategy_memory(const StrategyCase& of) {
  const auto* entry = std::ranges::find_if(
      kStrategies, [&](const Entry& one) { return one.name == of.job.strategy; });
  check(entry != std::end(kStrategies), "a strategy's memory can be planned");
  return entry->memory(of);
}

}  // namespace convoy
