// SPDX-License-Identifier: Apache-2.0
//
// Npm: a package of the npm registry, by npm itself.

#pragma once

#include <filesystem>
#include <string>

namespace convoy {

/// Has npm download a package ("name@version") into `folder`; returns the archive's path.
/// No code of the package is run.
///
/// Throws InputError of kind `storage`, with what npm said, if it does not come.
std::filesystem::path download_package(const std::string& package,
                                       const std::filesystem::path& folder);

}  // namespace convoy
