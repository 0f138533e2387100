// SPDX-License-Identifier: Apache-2.0

#include "apps/rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

#include "convoy/base/error.h"
#include "convoy/comm/connect.h"
#include "convoy/comm/socket.h"
#include "convoy/launch/membership.h"
#include "convoy/launch/own_cores.h"
#include "convoy/train/settings_compare.h"

namespace convoy {
namespace {

constexpr auto kToEnd = std::chrono::seconds(4);  // by oneself, when the job has failed

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<long>(seconds * 1e3));
}

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
          .join_timeout = milliseconds(settings.cluster.timeout),
          .silence = milliseconds(settings.cluster.operation_timeout),
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

std::unique_ptr<Comm> connect_rank(const Settings& settings, const Place& place,
                                   KeyValueStore& store) {
  return connect(
      {.rank = place.rank,
       .ranks = place.ranks,
       .timeout = milliseconds(settings.cluster.operation_timeout),
       .address = own_address(place),
       // Nodes of one machine, in namespaces, are to be told apart as hosts are.
       .transport = place.nodes == 1 ? Transport::automatic : Transport::tcp},
      store);
}

}  // namespace

ExitCode join_and_work(Settings settings, const Place& place, const RankWork& work) {
  const Environment environment = current_environment();
  const MembershipOptions options = membership_options(settings);
  const int threads = take_cores(place, environment, settings.cluster.pin);
  if (settings.cluster.threads == 0) settings.cluster.threads = threads;
  Membership job(place, environment, options);
  try {
    const std::unique_ptr<Comm> comm = connect_rank(settings, place, job.store());
    return work(settings, *comm, job);
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

ExitCode join_and_train(const Settings& settings, const Place& place,
                        const TrainingView& view) {
  // Our own launcher has printed its plan; of others this is the place for it.
  const bool by_others = place.starter != Starter::convoy && place.rank == 0;
  if (by_others && view.mode == ConsoleMode::normal) {
    fmt::print("launch    {}\n", describe(place));
  }
  const auto work = [&](const Settings& own, Comm& comm, Membership& job) {
    TrainingView told = view;
    told.on_folder = [&](const std::filesystem::path& path) {
      job.store().set(kRunFolderKey, path.string());
    };
    told.on_step = [&](std::size_t step) { job.at_step(step); };
    return run_training(own, comm, told);
  };
  return join_and_work(settings, place, work);
}

}  // namespace convoy
