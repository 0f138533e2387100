// SPDX-License-Identifier: Apache-2.0
//
// Md5: the digest by which S3 checks uploads. It detects
// damage, not tampering; SHA-256 does that.

#pragma once

#include <span>
#include <vector>

#include "convoy/base/digest.h"

namespace convoy {

using Md5Digest = std::vector<std::byte>;  // 16 of them

/// The MD5 of bytes in memory; Digest(DigestKind::md5) takes them in pieces.
Md5Digest md5(std::span<const std::byte> bytes);

}  // namespace convoy
