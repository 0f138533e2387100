// SPDX-License-Identifier: Apache-2.0
//
// Get: copies or downloads a dataset to this machine, verified, and whole or not at all.
//
//   fetch each file -> unpack -> compare size and SHA-256
//   idx: the files as they are; others: read, compare samples, make the compact form
//   -> a hidden folder, flushed -> rename to <folder>
//
// Whatever ends it, an error, a signal or a power cut, leaves the folder absent or
// complete. The next get of the same dataset removes what a killed one left; two at once
// take turns by a lock beside the folder.

#pragma once

#include <filesystem>
#include <string>

#include "convoy/acquire/fetch.h"
#include "convoy/data/source.h"

namespace convoy {

struct GetOptions {
  /// A folder with the files, plain or .gz; a .tgz or .tar.gz that holds them; or the URL
  /// (http, https, file) of such an archive or that they are under. Empty: where the
  /// dataset usually comes from.
  std::string from{};

  /// The folder to hold the files. Empty: the user's cache.
  std::filesystem::path to{};

  GetProgress progress{};  // may be empty; not called if the dataset is already there
};

/// Brings a dataset and returns its folder; empty for one that is made in memory. One
/// that is already there, and valid, costs only the check.
///
/// Throws InputError: `settings` for an unknown name or source, `storage` if something
/// cannot be reached or written, `data` if what came, or what is there, is not the
/// dataset.
std::filesystem::path get_data(const std::string& name, const GetOptions& options);
std::filesystem::path get_data(const DataSource& source, const GetOptions& options);

}  // namespace convoy
