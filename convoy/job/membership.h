// SPDX-License-Identifier: Apache-2.0
//
// Membership: a rank's part in its job, for as long as it lives.
//
//   Membership job(placement, environment, options);  // waits for all ranks, or servers
//   connect({...}, job.store());
//   job.at_step(step);
//
// Under convoy's launcher the rendezvous exists already, and the launcher acts when a
// rank is lost. For ranks that another program started, rank 0 hosts the rendezvous; when
// it loses one, each of them gets the outcome and a moment to end.

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
  /// Lines of the rendezvous, if this rank hosts it. Called by its thread.
  std::function<void(const std::string&)> log = nullptr;
  /// The job has failed and there is no launcher to end this process. Called by the
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

  /// What proves to others of the job that this process belongs to it.
  const std::string& token() const { return token_; }

  /// Notes the step of this rank, for the report on its death. Costs one store.
  void at_step(std::uint64_t step);

  /// Reports that another rank does not answer this one, and waits for the outcome, in
  /// which a launcher may name another cause. None: there is no other explanation.
  std::optional<JobOutcome> report_peer_failure(const PeerError& error);

  /// Whether this rank is the first with that message, and prints it.
  bool is_first_to_say(const std::string& message);

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
  std::atomic<StoreClient*> notified_ = nullptr;  // session, once it may be used
  std::unique_ptr<StoreClient> session_;
};

}  // namespace convoy
