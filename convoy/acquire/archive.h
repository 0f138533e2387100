// SPDX-License-Identifier: Apache-2.0
//
// Archive: reads files from a .tgz or .tar.gz through libarchive, without unpacking it to
// disk.

#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "convoy/data/source.h"

namespace convoy {

/// Returns the content of the entries whose file name is in `files`, by that name.
///
/// Throws InputError: `storage` if the archive cannot be opened, `data` if the file is
/// not an archive, is damaged, or contains an entry longer than its limit.
std::map<std::string, std::vector<std::byte>> read_archive(
    const std::filesystem::path& archive, const std::vector<DataFile>& files);

}  // namespace convoy
