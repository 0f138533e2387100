// SPDX-License-Identifier: Apache-2.0
//
// The user's folder for files that can be made again.

#pragma once

#include <filesystem>

namespace convoy {

/// $XDG_CACHE_HOME or ~/.cache; empty if the user has no home folder.
std::filesystem::path user_cache();

}  // namespace convoy
