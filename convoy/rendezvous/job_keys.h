// SPDX-License-Identifier: Apache-2.0
//
// The keys of a job's store that the rendezvous itself, launchers and ranks agree on, and
// the outcome that ends a job for everybody.

#pragma once

#include <optional>
#include <span>
#include <string>

#include "convoy/base/exit_code.h"

namespace convoy {

inline constexpr const char* kCompleteKey = "job/complete";  // all ranks are here
inline constexpr const char* kFailedKey = "job/failed";  // a JobOutcome; the first stands
inline constexpr const char* kSignalKey = "job/signal";  // a number to pass on
inline constexpr const char* kRunFolderKey = "job/run_folder";
inline constexpr const char* kServedKey = "job/served";     // all servers ended well
inline constexpr const char* kGivenUpPrefix = "given_up/";  // + "rank 2": its end
inline constexpr const char* kSilentPrefix = "silent/";     // + "rank 2": pid, a text
inline constexpr const char* kDonePrefix = "done/";         // + "node 1": its exit code
inline constexpr const char* kLostPrefix = "lost/";         // + "rank 2": a LostSession
inline constexpr const char* kSaidPrefix = "said/";  // + hash: who says this message
inline constexpr const char* kPeerPrefix = "peer/";  // + "rank 2": its PeerError

/// Why a job ends, and with which code, on all of its machines.
struct JobOutcome {
  ExitCode code = ExitCode::rank_failed;
  std::string text;
};

/// A session that ended without a leave.
struct LostSession {
  bool silent = false;  // it is still open, but nothing came for too long
  std::string text;     // who, where, how: a sentence
};

std::string encode(const JobOutcome& outcome);
JobOutcome decode_job_outcome(std::span<const std::byte> bytes);
std::string encode(const LostSession& loss);
LostSession decode_lost_session(std::span<const std::byte> bytes);

}  // namespace convoy
