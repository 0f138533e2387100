// SPDX-License-Identifier: Apache-2.0
//
// The line charts of a page, of one run and of several.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "convoy/pages/page_charts.h"

namespace convoy {

/// Curves of a run by step, those of its ranks by seconds, which worker pushed when, and
/// the histograms of tensors.
void add_run_lines(const nlohmann::ordered_json& run, std::vector<PageChart>& charts);

/// One chart per curve, with one line per run.
void add_lines_of_runs(const nlohmann::ordered_json& runs,
                       std::vector<PageChart>& charts);

/// A field of an object that may be anything; null if it is not there.
const nlohmann::ordered_json& field_of(const nlohmann::ordered_json& object,
                                       const char* name);
/// A list of numbers; what is no number is a gap.
std::vector<double> numbers_of(const nlohmann::ordered_json& list);
/// A field's text, or "".
std::string text_of(const nlohmann::ordered_json& object, const char* name);

}  // namespace convoy
