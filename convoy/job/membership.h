// SPDX-License-Identifier: Apache-2.0
//
// Membership: a rank's part in its job, for as long as it lives.
//
//   Membership job(place, options);      // waits until all ranks, or all servers, are
//   there connect({...}, job.store()); job.at_step(step);
//
// Under convoy's launcher the rendezvous is there already, and the launcher acts when a
// rank is lost. Ranks that somebody else started have nobody: rank 0 hosts the
// rendezvous, and when it loses one, each of them hears the outcome and is given a moment
// to end.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "convoy/job/job_placement.h"
#include "convoy/job/rendezvous_file.h"
#include "convoy/job/step_board.h"
#include "convoy/rendezvous/store_client.h"
#include "convoy/rendezvous/store_server.h"

namespace convoy {

struct MembershipOptions {
  std::string compared;  // "name=value" a line, of what has to be equal on all ranks
  std::chrono::milliseconds join_timeout = std::chrono::seconds(300);
  std::chrono::milliseconds silence = std::chrono::seconds(60);
  /// Lines of the rendezvous, if this rank hosts it. Called by its thread.
  std::function<void(const std::string&)> log = nullptr;
  /// The job has failed and nobody will end this process. Called by the session's thread.
  std::function<void(const JobOutcome&)> on_outcome = nullptr;
};

class Membership {
 public:
  /// Joins. Throws InputError if this rank is not admitted, PeerError if others do not
  /// come.
  Membership(const JobPlacement& placement, const Environment& environment,
             const MembershipOptions& options);

  /// Leaves. A rank that hosts the rendezvous waits for the others to leave.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  StoreClient& store() { return *session_; }

  /// What proves to others of the job that this process belongs to it.
  const std::string& token() const { return token_; }

  /// Notes how far this rank is, for the report on its death. Costs a store.
  void at_step(std::uint64_t step);

  /// Tells the others that this rank waited for another in vain, and waits for the
  /// outcome, in which its launcher may name another cause. None: nobody knows better.
  std::optional<JobOutcome> report_peer_failure(const PeerError& error);

  /// Whether this rank is the one to say it: of all that have the same to say, the first.
  bool is_first_to_say(const std::string& message);

 private:
  void host(const std::string& token, const MembershipOptions& options);
  void take_notice(const std::string& key, const Bytes& value);

  JobPlacement place_;
  MembershipOptions options_;
  std::string token_;
  std::optional<RendezvousFile> meeting_;
  std::unique_ptr<StoreServer> service_;
  std::unique_ptr<StepBoard> steps_;
  std::atomic<StoreClient*> notified_ = nullptr;  // session, once it may be used
  std::unique_ptr<StoreClient> session_;
};

}  // namespace convoy
