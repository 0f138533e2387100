// SPDX-License-Identifier: Apache-2.0

#include "convoy/run/job_session.h"

#include <atomic>
#include <memory>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/connect.h"
#include "convoy/job/membership.h"
#include "convoy/job/own_cores.h"
#include "convoy/settings/settings_compare.h"

namespace convoy {
namespace {

constexpr auto kEndGrace =
    std::chrono::seconds(4);  // for a rank, when the job has failed

/// Reports the outcome of a job, once.
class OutcomeReport {
 public:
  explicit OutcomeReport(const JobCallbacks& callbacks) : callbacks_(callbacks) {}

  void report(const JobOutcome& outcome) {
    if (!reported_.test_and_set()) callbacks_.warn(outcome.text);
  }

  void end_process(const JobOutcome& outcome) {
    report(outcome);
    callbacks_.end_process(outcome.code);
  }

 private:
  const JobCallbacks callbacks_;
  std::atomic_flag reported_;
};

/// For ranks without a launcher: a stuck thread must not keep the process alive. The
/// thread may outlive the session.
void end_soon(const std::shared_ptr<OutcomeReport>& report, const JobOutcome& outcome) {
  std::thread([report, outcome] {
    std::this_thread::sleep_for(kEndGrace);
    report->end_process(outcome);
  }).detach();
}

MembershipOptions membership_options(const Settings& settings,
                                     const JobCallbacks& callbacks,
                                     const std::shared_ptr<OutcomeReport>& report) {
  return {
      .join = {.compared = compared_settings(settings),
               .timeout = milliseconds_of(settings.cluster.timeout),
               .silence = milliseconds_of(settings.cluster.operation_timeout),
               .shared_folder = settings.run.dir},
      .log = [warn = callbacks.warn](
                 const std::string& line) { warn("rendezvous: " + line); },
      .on_outcome = [report](const JobOutcome& outcome) { end_soon(report, outcome); }};
}

std::string own_address(const JobPlacement& placement) {
  const bool here = placement.one_machine() || is_loopback(placement.master_address);
  return here ? "127.0.0.1" : local_address_towards(placement.master_address);
}

/// Connects to the other ranks; a server connects to the other servers.
std::unique_ptr<Comm> connect_rank(const Settings& settings,
                                   const JobPlacement& placement, KeyValueStore& store) {
  const bool has_servers = placement.servers > 0;
  // Servers wait for workers meanwhile; the server that misses a worker must report it
  // first.
  const double patience = settings.cluster.operation_timeout * (has_servers ? 2 : 1);
  // Nodes on one machine, in namespaces, count as separate machines. convoy's launcher
  // starts all servers on node 0.
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

ExitCode join(Settings settings, const JobPlacement& placement,
              const JobCallbacks& callbacks, const MemberWork& work) {
  const Environment environment = current_environment();
  const auto report = std::make_shared<OutcomeReport>(callbacks);
  const MembershipOptions options = membership_options(settings, callbacks, report);
  const int threads = take_cores(placement, environment, settings.cluster.pin);
  if (settings.cluster.threads == 0) settings.cluster.threads = threads;
  Membership job(placement, environment, options);
  try {
    return work(settings, job);
  } catch (const PeerError& error) {
    const std::optional<JobOutcome> outcome = job.report_peer_failure(error);
    if (!outcome) throw;
    if (placement.launcher_kind != LauncherKind::convoy) report->report(*outcome);
    return outcome->code;
  } catch (const InputError& error) {
    if (job.is_first_to_report(error.what())) throw;
    return exit_code(error.kind());
  }
}

}  // namespace

ExitCode join_and_work(const Settings& settings, const JobPlacement& placement,
                       const JobCallbacks& callbacks, const RankWork& work) {
  check(placement.servers == 0, "the job has no servers");
  return join(settings, placement, callbacks, [&](const Settings& own, Membership& job) {
    const std::unique_ptr<Comm> comm = connect_rank(own, placement, job.store());
    return work(own, *comm, job);
  });
}

ExitCode join_and_serve(const Settings& settings, const JobPlacement& placement,
                        const JobCallbacks& callbacks, const ServeWork& work) {
  check(placement.is_server(), "this rank is a server");
  return join(settings, placement, callbacks, [&](const Settings& own, Membership& job) {
    const std::unique_ptr<Comm> servers = connect_rank(own, placement, job.store());
    return work(own, *servers, job, listen_on(own_address(placement), 0));
  });
}

ExitCode join_and_push(const Settings& settings, const JobPlacement& placement,
                       const JobCallbacks& callbacks, const PushWork& work) {
  check(placement.servers > 0 && !placement.is_server(), "this rank is a worker");
  return join(settings, placement, callbacks, work);
}

}  // namespace convoy
