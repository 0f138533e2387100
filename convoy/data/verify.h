// SPDX-License-Identifier: Apache-2.0
//
// Verify: checks that files and samples are those of the published dataset.

#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "convoy/data/dataset.h"
#include "convoy/data/locate.h"
#include "convoy/data/source.h"

namespace convoy {

/// Throws InputError of kind `data`, with these `where` and `hint`, unless `content` has
/// the file's size, and its digest if that is known.
void verify_content(std::span<const std::byte> content, const DataFile& file,
                    const std::string& where, const std::string& hint);

/// The same for each file of a placement; a file in convoy's format must have the digest
/// in its header.
void verify_files(const DataPlace& place, const std::string& hint);

/// Throws InputError of kind `data`, with this `where`, unless both halves match what is
/// known about the source: counts, counts by class, means of channels, digest.
void verify_samples(const DataPair& data, const DataSource& source,
                    const std::string& where);

/// SHA-256 over the sorted SHA-256s (as text) of all samples, each over label and pixels:
/// it does not depend on the order of the samples.
std::string samples_digest(const Dataset& data);

}  // namespace convoy
