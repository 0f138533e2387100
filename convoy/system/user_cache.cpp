// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/user_cache.h"

#include <cstdlib>

namespace convoy {

std::filesystem::path user_cache() {
  // The XDG base directory specification says that relative paths are ignored.
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && std::filesystem::path(cache).is_absolute()) return cache;
  const char* const home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::filesystem::path()
                                          : std::filesystem::path(home) / ".cache";
}

}  // namespace convoy
