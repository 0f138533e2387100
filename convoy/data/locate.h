// SPDX-License-Identifier: Apache-2.0
//
// Where the files of a dataset are looked for.
//
// With a root given: there, or in its subfolder of the dataset's name. Otherwise, first
// found first taken:
//
//   $CONVOY_DATA/<name>, $CONVOY_DATA
//   $XDG_CACHE_HOME/convoy/<name>, or ~/.cache/convoy/<name>
//   /usr/share/datasets/<name as Debian spells it>
//
// A folder with any of the files is taken for the dataset's: one that lacks another of
// them is reported and not passed over.

#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "convoy/data/source.h"

namespace convoy {

/// The folders looked into when no root is given, in order.
std::vector<std::filesystem::path> data_folders(const DataSource& source);

/// Where `get` puts a dataset unless told otherwise. Empty if the user has no home.
std::filesystem::path cache_folder(const DataSource& source);

/// The first of data_folders() that holds any of the dataset's files.
std::optional<std::filesystem::path> search_data(const DataSource& source);

/// The dataset's folder: under `root`, or searched for if that is empty.
/// Throws InputError of kind `storage` that lists where it looked.
std::filesystem::path locate_data(const DataSource& source,
                                  const std::filesystem::path& root);

/// Whether the folder has one of the dataset's files, plain or .gz.
bool holds_any_file(const std::filesystem::path& folder, const DataSource& source);

/// The path of a file in a folder, plain or else .gz.
/// Throws InputError of kind `storage` if it is missing.
std::filesystem::path file_in(const std::filesystem::path& folder, const DataFile& file);

}  // namespace convoy
