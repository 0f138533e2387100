// SPDX-License-Identifier: Apache-2.0
//
// The variables by which convoy's launcher configures a rank, besides its placement
// (CONVOY_RANK, CONVOY_RANKS, CONVOY_LOCAL_RANK, CONVOY_LOCAL_RANKS, CONVOY_NODE_RANK,
// CONVOY_NODES, CONVOY_MASTER_ADDR, CONVOY_MASTER_PORT) and CONVOY_TOKEN.

#pragma once

namespace convoy {

inline constexpr const char* kSettingsFile =
    "CONVOY_SETTINGS_FD";                                     // an open file descriptor
inline constexpr const char* kStepsFile = "CONVOY_STEPS_FD";  // an open file descriptor
inline constexpr const char* kThreads = "CONVOY_THREADS";
/// Of rank 0; 0: no terminal.
inline constexpr const char* kTerminal = "CONVOY_TERMINAL_WIDTH";

/// The prefix of a line that is for the rank's log only, not for the console.
inline constexpr char kLogOnlyPrefix = '\x1f';

}  // namespace convoy
