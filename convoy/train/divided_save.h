// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint of numbers that are divided over the ranks, saved by all ranks together.
//
// If all ranks see the run's folder, each writes what it has, at its place in the files,
// and the first one gives the checkpoint its name when all are done. Otherwise units are
// made whole one after the other, and the first rank writes them. The files are the same.
// Whether they see it is tried at each save: the first rank puts a file there, and the
// others look for it.

#pragma once

#include <filesystem>

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/comm/comm.h"

namespace convoy {

/// On the first rank: saves the checkpoint into the run's folder and returns its own.
/// Throws a storage error, PeerError.
std::filesystem::path save_divided(const std::filesystem::path& run,
                                   const CheckpointContent& content, Comm& comm);

/// What the other ranks do meanwhile, with the same parts. Throws as save_divided().
void help_to_save(const CheckpointContent& content, Comm& comm);

/// Broadcasts a text of the first rank.
void broadcast_text(Comm& comm, std::string& text);

}  // namespace convoy
