// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/launcher.h"

#include <fmt/format.h>

#include <csignal>
#include <memory>

#include "convoy/base/error.h"
#include "convoy/comm/socket.h"
#include "convoy/comm/store_server.h"
#include "convoy/launch/own_cores.h"
#include "convoy/launch/rank_variables.h"
#include "convoy/launch/supervisor.h"
#include "convoy/launch/token.h"

namespace convoy {
namespace {

/// The threads of the session and the service write to the console through this.
class LogLines {
 public:
  explicit LogLines(NoticeQueue& notices) : notices_(notices) {}
  void operator()(const std::string& line) const {
    notices_.add({kLogKey, bytes_of(line)});
  }

 private:
  NoticeQueue& notices_;
};

std::string token_of_job(const Place& place, const Environment& environment) {
  if (const auto token = token_of_environment(environment)) return *token;
  if (place.nodes > 1) throw no_token_error();
  return random_token();
}

std::unique_ptr<StoreServer> host_service(const LaunchOptions& options,
                                          const std::string& token,
                                          NoticeQueue& notices) {
  const Place& place = options.place;
  if (place.node != 0) return nullptr;
  return std::make_unique<StoreServer>(
      listen_on(place.master_address, place.master_port),
      StoreServerOptions{.token = token,
                         .roster = {.ranks = place.ranks,
                                    .nodes = place.nodes,
                                    .settings = options.compared,
                                    .elastic_from = elastic_from(place)},
                         .join_timeout = options.join_timeout,
                         .silence = options.silence,
                         .log = LogLines(notices)});
}

StoreClientOptions session_options(const LaunchOptions& options, const Place& place,
                                   const std::string& token, NoticeQueue& notices) {
  return {.address = place.master_address,
          .port = place.master_port,
          .token = token,
          .hello = {.kind = PeerKind::agent,
                    .number = place.node,
                    .ranks = place.ranks,
                    .pid = ::getpid(),
                    .host = host_name()},
          .settings = options.compared,
          .timeout = options.join_timeout,
          .silence = options.silence,
          .on_notice =
              [&](const std::string& key, const Bytes& value) {
                notices.add({key, value});
              },
          .on_service_lost =
              [&](const std::string& why) {
                notices.add({"", bytes_of(why)});
              }};
}

/// What all ranks of the node are told alike.
struct Briefing {
  Environment environment;
  Descriptor settings;
  Cores cores;  // of all ranks together
};

Briefing brief(const LaunchOptions& options, const Place& place, const std::string& token,
               const StepBoard& steps) {
  Briefing briefing{current_environment(), text_file(options.settings), usable_cores()};
  Environment& environment = briefing.environment;
  environment["CONVOY_RANKS"] = std::to_string(place.ranks);
  environment["CONVOY_LOCAL_RANKS"] = std::to_string(place.local_ranks);
  environment["CONVOY_NODE_RANK"] = std::to_string(place.node);
  environment["CONVOY_NODES"] = std::to_string(place.nodes);
  environment["CONVOY_MASTER_ADDR"] = place.master_address;
  environment["CONVOY_MASTER_PORT"] = std::to_string(place.master_port);
  environment["CONVOY_TOKEN"] = token;
  environment[kSettingsFile] = std::to_string(briefing.settings.get());
  environment[kStepsFile] = std::to_string(steps.file());
  return briefing;
}

Cores cores_for(const LaunchOptions& options, int local_rank, const Cores& cores) {
  return options.pin ? cores_for(options.place, local_rank, cores) : Cores{};
}

int threads_for(const LaunchOptions& options, int local_rank, const Cores& cores) {
  if (options.threads > 0) return options.threads;
  return threads_for(options.place, local_rank, cores);
}

SpawnOptions rank_options(const LaunchOptions& options, const Briefing& briefing,
                          int local_rank, int steps_file) {
  SpawnOptions child{.arguments = options.arguments,
                     .environment = briefing.environment,
                     .files = {briefing.settings.get(), steps_file},
                     .cores = cores_for(options, local_rank, briefing.cores)};
  const int rank = options.place.rank + local_rank;
  child.environment["CONVOY_RANK"] = std::to_string(rank);
  child.environment["CONVOY_LOCAL_RANK"] = std::to_string(local_rank);
  child.environment[kThreads] =
      std::to_string(threads_for(options, local_rank, briefing.cores));
  child.environment[kTerminal] = std::to_string(rank == 0 ? options.terminal_width : 0);
  return child;
}

void say_plan(const LaunchOptions& options, const Place& place, const Cores& cores,
              Console& console) {
  if (options.quietly) return;
  console.line(Stream::out, "",
               fmt::format("launch    {} on {}, node {} of {}, rendezvous at {}:{}",
                           describe_ranks(place), host_name(), place.node, place.nodes,
                           place.master_address, place.master_port));
  for (int i = 0; i < place.local_ranks; ++i) {
    const Cores part = cores_for(options, i, cores);
    const int threads = threads_for(options, i, cores);
    console.line(
        Stream::out, "",
        fmt::format("          {}: {} thread{}, {}", role_name(place, place.rank + i),
                    threads, threads == 1 ? "" : "s",
                    part.empty() ? "not pinned" : "cores " + to_text(part)));
  }
}

/// Other nodes may have to wait long for node 0, and say so.
void say_where(const Place& place, Console& console) {
  if (place.node == 0) return;
  console.line(Stream::err, "convoy: ",
               fmt::format("joining the rendezvous at {}:{}", place.master_address,
                           place.master_port));
}

}  // namespace

ExitCode launch(const LaunchOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::string token = token_of_job(options.place, current_environment());
  Console console(options.out, options.err, options.terminal_width > 0);
  NoticeQueue notices;
  const std::unique_ptr<StoreServer> service = host_service(options, token, notices);
  Place place = options.place;
  if (service) place.master_port = service->port();
  say_where(place, console);
  StoreClient session(session_options(options, place, token, notices));
  for (const char* prefix :
       {"job/", kLostPrefix, kSilentPrefix, kPeerPrefix, kGivenUpPrefix, kDonePrefix}) {
    session.watch(prefix);
  }

  const SignalQueue signals;  // until here Ctrl-C just ends; now there is more to do
  StepBoard steps(place.local_ranks);
  const Briefing briefing = brief(options, place, token, steps);
  say_plan(options, place, briefing.cores, console);
  const auto start = [&](int local_rank) {
    return spawn(rank_options(options, briefing, local_rank, steps.file()));
  };
  Supervisor supervisor(place, {console, session, notices, steps, signals},
                        {.start = start, .again = options.restarts});
  supervisor.start_ranks();
  const ExitCode code = supervisor.run();
  session.leave();
  constexpr auto kToLeave = std::chrono::seconds(3);  // for the other nodes
  if (service) service->wait_until_all_left(kToLeave);
  return code;
}

}  // namespace convoy
