// SPDX-License-Identifier: Apache-2.0
//
// The text of `convoy --version`.

#pragma once

#include <string>

namespace convoy {

/// Version, commit, compiler, processor, kernels and libraries, one per line.
std::string version_details();

}  // namespace convoy
