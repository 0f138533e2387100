// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/registry.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/strategy/all_reduce.h"
#include "convoy/strategy/ddp.h"
#include "convoy/strategy/fsdp.h"
#include "convoy/strategy/gather_scatter.h"
#include "convoy/strategy/single.h"

namespace convoy {
namespace {

struct Entry {
  std::string_view name;
  bool one_rank;
  std::unique_ptr<Strategy> (*make)(const Replica&, const Peers&, const StrategyOptions&);
};

constexpr Entry kStrategies[] = {
    {"single", true,
     [](const Replica& replica, const Peers&, const StrategyOptions&)
         -> std::unique_ptr<Strategy> { return std::make_unique<Single>(replica); }},
    {"gather_scatter", false,
     [](const Replica& replica, const Peers& peers,
        const StrategyOptions&) -> std::unique_ptr<Strategy> {
       return std::make_unique<GatherScatter>(replica, peers);
     }},
    {"all_reduce", false,
     [](const Replica& replica, const Peers& peers,
        const StrategyOptions&) -> std::unique_ptr<Strategy> {
       return std::make_unique<AllReduce>(replica, peers);
     }},
    {"ddp", false,
     [](const Replica& replica, const Peers& peers,
        const StrategyOptions& options) -> std::unique_ptr<Strategy> {
       return std::make_unique<Ddp>(replica, peers, options.bucket_bytes);
     }},
    {"fsdp", false,
     [](const Replica& replica, const Peers& peers,
        const StrategyOptions& options) -> std::unique_ptr<Strategy> {
       return std::make_unique<Fsdp>(replica, peers, options.fsdp);
     }},
};

const Entry& find(std::string_view name) {
  const auto* entry = std::ranges::find(kStrategies, name, &Entry::name);
  check(entry != std::end(kStrategies), "a strategy's name is registered");
  return *entry;
}

}  // namespace

std::vector<std::string> strategy_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kStrategies) names.emplace_back(entry.name);
  return names;
}

bool is_for_one_rank(std::string_view name) { return find(name).one_rank; }

/// In turn, if gradients are summed in every pass.
Deal deal_of(std::string_view name, const StrategyOptions& options) {
  const bool divides = name == "fsdp" && options.fsdp.shard != FsdpShard::optimizer;
  return divides ? Deal::in_turn : Deal::runs;
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const Replica& replica,
                                        const Peers& peers,
                                        const StrategyOptions& options) {
  const Entry& entry = find(name);
  check(!entry.one_rank || peers.comm.ranks() == 1,
        "the strategy supports this number of ranks");
  return entry.make(replica, peers, options);
}

}  // namespace convoy
