// SPDX-License-Identifier: Apache-2.0
//
// CheckpointFolder: a run's checkpoints/ and which of them is which.
//
//   checkpoints/00000100/  00000150/  00000200/
//               last -> 00000200      the newest
//               best -> 00000150      the one with the best evaluation
//
// Who looks for the newest looks at the folders, not at the link: a run may be killed
// between the two.

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace convoy {

/// All that have a checkpoint's name and a manifest, newest first. None if there is no
/// folder.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& run);

using OnDamaged = std::function<void(const std::string&)>;

/// The newest that is whole. `on_damaged` hears of each newer one that is not, and why.
std::optional<std::filesystem::path> newest_whole_checkpoint(
    const std::filesystem::path& run, const OnDamaged& on_damaged);

/// Points the link `last` or `best` of a run at one of its checkpoints, in one step.
/// Throws a storage error.
void point_at(const std::filesystem::path& checkpoint, const std::string& link);

/// Of the run's checkpoints, `newest` and older ones, removes all but `keep` (0: all
/// stay) and the best, and what a killed process left half written. What cannot be
/// removed stays.
void prune_checkpoints(const std::filesystem::path& newest, std::size_t keep);

/// A checkpoint's folder from what a person named: a run's folder (its newest whole one,
/// as above), a checkpoint's own, or a link to it. Throws InputError if there is none.
std::filesystem::path find_checkpoint(const std::filesystem::path& target,
                                      const OnDamaged& on_damaged = {});

/// The run a checkpoint belongs to: <run>/checkpoints/<step>; nothing if it was taken out
/// of its run.
std::optional<std::filesystem::path> run_of_checkpoint(
    const std::filesystem::path& checkpoint);

}  // namespace convoy
