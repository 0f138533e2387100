// SPDX-License-Identifier: Apache-2.0
//
// Npm: downloads a package of the npm registry by running npm.

#pragma once

#include <filesystem>
#include <string>

namespace convoy {

/// Makes npm download a package ("name@version") into `folder`; returns the archive's
/// path.
/// No code of the package is run.
///
/// Throws InputError of kind `storage`, with npm's output, if the download fails.
std::filesystem::path download_package(const std::string& package,
                                       const std::filesystem::path& folder);

}  // namespace convoy
