// SPDX-License-Identifier: Apache-2.0

#include "apps/join.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/connect.h"
#include "convoy/launch/membership.h"
#include "convoy/launch/own_cores.h"
#include "convoy/train/settings_compare.h"

namespace convoy {
namespace {

constexpr auto kToEnd = std::chrono::seconds(4);  // by oneself, when the job has failed

/// Says it once, whoever comes first.
void say_verdict(const Verdict& verdict) {
  static std::atomic_flag said;
  if (!said.test_and_set()) fmt::print(stderr, "convoy: {}\n", verdict.text);
}

/// For ranks that have no launcher: a thread that is stuck does not keep the process.
void end_soon(const Verdict& verdict) {
  std::thread([verdict] {
    std::this_thread::sleep_for(kToEnd);
    say_verdict(verdict);
    ::_exit(static_cast<int>(verdict.code));
  }).detach();
}

MembershipOptions membership_options(const Settings& settings) {
  return {.compared = compared_settings(settings),
          .join_timeout = milliseconds_of(settings.cluster.timeout),
          .silence = milliseconds_of(settings.cluster.operation_timeout),
          .log =
              [](const std::string& line) {
                fmt::print(stderr, "convoy: rendezvous: {}\n", line);
              },
          .on_verdict = end_soon};
}

std::string own_address(const Place& place) {
  const bool here = place.one_machine() || is_loopback(place.master_address);
  return here ? "127.0.0.1" : local_address_towards(place.master_address);
}

/// To the other ranks, or of a server to the other servers.
std::unique_ptr<Comm> connect_rank(const Settings& settings, const Place& place,
                                   KeyValueStore& store) {
  const bool has_servers = place.servers > 0;
  // Servers wait for workers meanwhile: who misses one is the first to complain.
  const double patience = settings.cluster.operation_timeout * (has_servers ? 2 : 1);
  // Nodes of one machine, in namespaces, are to be told apart as hosts are. Servers that
  // we have started are all on node 0.
  const bool together =
      place.nodes == 1 || (has_servers && place.starter == Starter::convoy);
  return connect({.rank = place.rank,
                  .ranks = has_servers ? place.servers : place.ranks,
                  .timeout = milliseconds_of(patience),
                  .address = own_address(place),
                  .transport = together ? Transport::automatic : Transport::tcp},
                 store);
}

using MemberWork = std::function<ExitCode(const Settings&, Membership&)>;

ExitCode join(Settings settings, const Place& place, const MemberWork& work) {
  const Environment environment = current_environment();
  const MembershipOptions options = membership_options(settings);
  const int threads = take_cores(place, environment, settings.cluster.pin);
  if (settings.cluster.threads == 0) settings.cluster.threads = threads;
  Membership job(place, environment, options);
  try {
    return work(settings, job);
  } catch (const PeerError& error) {
    const std::optional<Verdict> verdict = job.complain(error);
    if (!verdict) throw;
    if (place.starter != Starter::convoy) say_verdict(*verdict);
    return verdict->code;
  } catch (const InputError& error) {
    if (job.is_first_to_say(error.what())) throw;
    return exit_code(error.kind());
  }
}

}  // namespace

ExitCode join_and_work(const Settings& settings, const Place& place,
                       const RankWork& work) {
  check(place.servers == 0, "ranks of a job without servers are all alike");
  return join(settings, place, [&](const Settings& own, Membership& job) {
    const std::unique_ptr<Comm> comm = connect_rank(own, place, job.store());
    return work(own, *comm, job);
  });
}

ExitCode join_and_serve(const Settings& settings, const Place& place,
                        const ServeWork& work) {
  check(place.is_server(), "a server serves");
  return join(settings, place, [&](const Settings& own, Membership& job) {
    const std::unique_ptr<Comm> servers = connect_rank(own, place, job.store());
    return work(own, *servers, job, listen_on(own_address(place), 0));
  });
}

ExitCode join_and_push(const Settings& settings, const Place& place,
                       const PushWork& work) {
  check(place.servers > 0 && !place.is_server(), "a worker pushes");
  return join(settings, place, work);
}

}  // namespace convoy
