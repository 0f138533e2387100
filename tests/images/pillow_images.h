// SPDX-License-Identifier: Apache-2.0
//
// Image files of every kind, made by Pillow, and what Pillow reads from files.

#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/ask_python.h"

namespace convoy {

/// Files that are made once for all tests of the process.
class PillowImages {
 public:
  static const PillowImages& get() {
    static const PillowImages images;
    return images;
  }

  /// By path: width, height, sha256 of the pixels.
  const nlohmann::json& facts() const { return facts_; }

  std::vector<std::byte> content(const std::string& name) const {
    return read_bytes(path(name));
  }
  std::filesystem::path path(const std::string& name) const {
    return folder_.path() / name;
  }

 private:
  TemporaryFolder folder_;
  nlohmann::json facts_ =
      ask_python("images/pillow_images.py", {{"write", folder_.path().string()}});
};

}  // namespace convoy
