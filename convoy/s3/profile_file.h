// SPDX-License-Identifier: Apache-2.0
//
// ProfileFile: the files ~/.aws/credentials and ~/.aws/config: sections of name = value.

#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace convoy {

using Profile = std::map<std::string, std::string>;
using ProfileFile = std::map<std::string, Profile>;  // by the section's name

/// Reads the sections; none if the file does not exist. Indented lines (settings of one
/// service) and unknown lines are ignored. Throws a storage error.
ProfileFile read_profiles(const std::filesystem::path& path);

}  // namespace convoy
