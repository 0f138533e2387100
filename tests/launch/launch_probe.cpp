// SPDX-License-Identifier: Apache-2.0
//
// launch_probe: a program that launches itself, for tests of the launcher.
//
//   launch_probe -n RANKS [--nnodes N --node-rank I --master-port P]
//                [--servers N --restarts N] [--shared FOLDER] BEHAVIOUR...
//
// Each rank joins its job and then does what the behaviours say, in order:
//
//   say:TEXT             prints TEXT to stdout
//   complain:TEXT        prints TEXT to stderr
//   step:N               notes that it is at step N
//   RANK:exit:CODE       that rank ends with this code; all others sleep
//   RANK:signal:NUMBER   that rank kills itself; all others sleep
//   RANK:lost:PEER       that rank reports that PEER does not answer
//   workers:exit:CODE    the same for all workers, as for one rank; servers sleep
//   servers:exit:CODE    the same for all servers; workers sleep
//   folder:PATH          rank 0 publishes the run's folder
//   sleep                sleeps; SIGTERM, SIGINT and SIGUSR1 end it with code 75
//   stubborn             sleeps, whatever comes
//   unready              sleeps and has no handlers yet
//   exit:CODE            ends with this code
//   nobody               does not join, and sleeps

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/job/membership.h"
#include "convoy/launch/launcher.h"

namespace convoy {
namespace {

using Words = std::vector<std::string>;

struct Arguments {
  PlacementRequest placement;
  double timeout = 20, silence = 20;
  int restarts = 3;
  std::string compared = "model=probe\n";
  std::string shared;  // folder
  Words behaviours;

  JoinOptions join() const {
    return {compared, milliseconds_of(timeout), milliseconds_of(silence), shared};
  }
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : ""; };
    if (word == "-n") {
      arguments.placement.nproc_per_node = std::stoi(value());
    } else if (word == "--nnodes") {
      arguments.placement.nnodes = std::stoi(value());
    } else if (word == "--node-rank") {
      arguments.placement.node_rank = std::stoi(value());
    } else if (word == "--master-port") {
      arguments.placement.master_port = std::stoi(value());
      arguments.placement.master_addr = "127.0.0.1";
    } else if (word == "--servers") {
      arguments.placement.servers = std::stoi(value());
    } else if (word == "--restarts") {
      arguments.restarts = std::stoi(value());
    } else if (word == "--timeout") {
      arguments.timeout = std::stod(value());
    } else if (word == "--silence") {
      arguments.silence = std::stod(value());
    } else if (word == "--shared") {
      arguments.shared = value();
    } else if (word == "--settings") {
      arguments.compared = value() + "\n";
    } else {
      arguments.behaviours.push_back(word);
    }
  }
  return arguments;
}

void sleep_until_told() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    ::signal(signal, [](int) { ::_exit(75); });
  }
  std::puts("sleeping");
  std::fflush(stdout);
  for (;;) ::pause();
}

void sleep_whatever_comes() {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) ::signal(signal, SIG_IGN);
  std::puts("sleeping");
  std::fflush(stdout);
  for (;;) ::pause();
}

/// "2:exit:65" as "2", "exit", "65"; for everybody without a "2:".
struct Behaviour {
  std::string who, what, detail;

  bool is_for(const JobPlacement& placement) const {
    if (who.empty()) return true;
    if (who == "workers") return !placement.is_server();
    if (who == "servers") return placement.is_server();
    return std::stoi(who) == placement.rank;
  }
};

Behaviour parse_behaviour(std::string text) {
  Behaviour behaviour;
  const bool is_rank = !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (is_rank || text.starts_with("workers:") || text.starts_with("servers:")) {
    behaviour.who = text.substr(0, text.find(':'));
    text.erase(0, text.find(':') + 1);
  }
  const std::size_t colon = text.find(':');
  behaviour.what = text.substr(0, colon);
  if (colon != std::string::npos) behaviour.detail = text.substr(colon + 1);
  return behaviour;
}

void print(std::FILE* file, const std::string& text) {
  std::fprintf(file, "%s\n", text.c_str());
  std::fflush(file);
}

/// The code to end with, if it is time to.
std::optional<int> behave(const Behaviour& behaviour, const JobPlacement& placement,
                          Membership& job) {
  const auto& [who, what, detail] = behaviour;
  if (what == "say") print(stdout, detail);
  if (what == "complain") print(stderr, detail);
  if (what == "step") job.at_step(std::stoull(detail));
  if (what == "folder" && placement.rank == 0) {
    job.store().set(entry_of(RunStarted{detail}));
  }
  if (what == "sleep" || !behaviour.is_for(placement)) sleep_until_told();
  if (what == "stubborn") sleep_whatever_comes();
  if (what == "unready") {
    print(stdout, "sleeping");
    for (;;) ::pause();
  }
  if (what == "exit") return std::stoi(detail);
  if (what == "signal") ::kill(::getpid(), std::stoi(detail));
  if (what == "lost") {
    const auto outcome =
        job.report_peer_failure(PeerError(std::stoi(detail), "nothing came"));
    return outcome ? static_cast<int>(outcome->code) : 69;
  }
  return std::nullopt;
}

int run_rank(const Arguments& arguments, const JobPlacement& placement) {
  if (arguments.behaviours.front() == "nobody") {
    for (;;) ::pause();
  }
  Membership job(placement, current_environment(),
                 {.join = arguments.join(),
                  .log = [](const std::string& line) { print(stderr, line); },
                  .on_outcome =
                      [](const JobOutcome& outcome) {
                        print(stderr, outcome.text);
                        ::_exit(static_cast<int>(outcome.code));
                      }});
  for (const std::string& text : arguments.behaviours) {
    if (const auto code = behave(parse_behaviour(text), placement, job)) return *code;
  }
  return 0;
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const JobPlacement placement =
      find_placement(arguments.placement, current_environment());
  if (placement.role != ProcessRole::launch) return run_rank(arguments, placement);
  return static_cast<int>(launch({.placement = placement,
                                  .arguments = Words(argv, argv + argc),
                                  .settings = "",
                                  .join = arguments.join(),
                                  .restarts = arguments.restarts}));
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) {
  using namespace convoy;
  try {
    return run(argc, argv);
  } catch (const InputError& error) {
    print(stderr, error.what());
    return static_cast<int>(exit_code(error.kind()));
  } catch (const PeerError& error) {
    print(stderr, error.what());
    return static_cast<int>(ExitCode::peer_unreachable);
  }
}
