// SPDX-License-Identifier: Apache-2.0
//
// Memory: how much this process may use, and how much it uses.

#pragma once

#include <cstdint>

namespace convoy {

/// Bytes that can be allocated without swapping: the kernel's MemAvailable, or what the
/// control groups still allow if that is less; the maximum if neither is known.
std::uint64_t available_memory_bytes();

/// Bytes that all processes together may have: the machine's, or what the control groups
/// of this process allow if that is less.
std::uint64_t machine_memory_bytes();

/// The resident memory of this process; 0 if the system does not say.
std::uint64_t resident_memory_bytes();

/// The peak resident memory of this process so far.
std::uint64_t peak_memory_bytes();

}  // namespace convoy
