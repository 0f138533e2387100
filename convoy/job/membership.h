// SPDX-License-Identifier: Apache-2.0
//
// Membership: a rank's membership in its job, for as long as it lives.
//
//   Membership job(placement, environment, options);  // waits for all ranks, or servers
//   connect({...}, job.store());
//   job.at_step(step);
//
// With convoy's launcher, the rendezvous exists already, and the launcher acts when a
// rank is lost. If another program started the ranks, rank 0 hosts the rendezvous; when a
// rank is lost, all others get the outcome and a few seconds to end.

#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "convoy/job/job_placement.h"
#include "convoy/job/job_rendezvous.h"
#include "convoy/job/rendezvous_file.h"
#include "convoy/job/step_board.h"
#include "convoy/job/token_file.h"
#include "convoy/rendezvous/store_client.h"
#include "convoy/rendezvous/store_server.h"

namespace convoy {

struct MembershipOptions {
  JoinOptions join{};
  /// Receives log lines of the rendezvous if this rank hosts it. Called by its thread.
  std::function<void(const std::string&)> log = nullptr;
  /// Called if the job has failed and there is no launcher to end this process, by the
  /// session's thread.
  std::function<void(const JobOutcome&)> on_outcome = nullptr;
};

class Membership {
 public:
  /// Joins. Throws InputError if this rank is not admitted, PeerError if others do not
  /// join in time.
  Membership(const JobPlacement& placement, const Environment& environment,
             const MembershipOptions& options);

  /// Leaves. A rank that hosts the rendezvous waits for the others to leave.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  StoreClient& store() { return *session_; }

  /// The token, which proves to other processes of the job that this one belongs to it.
  const std::string& token() const { return token_; }

  /// Records this rank's step, for the report if it dies. Costs one store instruction.
  void at_step(std::uint64_t step);

  /// Reports that another rank does not answer this one, and waits for the outcome, in
  /// which a launcher may name another cause. Returns nothing if there is no other cause.
  std::optional<JobOutcome> report_peer_failure(const PeerError& error);

  /// Whether this rank is the first with that message, and therefore prints it.
  bool is_first_to_report(const std::string& message);

 private:
  void host(const Environment& environment);
  void find_host();
  void open_session();
  void take_event(const JobEvent& event);

  JobPlacement place_;
  MembershipOptions options_;
  std::string token_;
  std::optional<RendezvousFile> meeting_;
  std::optional<TokenFile> token_file_;
  std::unique_ptr<StoreServer> service_;
  std::unique_ptr<StepBoard> steps_;
  std::atomic<StoreClient*> notified_ = nullptr;  // the session, once it may be used
  std::unique_ptr<StoreClient> session_;
};

}  // namespace convoy
