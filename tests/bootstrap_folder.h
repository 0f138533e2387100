// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace convoy {

/// Where script/bootstrap puts what it installs under that name.
inline std::filesystem::path bootstrap_folder(const std::string& name) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base =
      cache != nullptr && *cache != '\0'
          ? std::filesystem::path(cache)
          : std::filesystem::path(home == nullptr ? "" : home) / ".cache";
  return base / "convoy" / name;
}

}  // namespace convoy
