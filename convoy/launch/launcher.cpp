// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/launcher.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/job/job_rendezvous.h"
#include "convoy/job/own_cores.h"
#include "convoy/job/rank_variables.h"
#include "convoy/job/token.h"
#include "convoy/job/token_file.h"
#include "convoy/launch/supervisor.h"
#include "convoy/rendezvous/store_server.h"
#include "convoy/system/host_name.h"
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

/// The job's token, and the file through which node 0 shares it, if needed.
struct JobToken {
  std::string text;
  std::optional<TokenFile> file{};
};

void find_token(const LaunchOptions& options, JobToken& token) {
  const JobPlacement& placement = options.placement;
  const Environment environment = current_environment();
  if (const auto given = token_of_environment(environment)) {
    token.text = *given;
  } else if (placement.node != 0) {
    token.text = wait_for_token(placement, environment, options.join);
  } else {
    token.text = random_token();
    if (placement.nodes == 1) return;
    token.file.emplace(token_path(placement, environment, options.join));
  }
}

std::unique_ptr<StoreServer> host_service(const LaunchOptions& options, JobToken& token,
                                          JobEventQueue& events) {
  const JobPlacement& placement = options.placement;
  if (placement.node != 0) return nullptr;
  const auto log = [&](const std::string& line) { events.add(ServiceLine{line}); };
  return std::make_unique<StoreServer>(
      listen_as_host(placement.master_address, placement.master_port, token.text,
                     token.file ? &*token.file : nullptr),
      service_options(placement, PeerKind::launcher, token.text, options.join, log));
}

std::unique_ptr<StoreClient> join_job(const LaunchOptions& options,
                                      const JobPlacement& placement,
                                      const std::string& token, JobEventQueue& events) {
  StoreClientOptions session =
      session_options(placement, PeerKind::launcher, token, options.join);
  session.on_event = [&](const JobEvent& event) { events.add(event); };
  auto client = std::make_unique<StoreClient>(session);
  client->watch(kJobPrefix);
  return client;
}

/// Reserves descriptors for the ranks' processes and outputs, and for the rendezvous.
void reserve_files(const JobPlacement& placement) {
  constexpr std::size_t kFilesPerRank = 5, kOthers = 512;
  const auto ranks = static_cast<std::size_t>(placement.local_ranks);
  const auto members = static_cast<std::size_t>(placement.ranks) +
                       static_cast<std::size_t>(placement.nodes);
  reserve_descriptors(kFilesPerRank * ranks + members + kOthers,
                      fmt::format("a launcher of {} ranks", ranks));
}

/// What all ranks of the node have in common.
struct Briefing {
  Environment environment;
  Descriptor settings;
  Cores cores;  // shared by all ranks
};

Briefing brief(const LaunchOptions& options, const JobPlacement& placement,
               const std::string& token, const StepBoard& steps) {
  Briefing briefing{current_environment(), text_file(options.settings), usable_cores()};
  Environment& environment = briefing.environment;
  environment["CONVOY_RANKS"] = std::to_string(placement.ranks);
  environment["CONVOY_LOCAL_RANKS"] = std::to_string(placement.local_ranks);
  environment["CONVOY_NODE_RANK"] = std::to_string(placement.node);
  environment["CONVOY_NODES"] = std::to_string(placement.nodes);
  environment["CONVOY_MASTER_ADDR"] = placement.master_address;
  environment["CONVOY_MASTER_PORT"] = std::to_string(placement.master_port);
  environment["CONVOY_TOKEN"] = token;
  environment[kSettingsFile] = std::to_string(briefing.settings.get());
  environment[kStepsFile] = std::to_string(steps.file());
  return briefing;
}

Cores cores_for(const LaunchOptions& options, int local_rank, const Cores& cores) {
  return options.pin ? cores_for(options.placement, local_rank, cores) : Cores{};
}

int threads_for(const LaunchOptions& options, int local_rank, const Cores& cores) {
  if (options.threads > 0) return options.threads;
  return threads_for(options.placement, local_rank, cores);
}

SpawnOptions rank_options(const LaunchOptions& options, const Briefing& briefing,
                          int local_rank, int steps_file) {
  SpawnOptions child{.arguments = options.arguments,
                     .environment = briefing.environment,
                     .files = {briefing.settings.get(), steps_file},
                     .cores = cores_for(options, local_rank, briefing.cores)};
  const int rank = options.placement.rank + local_rank;
  child.environment["CONVOY_RANK"] = std::to_string(rank);
  child.environment["CONVOY_LOCAL_RANK"] = std::to_string(local_rank);
  child.environment[kThreads] =
      std::to_string(threads_for(options, local_rank, briefing.cores));
  child.environment[kTerminal] = std::to_string(rank == 0 ? options.terminal_width : 0);
  return child;
}

void say_plan(const LaunchOptions& options, const JobPlacement& placement,
              const Cores& cores, Console& console) {
  if (options.quietly) return;
  console.line(
      Stream::out, "",
      fmt::format("launch    {} on {}, node {} of {}, rendezvous at {}:{}",
                  describe_ranks(placement), host_name(), placement.node, placement.nodes,
                  placement.master_address, placement.master_port));
  for (int i = 0; i < placement.local_ranks; ++i) {
    const Cores part = cores_for(options, i, cores);
    const int threads = threads_for(options, i, cores);
    console.line(Stream::out, "",
                 fmt::format("          {}: {} thread{}, {}",
                             role_name(placement, placement.rank + i), threads,
                             threads == 1 ? "" : "s",
                             part.empty() ? "not pinned" : "cores " + to_text(part)));
  }
}

/// The other nodes may have to wait for node 0.
void say_where(const JobPlacement& placement, Console& console) {
  if (placement.node == 0) return;
  console.line(Stream::err, "convoy: ",
               fmt::format("joining the rendezvous at {}:{}", placement.master_address,
                           placement.master_port));
}

}  // namespace

ExitCode launch(const LaunchOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  JobToken token;
  find_token(options, token);
  Console console(options.out, options.err, options.terminal_width > 0);
  JobEventQueue events;
  reserve_files(options.placement);
  const std::unique_ptr<StoreServer> service = host_service(options, token, events);
  JobPlacement placement = options.placement;
  if (service) placement.master_port = service->port();
  say_where(placement, console);
  const auto session = join_job(options, placement, token.text, events);

  // Before this, Ctrl-C ends the process; from here on it also stops the ranks.
  SignalQueue signals;
  StepBoard steps(placement.local_ranks);
  const Briefing briefing = brief(options, placement, token.text, steps);
  say_plan(options, placement, briefing.cores, console);
  const auto start = [&](int local_rank) {
    return spawn(rank_options(options, briefing, local_rank, steps.file()));
  };
  Supervisor supervisor(placement, {console, *session, events, steps, signals},
                        {.start = start, .again = options.restarts});
  supervisor.start_ranks();
  const ExitCode code = supervisor.run();
  session->leave();
  constexpr auto kLeaveGrace = std::chrono::seconds(3);  // for the other nodes
  if (service) service->wait_until_all_left(kLeaveGrace);
  if (code != ExitCode::done || console.lost_output() == 0) return code;
  console.say(fmt::format("convoy: cannot write: standard output: {}\n",
                          std::strerror(console.lost_output())));
  return ExitCode::cannot_read_write;
}

}  // namespace convoy
