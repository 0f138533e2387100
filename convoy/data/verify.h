// SPDX-License-Identifier: Apache-2.0
//
// Verify: whether files and samples are those of the dataset that was published.

#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "convoy/data/dataset.h"
#include "convoy/data/locate.h"
#include "convoy/data/source.h"

namespace convoy {

/// Throws InputError of kind `data`, with these `where` and `hint`, unless `content` is
/// that file: of its size, and of its digest if that is known.
void verify_content(std::span<const std::byte> content, const DataFile& file,
                    const std::string& where, const std::string& hint);

/// The same for each file at a place; a compact file has to have the digest it says.
void verify_files(const DataPlace& place, const std::string& hint);

/// Throws InputError of kind `data`, with this `where`, unless both halves have what is
/// known of the source: counts, counts by class, means of channels, digest.
void verify_samples(const DataPair& data, const DataSource& source,
                    const std::string& where);

/// SHA-256 over the sorted SHA-256s (as text) of all samples, each of its label and its
/// pixels: the same for the same samples in any order.
std::string samples_digest(const Dataset& data);

}  // namespace convoy
