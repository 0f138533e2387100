// SPDX-License-Identifier: Apache-2.0
//
// What the list of runs shows of a run.

#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "convoy/compare/run_record.h"

namespace convoy {

/// {"id", "name", "state", "problems", "model", "data", "strategy", "ranks", "epoch",
/// "step", "scores": {"train", "val", "test"}, "training_seconds", "images_per_second",
/// "settings": {those that differ from the defaults}}; null where it is not known.
nlohmann::ordered_json run_entry(const RunRecord& run, const std::string& id);

/// The entry of a run that is listed and not read; `problem` says why.
nlohmann::ordered_json unread_entry(const std::string& id, const std::string& problem);

/// Sizes, times and inodes of the files of a run that a list is made of: if it is the
/// same, so are they.
std::string files_fingerprint(const std::filesystem::path& folder);

/// The first link below a folder that leads out of it, by its path in the folder; nothing
/// if there is none. A folder with too many entries to look at is taken for one that has.
std::optional<std::string> link_out_of(const std::filesystem::path& folder);

/// Whether a folder is a sweep's: it has a sweep.json that is no link.
bool has_own_sweep(const std::filesystem::path& folder);

}  // namespace convoy
