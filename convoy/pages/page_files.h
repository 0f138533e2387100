// SPDX-License-Identifier: Apache-2.0
//
// The JSON files of a run's or a study's folder, as far as a page shows them. They are
// foreign: fields may be missing or of any type, and whoever uses them has to check.

#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace convoy {

/// A file's object; null if it is not there, cannot be read, or is larger than a page can
/// show.
nlohmann::ordered_json page_file(const std::filesystem::path& path);

/// eval.json without the matrix of more classes than can be shown.
nlohmann::ordered_json page_evaluation(const std::filesystem::path& folder);

/// landscape.json, as far as it is drawn.
nlohmann::ordered_json page_landscape(const std::filesystem::path& folder);

/// sweep.json without the places of its runs.
nlohmann::ordered_json page_sweep(const std::filesystem::path& folder);

}  // namespace convoy
