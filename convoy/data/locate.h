// SPDX-License-Identifier: Apache-2.0
//
// Where the files of a dataset are searched.
//
// With a root given: there, or in its subfolder of the dataset's name. Otherwise the
// first of these that has it:
//
//   $CONVOY_DATA/<name>, $CONVOY_DATA
//   $XDG_CACHE_HOME/convoy/<name>, or ~/.cache/convoy/<name>
//   /usr/share/datasets/<name as Debian spells it>
//
// In each of these the files may be in the subfolder that their archive unpacks to. A
// folder with any file of a form is taken for the dataset's, in that form: if it lacks
// another file, that is reported, and the search does not continue.

#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "convoy/data/source.h"

namespace convoy {

/// The folders that are searched when no root is given, in order.
std::vector<std::filesystem::path> data_folders(const DataSource& source);

/// Where `get` puts a dataset by default. Empty if the user has no home.
std::filesystem::path cache_folder(const DataSource& source);

/// Where a dataset was found, and in which of its forms.
struct DataPlace {
  std::filesystem::path folder;
  const DataForm* form;  // of the DataSource, and as long as that
};

/// The place that a folder is, or its archive's subfolder, if it holds any file of the
/// dataset, plain or .gz. Forms are tried in their order.
std::optional<DataPlace> find_placement(const std::filesystem::path& folder,
                                        const DataSource& source);

/// The first of data_folders() that is a place.
std::optional<DataPlace> search_data(const DataSource& source);

/// The dataset's place: under `root`, or searched for if that is empty. Throws InputError
/// of kind `storage` that lists the folders searched.
DataPlace locate_data(const DataSource& source, const std::filesystem::path& root);

/// The path of a file in a folder, plain or else .gz.
/// Throws InputError of kind `storage` if it is missing.
std::filesystem::path file_in(const std::filesystem::path& folder, const DataFile& file);

}  // namespace convoy
