// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/membership.h"

#include <cstdlib>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/job/rank_variables.h"
#include "convoy/job/token.h"
#include "convoy/system/host_name.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

constexpr auto kOutcomeWait = std::chrono::seconds(6);  // longer than launchers take

std::unique_ptr<StepBoard> board_of(const JobPlacement& placement,
                                    const Environment& environment) {
  const auto file = environment.find(kStepsFile);
  if (placement.launcher_kind != LauncherKind::convoy || file == environment.end())
    return nullptr;
  return std::make_unique<StepBoard>(Descriptor(std::atoi(file->second.c_str())),
                                     placement.local_ranks);
}

/// The host of the rendezvous if another program started the ranks.
std::string founder_of(const JobPlacement& placement) {
  return placement.servers > 0 ? "parameter server 0 (rank 0)" : "rank 0";
}

}  // namespace

Membership::Membership(const JobPlacement& placement, const Environment& environment,
                       const MembershipOptions& options)
    : place_(placement),
      options_(options),
      token_(token_of_environment(environment).value_or("")),
      steps_(board_of(placement, environment)) {
  const bool launched = placement.launcher_kind == LauncherKind::convoy;
  const bool by_file = !launched && placement.one_machine();
  if (!launched && placement.rank == 0) {
    host(environment);
  } else if (by_file) {
    find_host();
  } else if (token_.empty()) {
    token_ = wait_for_token(placement, environment, options.join);
  }
  open_session();
  if (!launched) session_->watch(kLostPrefix);
  session_->get(kCompleteKey, options.join.timeout);
}

Membership::~Membership() {
  notified_ = nullptr;
  session_->leave();
  if (service_) service_->wait_until_all_left(options_.join.silence);
}

/// On one machine any free port is suitable: the other ranks read it from the file.
void Membership::host(const Environment& environment) {
  const bool by_file = place_.one_machine();
  if (token_.empty()) {
    token_ = random_token();
    if (!by_file) token_file_.emplace(token_path(place_, environment, options_.join));
  }
  const JobPlacement named = place_;  // as all ranks know it
  if (by_file) place_.master_address = "127.0.0.1";
  service_ = std::make_unique<StoreServer>(
      listen_as_host(place_.master_address, by_file ? 0 : place_.master_port, token_,
                     token_file_ ? &*token_file_ : nullptr),
      service_options(place_, PeerKind::rank, token_, options_.join, options_.log));
  place_.master_port = service_->port();
  if (by_file) meeting_.emplace(named, RendezvousPoint{service_->port(), token_});
}

void Membership::find_host() {
  const RendezvousPoint meeting = RendezvousFile::wait_for(place_, options_.join.timeout);
  place_.master_address = "127.0.0.1";
  place_.master_port = meeting.port;
  if (token_.empty()) token_ = meeting.token;
}

void Membership::open_session() {
  StoreClientOptions options =
      session_options(place_, PeerKind::rank, token_, options_.join);
  if (place_.launcher_kind != LauncherKind::convoy) {  // otherwise the launcher acts
    options.on_event = [this](const JobEvent& event) { take_event(event); };
  }
  session_ = std::make_unique<StoreClient>(options);
  notified_ = session_.get();
}

void Membership::take_event(const JobEvent& event) {
  const auto end = [&](const JobOutcome& outcome) {
    if (options_.on_outcome) options_.on_outcome(outcome);
  };
  if (const auto* failed = std::get_if<JobFailed>(&event)) {
    end(failed->outcome);
  } else if (const auto* lost = std::get_if<ServiceLost>(&event)) {
    end({ExitCode::rank_failed, "lost " + founder_of(place_) + ": " + lost->why});
  } else if (const auto* loss = std::get_if<SessionLost>(&event)) {
    StoreClient* const session = notified_;
    if (session)
      session->propose(entry_of(JobFailed{{ExitCode::rank_failed, loss->text}}));
  }
}

void Membership::at_step(std::uint64_t step) {
  if (steps_) steps_->step(place_.local_rank).store(step, std::memory_order_relaxed);
  session_->set_step(step);
}

std::optional<JobOutcome> Membership::report_peer_failure(const PeerError& error) {
  session_->set(entry_of(PeerReported{place_.rank, error.rank(), error.what()}));
  return session_->wait_for_outcome(kOutcomeWait);
}

bool Membership::is_first_to_report(const std::string& message) {
  const std::string key =
      kSaidPrefix + sha256_hex(std::as_bytes(std::span(message))).substr(0, 32);
  const std::string own = name_of(PeerKind::rank, place_.rank);
  try {
    return text_of(session_->claim(key, own)) == own;
  } catch (const PeerError&) {
    return true;  // the rendezvous is gone, so ranks cannot agree
  }
}

}  // namespace convoy
