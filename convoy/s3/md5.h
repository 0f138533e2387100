// SPDX-License-Identifier: Apache-2.0
//
// Md5: what S3 compares uploads by, in the forms it wants. It finds damage, not intent:
// that is SHA-256's part.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "convoy/base/digest.h"

namespace convoy {

using Md5Digest = std::vector<std::byte>;  // 16 of them

/// Of bytes at once; Digest(DigestKind::md5) takes them in pieces.
Md5Digest md5(std::span<const std::byte> bytes);

std::string base64(std::span<const std::byte> bytes);

}  // namespace convoy
