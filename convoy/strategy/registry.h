// SPDX-License-Identifier: Apache-2.0
//
// The strategies by name. To add one: a row in registry.cpp.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/strategy/fsdp_memory.h"
#include "convoy/strategy/peers.h"
#include "convoy/strategy/replica.h"
#include "convoy/strategy/strategy.h"

namespace convoy {

struct StrategyOptions {
  std::size_t bucket_bytes = 0;  // ddp: gradients exchanged in one operation
  FsdpOptions fsdp{};
};

/// Names of all strategies; those for a single rank come first.
std::vector<std::string> strategy_names();

/// Whether a strategy is for a single rank only.
bool is_for_one_rank(std::string_view name);

/// How a strategy has micro-batches dealt to the ranks.
Deal deal_of(std::string_view name, const StrategyOptions& options);

/// Borrows what replica and peers borrow. Requires: a registered name that supports the
/// number of ranks.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const Replica& replica,
                                        const Peers& peers,
                                        const StrategyOptions& options);

}  // namespace convoy
