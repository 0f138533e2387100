// SPDX-License-Identifier: Apache-2.0
//
// The bars of a page, as charts: where the time of a run went, how stale its updates
// were, and how quick several runs were.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "convoy/pages/page_charts.h"

namespace convoy {

/// "time" and, of an asynchronous run, "staleness-histogram".
void add_run_bars(const nlohmann::ordered_json& run, std::vector<PageChart>& charts);

/// "speed-up", "sent-per-step", "mean-step-time" and "peak-memory" of a comparison.
void add_comparison_bars(const nlohmann::ordered_json& comparison,
                         std::vector<PageChart>& charts);

}  // namespace convoy
