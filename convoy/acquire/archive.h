// SPDX-License-Identifier: Apache-2.0
//
// Archive: files out of a .tgz or .tar.gz, by libarchive, without unpacking it to disk.

#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convoy/data/source.h"

namespace convoy {

/// The content of those entries whose last name is one of `files`, by that name.
///
/// Throws InputError: `storage` if it cannot be opened, `data` if it is no archive, is
/// damaged, or an entry is longer than the file should be.
std::map<std::string, std::vector<std::byte>> read_archive(
    const std::filesystem::path& archive, const std::vector<DataFile>& files);

}  // namespace convoy
