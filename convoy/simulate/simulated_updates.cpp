// SPDX-License-Identifier: Apache-2.0

#include "convoy/simulate/simulated_updates.h"

#include <fmt/format.h>

#include <utility>

#include "convoy/base/error.h"
#include "convoy/simulate/simulated_ranks.h"
#include "convoy/simulate/simulated_server.h"

namespace convoy {
namespace {

/// Refuses what a virtual cluster does not support.
void check_simulation(const TrainingContext& parts) {
  const Settings& settings = parts.settings;
  const auto refuse = [](const char* where, std::string found, std::string hint) {
    throw InputError(InputKind::settings, {.where = where,
                                           .found = std::move(found),
                                           .expected = "what can be simulated",
                                           .hint = std::move(hint)});
  };
  if (!settings.train.resume.empty()) {
    refuse("train.resume", settings.train.resume,
           "a simulated run cannot be resumed; it repeats exactly");
  }
  if (settings.strategy.name != StrategyChoice::ps_async) return;
  if (settings.ps.servers > 1) {
    refuse("ps.servers", fmt::format("{} with ps_async", settings.ps.servers),
           "ps.servers=1, with sim.server_gbps as much faster");
  }
  if (settings.train.swa_start > 0 && parts.rig.statistics().size() > 0) {
    refuse("train.swa_start", "a model with running statistics, with ps_async",
           "train.ema: a server has no images to measure statistics with");
  }
}

}  // namespace

UpdateSourceFactory simulated_updates(int workers) {
  return [workers](const TrainingContext& parts) -> std::unique_ptr<UpdateSource> {
    check_simulation(parts);
    if (parts.settings.strategy.name == StrategyChoice::ps_async) {
      return std::make_unique<SimulatedServer>(parts, workers);
    }
    return std::make_unique<SimulatedRanks>(parts, workers);
  };
}

}  // namespace convoy
