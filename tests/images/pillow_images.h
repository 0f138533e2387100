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

inline std::vector<std::uint8_t> file_content(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_bytes(path);
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

/// Files that are made once for all tests of the process.
class PillowImages {
 public:
  static const PillowImages& get() {
    static const PillowImages images;
    return images;
  }

  /// By path: width, height, sha256 of the pixels.
  const nlohmann::json& facts() const { return facts_; }

  std::vector<std::uint8_t> content(const std::string& name) const {
    return file_content(path(name));
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
