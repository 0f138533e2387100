// SPDX-License-Identifier: Apache-2.0
//
// JobEvent: what a launcher or a rank learns about its job. Ranks, launchers and the
// rendezvous publish events as entries of the job's store, below kJobPrefix; a session
// that watches them receives them decoded. Only this file knows the keys and the
// encoding.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>

#include "convoy/base/exit_code.h"
#include "convoy/rendezvous/store_protocol.h"

namespace convoy {

inline constexpr const char* kJobPrefix = "job/";  // of all events
inline constexpr const char* kCompleteKey = "job/complete";
inline constexpr const char* kFailedKey = "job/failed";
inline constexpr const char* kLostPrefix = "job/lost/";
/// Not an event: this prefix and the hash of a message make the key that decides which
/// rank prints it.
inline constexpr const char* kSaidPrefix = "said/";

/// Why a job ends, and with which exit code, on all machines.
struct JobOutcome {
  ExitCode code = ExitCode::rank_failed;
  std::string text;
};

/// All ranks have joined.
struct JobComplete {};

/// The job has failed. The first proposed outcome counts.
struct JobFailed {
  JobOutcome outcome;
};

/// A signal that is sent to all ranks.
struct StopSignal {
  int signal = 0;
};

/// The run's folder exists.
struct RunStarted {
  std::string folder;
};

/// All parameter servers have ended successfully.
struct ServersDone {};

/// A worker died too often and is not restarted.
struct WorkerGivenUp {
  int rank = 0;
  std::string end;  // how it ended, and that it is given up
};

/// Nothing was received from an elastic rank for too long; its process may still exist.
struct RankSilent {
  int rank = 0, pid = 0;
};

/// All ranks of a node have ended.
struct NodeDone {
  int node = 0;
  ExitCode code = ExitCode::done;
};

/// A session ended without a leave.
struct SessionLost {
  PeerKind kind = PeerKind::rank;
  int number = 0;       // the rank, or the launcher's node
  bool silent = false;  // still open, but nothing was received for too long
  std::string text;     // a sentence that says which, where and how
};

/// A rank reports that another one does not answer it.
struct PeerReported {
  int from = 0, rank = 0;
  std::string error;
};

/// The session with the rendezvous is lost. Not an entry of the store.
struct ServiceLost {
  std::string why;
};

/// A log line of the rendezvous on this node. Not an entry of the store.
struct ServiceLine {
  std::string text;
};

using JobEvent = std::variant<JobComplete, JobFailed, StopSignal, RunStarted, ServersDone,
                              WorkerGivenUp, RankSilent, NodeDone, SessionLost,
                              PeerReported, ServiceLost, ServiceLine>;

struct StoreEntry {
  std::string key, value;
};

/// Returns the entry that publishes an event.
StoreEntry entry_of(const JobComplete& event);
StoreEntry entry_of(const JobFailed& event);
StoreEntry entry_of(const StopSignal& event);
StoreEntry entry_of(const RunStarted& event);
StoreEntry entry_of(const ServersDone& event);
StoreEntry entry_of(const WorkerGivenUp& event);
StoreEntry entry_of(const RankSilent& event);
StoreEntry entry_of(const NodeDone& event);
StoreEntry entry_of(const SessionLost& event);
StoreEntry entry_of(const PeerReported& event);

/// Returns the event that an entry publishes, if it publishes one.
std::optional<JobEvent> decode_job_event(const std::string& key,
                                         std::span<const std::byte> value);

}  // namespace convoy
