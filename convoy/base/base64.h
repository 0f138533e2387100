// SPDX-License-Identifier: Apache-2.0
//
// Base 64 (RFC 4648).

#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace convoy {

std::string base64(std::span<const std::byte> bytes);

}  // namespace convoy
