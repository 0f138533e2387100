// SPDX-License-Identifier: Apache-2.0
//
// The version of this binary.

#pragma once

#include <string>

namespace convoy {

/// "0.1.0 (3f2a91c04b7e)".
std::string version();

}  // namespace convoy
