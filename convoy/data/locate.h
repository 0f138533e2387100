// SPDX-License-Identifier: Apache-2.0
//
// Locate: finds the files of a dataset.
//
// If a root is given, they are searched there and in its subfolder with the dataset's
// name. Otherwise the first of these folders that has the dataset is used:
//
//   $CONVOY_DATA/<name>, $CONVOY_DATA
//   $XDG_CACHE_HOME/convoy/<name>, or ~/.cache/convoy/<name>
//   /usr/share/datasets/<name as Debian spells it>
//
// In each of these, the files may be in the subfolder that their archive unpacks to. A
// folder with any file of a form counts as the dataset in that form: if it lacks another
// file, that is an error, and the search does not continue.

#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "convoy/data/source.h"

namespace convoy {

/// Returns the folders that are searched if no root is given, in order.
std::vector<std::filesystem::path> data_folders(const DataSource& source);

/// Returns where `get` puts a dataset by default; empty if the user has no home folder.
std::filesystem::path cache_folder(const DataSource& source);

/// Where a dataset was found, and in which of its forms.
struct DataPlace {
  std::filesystem::path folder;
  const DataForm* form;  // points into the DataSource, which must outlive this
};

/// Returns the placement if the folder, or its archive's subfolder, contains any file of
/// the dataset, plain or .gz. Forms are tried in order.
std::optional<DataPlace> find_placement(const std::filesystem::path& folder,
                                        const DataSource& source);

/// Returns the first placement in data_folders().
std::optional<DataPlace> search_data(const DataSource& source);

/// Returns the dataset's placement: under `root`, or searched for if that is empty.
/// Throws InputError of kind `storage` that lists the searched folders.
DataPlace locate_data(const DataSource& source, const std::filesystem::path& root);

/// Returns the path of a file in a folder, plain or else .gz. Throws InputError of kind
/// `storage` if it is missing.
std::filesystem::path file_in(const std::filesystem::path& folder, const DataFile& file);

}  // namespace convoy
