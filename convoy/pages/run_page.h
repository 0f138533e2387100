// SPDX-License-Identifier: Apache-2.0
//
// RunPage: everything that a page shows of one run, as JSON (docs/pages.md).

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "convoy/compare/run_record.h"
#include "convoy/pages/run_curves.h"

namespace convoy {

struct PageOptions {
  std::size_t points = 2000;            // of a curve, at most
  std::optional<StepRange> steps = {};  // these steps only
  bool brief =
      false;  // what several runs are compared by: no curves of ranks, no details
};

/// A run's record and its curves, of one reading of its files.
struct PageRun {
  RunRecord record{};
  RunCurves curves{};
};

/// Throws as read_run_record() does.
PageRun read_page_run(const std::filesystem::path& folder, const PageOptions& options);

/// {"id", "name", "state", "problems", "scores", "progress", "summary", "settings",
/// "places", "series", ...}; the "x" of a series may be the number of another one that
/// has the same. `id` names the run on the page. What the folder does not have is left
/// out, and so is what cannot be read.
nlohmann::ordered_json run_page(const PageRun& run, const std::string& id,
                                const PageOptions& options);

}  // namespace convoy
