// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/job_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/comm/connect.h"
#include "convoy/job/membership.h"
#include "convoy/job/own_cores.h"
#include "convoy/settings/settings_compare.h"

namespace convoy {
namespace {

constexpr auto kToEnd = std::chrono::seconds(4);  // for a rank, when the job has failed

/// Prints it once per process.
void print_outcome(const JobOutcome& outcome) {
  static std::atomic_flag said;
  if (!said.test_and_set()) {
    fmt::print(stderr, "convoy: {}\n", printable(outcome.text));
  }
}

/// For ranks that have no launcher: a thread that is stuck does not keep the process.
void end_soon(const JobOutcome& outcome) {
  std::thread([outcome] {
    std::this_thread::sleep_for(kToEnd);
    print_outcome(outcome);
    ::_exit(static_cast<int>(outcome.code));
  }).detach();
}

MembershipOptions membership_options(const Settings& settings) {
  return {.join = {.compared = compared_settings(settings),
                   .timeout = milliseconds_of(settings.cluster.timeout),
                   .silence = milliseconds_of(settings.cluster.operation_timeout),
                   .shared_folder = settings.run.dir},
          .log =
              [](const std::string& line) {
                fmt::print(stderr, "convoy: rendezvous: {}\n", printable(line));
              },
          .on_outcome = end_soon};
}

std::string own_address(const JobPlacement& placement) {
  const bool here = placement.one_machine() || is_loopback(placement.master_address);
  return here ? "127.0.0.1" : local_address_towards(placement.master_address);
}

/// To the other ranks, or of a server to the other servers.
std::unique_ptr<Comm> connect_rank(const Settings& settings,
                                   const JobPlacement& placement, KeyValueStore& store) {
  const bool has_servers = placement.servers > 0;
  // Servers wait for workers meanwhile: the one that misses a worker is the first to
  // report it.
  const double patience = settings.cluster.operation_timeout * (has_servers ? 2 : 1);
  // Nodes of one machine, in namespaces, count as hosts. Servers that our launcher has
  // started are all on node 0.
  const bool together = placement.nodes == 1 ||
                        (has_servers && placement.launcher_kind == LauncherKind::convoy);
  return connect({.rank = placement.rank,
                  .ranks = has_servers ? placement.servers : placement.ranks,
                  .timeout = milliseconds_of(patience),
                  .address = own_address(placement),
                  .transport = together ? Transport::automatic : Transport::tcp},
                 store);
}

using MemberWork = std::function<ExitCode(const Settings&, Membership&)>;

ExitCode join(Settings settings, const JobPlacement& placement, const MemberWork& work) {
  const Environment environment = current_environment();
  const MembershipOptions options = membership_options(settings);
  const int threads = take_cores(placement, environment, settings.cluster.pin);
  if (settings.cluster.threads == 0) settings.cluster.threads = threads;
  Membership job(placement, environment, options);
  try {
    return work(settings, job);
  } catch (const PeerError& error) {
    const std::optional<JobOutcome> outcome = job.report_peer_failure(error);
    if (!outcome) throw;
    if (placement.launcher_kind != LauncherKind::convoy) print_outcome(*outcome);
    return outcome->code;
  } catch (const InputError& error) {
    if (job.is_first_to_say(error.what())) throw;
    return exit_code(error.kind());
  }
}

}  // namespace

ExitCode join_and_work(const Settings& settings, const JobPlacement& placement,
                       const RankWork& work) {
  check(placement.servers == 0, "ranks of a job without servers are all alike");
  return join(settings, placement, [&](const Settings& own, Membership& job) {
    const std::unique_ptr<Comm> comm = connect_rank(own, placement, job.store());
    return work(own, *comm, job);
  });
}

ExitCode join_and_serve(const Settings& settings, const JobPlacement& placement,
                        const ServeWork& work) {
  check(placement.is_server(), "a server serves");
  return join(settings, placement, [&](const Settings& own, Membership& job) {
    const std::unique_ptr<Comm> servers = connect_rank(own, placement, job.store());
    return work(own, *servers, job, listen_on(own_address(placement), 0));
  });
}

ExitCode join_and_push(const Settings& settings, const JobPlacement& placement,
                       const PushWork& work) {
  check(placement.servers > 0 && !placement.is_server(), "a worker pushes");
  return join(settings, placement, work);
}

}  // namespace convoy
