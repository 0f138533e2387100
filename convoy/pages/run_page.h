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

/// {"id", "name", "state", "problems", "scores", "progress", "summary", "settings",
/// "places", "series", ...}; the "x" of a series may be the number of another one that
/// has the same. `id` names the run on the page. What the folder does not have is left
/// out, and so is what cannot be read.
nlohmann::ordered_json run_page(const RunRecord& run, const std::string& id,
                                const PageOptions& options);

/// The same as text: run_page() with the run's name as id.
std::string run_page_json(const RunRecord& run, const PageOptions& options);

/// JSON as text. Bytes that are not UTF-8, which names of files may have, are replaced.
std::string page_text(const nlohmann::ordered_json& json);

}  // namespace convoy
