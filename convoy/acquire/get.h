// SPDX-License-Identifier: Apache-2.0
//
// Get: copies or downloads a dataset to this machine and verifies it; the folder is
// complete or absent.
//
//   fetch each file -> unpack -> compare size and SHA-256
//   idx: the files as they are; others: read, compare samples, convert to convoy's format
//   -> a hidden folder, flushed -> rename to <folder>
//
// An error, a signal or a power cut leaves the folder absent or complete. The next get of
// the same dataset removes the leftovers of a killed one; a lock beside the folder makes
// two concurrent gets take turns.

#pragma once

#include <filesystem>
#include <string>

#include "convoy/acquire/fetch.h"
#include "convoy/data/source.h"

namespace convoy {

struct GetOptions {
  /// A folder with the files, plain or .gz; a .tgz or .tar.gz that contains them; or a
  /// URL (http, https, file) of such an archive or of a folder that contains them. Empty:
  /// the dataset's default source.
  std::string from{};

  /// The folder to put the files in. Empty: the user's cache.
  std::filesystem::path to{};

  GetProgress progress{};  // may be empty; not called if the dataset is already there
};

/// Gets a dataset and returns its folder, which is empty for a dataset that is made in
/// memory. If a valid dataset is already there, it is only checked.
///
/// Throws InputError: `settings` for an unknown name or source, `storage` if something
/// cannot be reached or written, `data` if the content is not that of the dataset.
std::filesystem::path get_data(const std::string& name, const GetOptions& options);
std::filesystem::path get_data(const DataSource& source, const GetOptions& options);

}  // namespace convoy
