// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/membership.h"

#include <fmt/format.h>

#include <cstdlib>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/job/rank_variables.h"
#include "convoy/job/token.h"
#include "convoy/system/host_name.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

constexpr auto kForVerdict = std::chrono::seconds(6);  // longer than launchers think

std::unique_ptr<StepBoard> board_of(const JobPlacement& placement,
                                    const Environment& environment) {
  const auto file = environment.find(kStepsFile);
  if (placement.launcher_kind != LauncherKind::convoy || file == environment.end())
    return nullptr;
  return std::make_unique<StepBoard>(Descriptor(std::atoi(file->second.c_str())),
                                     placement.local_ranks);
}

/// Who hosts the rendezvous of ranks that somebody else started.
std::string founder_of(const JobPlacement& placement) {
  return placement.servers > 0 ? "parameter server 0 (rank 0)" : "rank 0";
}

}  // namespace

Membership::Membership(const JobPlacement& placement, const Environment& environment,
                       const MembershipOptions& options)
    : place_(placement), options_(options), steps_(board_of(placement, environment)) {
  const bool launched = placement.launcher_kind == LauncherKind::convoy;
  const bool by_file = !launched && placement.one_machine();
  token_ = token_of_environment(environment).value_or("");
  if (token_.empty() && !by_file) throw no_token_error();
  if (!launched && placement.rank == 0) {
    if (token_.empty()) token_ = random_token();
    host(token_, options);
  } else if (by_file) {
    const RendezvousPoint meeting =
        RendezvousFile::wait_for(placement, options.join_timeout);
    place_.master_address = "127.0.0.1";
    place_.master_port = meeting.port;
    if (token_.empty()) token_ = meeting.token;
  }
  session_ = std::make_unique<StoreClient>(StoreClientOptions{
      .address = place_.master_address,
      .port = place_.master_port,
      .token = token_,
      .hello = {.kind = PeerKind::rank,
                .number = placement.rank,
                .ranks = placement.ranks,
                .pid = ::getpid(),
                .host = host_name()},
      .settings = options.compared,
      .timeout = options.join_timeout,
      .silence = options.silence,
      .on_notice = [this](const std::string& key,
                          const Bytes& value) { take_notice(key, value); },
      .on_service_lost =
          [this, launched](const std::string& why) {
            if (launched || !options_.on_outcome) return;
            options_.on_outcome(
                {ExitCode::rank_failed, "lost " + founder_of(place_) + ": " + why});
          }});
  notified_ = session_.get();
  if (!launched) session_->watch(kLostPrefix);
  session_->get(kCompleteKey, options.join_timeout);
}

Membership::~Membership() {
  notified_ = nullptr;
  session_->leave();
  if (service_) service_->wait_until_all_left(options_.silence);
}

/// On one machine any free port will do, for the others find it in the file.
void Membership::host(const std::string& token, const MembershipOptions& options) {
  const bool by_file = place_.one_machine();
  Listener listener = by_file ? listen_on("127.0.0.1", 0)
                              : listen_on(place_.master_address, place_.master_port);
  service_ = std::make_unique<StoreServer>(
      std::move(listener),
      StoreServerOptions{.token = token,
                         .roster = {.ranks = place_.ranks,
                                    .nodes = 0,
                                    .settings = options.compared,
                                    .elastic_from = elastic_from(place_)},
                         .join_timeout = options.join_timeout,
                         .silence = options.silence,
                         .log = options.log});
  if (by_file) {
    meeting_.emplace(place_, RendezvousPoint{service_->port(), token});
    place_.master_address = "127.0.0.1";
  }
  place_.master_port = service_->port();
}

void Membership::take_notice(const std::string& key, const Bytes& value) {
  if (place_.launcher_kind == LauncherKind::convoy) return;  // the launcher acts
  if (key == kFailedKey) {
    if (options_.on_outcome) options_.on_outcome(decode_job_outcome(value));
  } else if (StoreClient* session = notified_; session && key.starts_with(kLostPrefix)) {
    session->propose(kFailedKey, encode(JobOutcome{ExitCode::rank_failed,
                                                   decode_lost_session(value).text}));
  }
}

void Membership::at_step(std::uint64_t step) {
  if (steps_) steps_->step(place_.local_rank).store(step, std::memory_order_relaxed);
  session_->set_step(step);
}

std::optional<JobOutcome> Membership::report_peer_failure(const PeerError& error) {
  session_->set(kPeerPrefix + name_of(PeerKind::rank, place_.rank),
                fmt::format("{} {}", error.rank(), error.what()));
  return session_->wait_for_outcome(kForVerdict);
}

bool Membership::is_first_to_say(const std::string& message) {
  const std::string key =
      kSaidPrefix + sha256_hex(std::as_bytes(std::span(message))).substr(0, 32);
  const std::string own = name_of(PeerKind::rank, place_.rank);
  try {
    return text_of(session_->claim(key, own)) == own;
  } catch (const PeerError&) {
    return true;  // there is nobody left to agree with
  }
}

}  // namespace convoy
