// SPDX-License-Identifier: Apache-2.0
//
// The histograms of a run's tensors, as a page has them.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace convoy {

/// {"epochs": [1, ...], "tensors": [{"name", "records": [{"least", "most", "counts"} or
/// null, ...]}]} of records of metrics.jsonl: as many of them, evenly chosen, as a page
/// can have. Null without any. What is no histogram is left out.
nlohmann::ordered_json page_histograms(const std::vector<std::string>& lines);

}  // namespace convoy
