// SPDX-License-Identifier: Apache-2.0
//
// Version: what this binary is, what it was made with and what it runs on.

#pragma once

#include <string>

namespace convoy {

/// "0.1.0 (3f2a91c04b7e)".
std::string version();

/// Version, commit, compiler, processor, kernels and libraries, a line each.
std::string version_details();

}  // namespace convoy
