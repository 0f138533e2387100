// SPDX-License-Identifier: Apache-2.0
//
// join_probe: a job of parameter servers and workers that exchange a byte, for tests of
// how they come together.
//
//   join_probe SERVERS WORKERS [die]
//
// Each server says where it listens, and ends when every worker has sent it its number.
// Workers send it to all servers. With `die` the first worker 1 kills itself in between;
// the one in its place then does what is left.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <set>
#include <string>

#include "convoy/base/error.h"
#include "convoy/job/membership.h"
#include "convoy/launch/launcher.h"
#include "convoy/ps_transport/server_addresses.h"
#include "convoy/run/job_session.h"

namespace convoy {
namespace {

struct Arguments {
  int servers = 1, workers = 1;
  bool die = false;
};

/// None if it died before it said one.
std::optional<int> take_number(const Listener& listener) {
  pollfd wait{listener.socket.get(), POLLIN, 0};
  ::poll(&wait, 1, -1);
  const Descriptor socket(::accept(listener.socket.get(), nullptr, nullptr));
  char number = 0;
  if (::recv(socket.get(), &number, 1, 0) != 1) return std::nullopt;
  return number;
}

ExitCode serve(const JobPlacement& placement, Comm& servers, Membership& job,
               Listener listener) {
  publish_server(job.store(), placement.rank,
                 {.host = listener.address, .port = listener.port});
  std::set<int> heard;
  while (static_cast<int>(heard.size()) < placement.workers()) {
    if (const auto number = take_number(listener)) heard.insert(*number);
  }
  const bool sound = *heard.begin() == 0 && *heard.rbegin() == placement.workers() - 1;
  std::printf("server %d of %d heard of %zu workers%s\n", servers.rank(), servers.ranks(),
              heard.size(), sound ? "" : ", wrong ones");
  return sound ? ExitCode::done : ExitCode::bug;
}

void send_number(const ServerAddress& server, int worker) {
  const Descriptor socket =
      connect_to({server.host, server.port},
                 std::chrono::steady_clock::now() + std::chrono::seconds(10));
  const char number = static_cast<char>(worker);
  if (::send(socket.get(), &number, 1, MSG_NOSIGNAL) != 1) throw PeerError(0, "no send");
}

ExitCode push(const Arguments& arguments, const JobPlacement& placement, Membership& job,
              const std::vector<ServerAddress>& servers) {
  const bool first_life = text_of(job.store().claim(
                              "first/" + std::to_string(placement.rank),
                              std::to_string(::getpid()))) == std::to_string(::getpid());
  for (const ServerAddress& server : servers) {
    if (arguments.die && first_life && placement.worker() == 1)
      ::kill(::getpid(), SIGKILL);
    send_number(server, placement.worker());
  }
  std::printf("knows %zu servers, token of %zu\n", servers.size(), job.token().size());
  return ExitCode::done;
}

JobCallbacks callbacks() {
  return {.warn =
              [](const std::string& text) {
                std::fprintf(stderr, "convoy: %s\n", text.c_str());
              },
          .end_process = [](ExitCode code) { ::_exit(static_cast<int>(code)); }};
}

Settings quick_settings() {
  Settings settings;
  settings.cluster.timeout = 20;
  settings.cluster.operation_timeout = 20;
  return settings;
}

ExitCode run(const Arguments& arguments, const std::vector<std::string>& words) {
  const JobPlacement placement =
      find_placement({.nproc_per_node = arguments.workers, .servers = arguments.servers},
                     current_environment());
  if (placement.role == ProcessRole::launch) {
    return launch(
        {.placement = placement, .arguments = words, .settings = "", .restarts = 3});
  }
  if (placement.is_server()) {
    return join_and_serve(
        quick_settings(), placement, callbacks(),
        [&](const Settings&, Comm& servers, Membership& job, Listener listener) {
          return serve(placement, servers, job, std::move(listener));
        });
  }
  return join_and_push(
      quick_settings(), placement, callbacks(), [&](const Settings&, Membership& job) {
        return push(
            arguments, placement, job,
            find_servers(job.store(), placement.servers, std::chrono::seconds(20)));
      });
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) {
  using namespace convoy;
  if (argc < 3) return 2;
  try {
    return static_cast<int>(run(
        {.servers = std::stoi(argv[1]), .workers = std::stoi(argv[2]), .die = argc > 3},
        {argv, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
