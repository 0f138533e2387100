// SPDX-License-Identifier: Apache-2.0
//
// TemporaryFolder: a new folder that is removed with its contents at the end.

#pragma once

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "convoy/base/error.h"

namespace convoy {

class TemporaryFolder {
 public:
  /// Throws a storage error.
  TemporaryFolder() {
    // mkdtemp() needs six Xs.
    std::string name = std::filesystem::temp_directory_path() / "convoy-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      throw storage_error(name, "make a folder", errno);
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace convoy
