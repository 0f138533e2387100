// SPDX-License-Identifier: Apache-2.0
//
// How a supervisor handles workers of parameter servers: they may die, and are restarted.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "convoy/base/error.h"
#include "convoy/launch/supervisor.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr auto kPause = milliseconds(200);         // before a worker is started again
constexpr auto kOutcomeWait = milliseconds(2000);  // of a lost server
constexpr auto kFollowGrace = milliseconds(5000);  // for workers, when servers have ended

}  // namespace

bool Supervisor::is_worker(int number) const {
  return place_.servers > 0 && number >= place_.servers;
}

/// Whether the job is about to end, so that no worker is restarted any more.
bool Supervisor::is_ending() const {
  return outcomes_.decided || outcomes_.proposed || passed_on_ != 0 || follow_until_;
}

/// Whether it is restarted is decided a moment later: its server may have died first.
void Supervisor::handle_worker_end(Rank& dead) {
  if (is_ending()) return;
  switch (kind_of_worker(dead.status)) {
    case EndKind::done:
    case EndKind::stopped:
      return;
    case EndKind::deliberate:
      return propose({code_of(dead.status), describe(dead)});
    case EndKind::collateral:
      dead.restart_deadline = Steady::now() + kOutcomeWait;
      return;
    case EndKind::failed:
      dead.restart_deadline = Steady::now() + kPause;
      return;
  }
}

void Supervisor::tend_workers() {
  const Steady::time_point now = Steady::now();
  for (Rank& rank : ranks_) {
    if (is_ending()) rank.restart_deadline.reset();
    if (!rank.restart_deadline || now < *rank.restart_deadline) continue;
    rank.restart_deadline.reset();
    restart_or_give_up(rank);
  }
  end_stragglers();
}

void Supervisor::restart_or_give_up(Rank& worker) {
  const std::string end = headline(death_report(worker));
  if (worker.restarts >= starts_.again) return give_up(worker, end);
  const int local_rank = worker.number - place_.rank;
  parts_.steps.step(local_rank).store(0);
  try {
    worker.child = starts_.start(local_rank);
  } catch (const InputError& error) {
    return give_up(worker,
                   fmt::format("{}, cannot be started again ({})", end, error.what()));
  }
  worker.ended = false;
  worker.status = 0;
  parts_.console.line(
      Stream::err, "convoy: ",
      fmt::format("{}; started again ({} of {})", end, ++worker.restarts, starts_.again));
}

void Supervisor::give_up(Rank& worker, const std::string& end) {
  worker.given_up = true;
  if (has_other_workers()) {
    parts_.console.line(Stream::err,
                        "convoy: ", end + " and is given up; the other workers continue");
  }
  const std::string tail = output_tail(death_report(worker));
  parts_.store.set(entry_of(
      WorkerGivenUp{worker.number, end + " and is given up, as are all workers" + tail}));
}

/// Whether any worker is left, as far as this node knows. If none is, that is the
/// outcome.
bool Supervisor::has_other_workers() const {
  std::set<int> gone = given_up_;
  for (const Rank& rank : ranks_) {
    if (rank.given_up) gone.insert(rank.number);
  }
  return static_cast<int>(gone.size()) < place_.workers();
}

/// The rendezvous has lost a worker whose process still exists: it is stopped or stuck.
/// The process is killed, so that another can replace it. The pid distinguishes it from
/// its successor.
void Supervisor::take(const RankSilent& event) {
  const Rank* rank = find(event.rank);
  if (!rank || rank->ended || rank->child.pid != event.pid || is_ending()) return;
  parts_.console.line(Stream::err, "convoy: ",
                      fmt::format("{} (rank {}, pid {}) is silent{}; it is killed",
                                  role_name(place_, event.rank), event.rank, event.pid,
                                  state_of(event.rank)));
  ::kill(-event.pid, SIGKILL);
}

/// All launchers get these events in the same order: the last worker that is given up is
/// the cause.
void Supervisor::take(const WorkerGivenUp& event) {
  given_up_.insert(event.rank);
  if (static_cast<int>(given_up_.size()) < place_.workers()) return;
  propose({ExitCode::rank_failed, event.end});
}

/// A server has ended successfully. When all have, the run has too.
void Supervisor::look_for_servers_done() {
  const auto is_at_work = [&](const Rank& rank) {
    return !rank.ended && !is_worker(rank.number);
  };
  if (place_.servers == 0 || std::ranges::any_of(ranks_, is_at_work)) return;
  parts_.store.set(entry_of(ServersDone{}));
  let_workers_follow();
}

void Supervisor::let_workers_follow() {
  if (!follow_until_) follow_until_ = Steady::now() + kFollowGrace;
}

void Supervisor::end_stragglers() {
  if (!follow_until_ || outcomes_.decided || Steady::now() < *follow_until_) return;
  for (const Rank& rank : ranks_) {
    if (rank.ended) continue;
    parts_.console.line(
        Stream::err, "convoy: ",
        fmt::format("{} (rank {}, pid {}) does not end though the run "
                    "has; it is killed",
                    role_name(place_, rank.number), rank.number, rank.child.pid));
    ::kill(-rank.child.pid, SIGKILL);
  }
  follow_until_ = Steady::now() + kFollowGrace;  // again, if the kernel keeps a process
}

/// The servers have the values, so their checkpoint is what remains of the run.
std::string Supervisor::how_to_resume() const {
  std::error_code none;
  const std::filesystem::path last = folder_ / "checkpoints" / "last";
  if (folder_.empty() || !std::filesystem::exists(last, none)) return "";
  return fmt::format("; the newest checkpoint is {}; resume with train.resume={}",
                     last.string(), folder_.string());
}

}  // namespace convoy
