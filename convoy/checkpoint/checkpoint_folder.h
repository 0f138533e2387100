// SPDX-License-Identifier: Apache-2.0
//
// CheckpointFolder: the checkpoints/ folder of a run, with the links `last` and `best`.
//
//   checkpoints/00000100/  00000150/  00000200/
//               last -> 00000200      the newest
//               best -> 00000150      the one with the best evaluation
//
// The newest checkpoint is found by listing the folders, not by the link: a run may be
// killed between writing a checkpoint and updating the link.

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace convoy {

/// Returns all folders with a checkpoint's name and a manifest, newest first; none if
/// there is no folder.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& run);

using OnDamaged = std::function<void(const std::string&)>;

/// Returns the newest complete checkpoint. `on_damaged` is called for each newer one that
/// is damaged, with the reason.
std::optional<std::filesystem::path> newest_complete_checkpoint(
    const std::filesystem::path& run, const OnDamaged& on_damaged);

/// Atomically points the link `last` or `best` of a run at one of its checkpoints. Throws
/// a storage error.
void point_at(const std::filesystem::path& checkpoint, const std::string& link);

/// Removes the run's checkpoints up to `newest`, except the newest `keep` (0: all are
/// kept) and the best, and the incomplete ones that killed processes left. What cannot be
/// removed is ignored.
void prune_checkpoints(const std::filesystem::path& newest, std::size_t keep);

/// Finds a checkpoint's folder from a path given by a person: a run's folder (its newest
/// complete checkpoint, as above), a checkpoint's folder, or a link to one. Throws
/// InputError if there is none.
std::filesystem::path find_checkpoint(const std::filesystem::path& target,
                                      const OnDamaged& on_damaged = {});

/// Returns the run that a checkpoint belongs to, <run>/checkpoints/<step>; nothing if the
/// checkpoint was moved out of its run.
std::optional<std::filesystem::path> run_of_checkpoint(
    const std::filesystem::path& checkpoint);

}  // namespace convoy
