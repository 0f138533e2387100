// SPDX-License-Identifier: Apache-2.0
//
// Memory: how much there is for this process.

#pragma once

#include <cstdint>

namespace convoy {

/// Bytes that can be had without swapping: what the kernel says is available, or what the
/// control group still allows if that is less. Everything, if neither is known.
std::uint64_t available_memory_bytes();

/// The most this process has had so far.
std::uint64_t peak_memory_bytes();

}  // namespace convoy
