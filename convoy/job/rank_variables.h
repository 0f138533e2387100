// SPDX-License-Identifier: Apache-2.0
//
// The variables by which convoy's launcher tells a rank what it needs, beside its place
// (CONVOY_RANK, CONVOY_RANKS, CONVOY_LOCAL_RANK, CONVOY_LOCAL_RANKS, CONVOY_NODE_RANK,
// CONVOY_NODES, CONVOY_MASTER_ADDR, CONVOY_MASTER_PORT) and CONVOY_TOKEN.

#pragma once

namespace convoy {

inline constexpr const char* kSettingsFile =
    "CONVOY_SETTINGS_FD";                                     // an open file's number
inline constexpr const char* kStepsFile = "CONVOY_STEPS_FD";  // the same
inline constexpr const char* kThreads = "CONVOY_THREADS";
inline constexpr const char* kTerminal = "CONVOY_TERMINAL_WIDTH";  // rank 0's; 0: none

/// What a rank prints before a line that is for its log and not for the console.
inline constexpr char kForTheLog = '\x1f';

}  // namespace convoy
