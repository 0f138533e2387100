// SPDX-License-Identifier: Apache-2.0
//
// What a supervisor does for workers of parameter servers: they may die, and come back.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "convoy/base/error.h"
#include "convoy/launch/supervisor.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr auto kPause = milliseconds(200);        // before a worker is started again
constexpr auto kForVerdict = milliseconds(2000);  // for the outcome on a lost server
constexpr auto kToFollow =
    milliseconds(5000);  // for workers, when the servers have ended

}  // namespace

bool Supervisor::is_worker(int number) const {
  return place_.servers > 0 && number >= place_.servers;
}

/// Whether the job is on its way to an end: nobody is started any more.
bool Supervisor::is_ending() const {
  return verdict_ || proposed_ || passed_on_ != 0 || follow_until_;
}

/// What becomes of it is decided a moment later: perhaps it died because its server did.
void Supervisor::judge_worker(Rank& dead) {
  if (is_ending()) return;
  switch (kind_of_worker(dead.status)) {
    case EndKind::done:
    case EndKind::stopped:
      return;
    case EndKind::deliberate:
      return propose({code_of(dead.status), describe(dead)});
    case EndKind::collateral:
      dead.restart_deadline = Steady::now() + kForVerdict;
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
                        "convoy: ", end + " and is given up; the others go on");
  }
  parts_.store.set(
      kGivenUpPrefix + role_name(place_, worker.number),
      end + " and is given up, as are all workers" + last_words(death_report(worker)));
}

/// As far as this node knows. If there are none, the outcome will say so.
bool Supervisor::has_other_workers() const {
  std::set<std::string> gone = given_up_;
  for (const Rank& rank : ranks_) {
    if (rank.given_up) gone.insert(role_name(place_, rank.number));
  }
  return static_cast<int>(gone.size()) < place_.workers();
}

/// The rendezvous has lost a worker whose process is still there: stopped, or stuck. It
/// makes room for one that works. The pid tells it from who may have taken its place.
void Supervisor::end_silent(int number, int pid) {
  const Rank* rank = find(number);
  if (!rank || rank->ended || rank->child.pid != pid || is_ending()) return;
  parts_.console.line(
      Stream::err, "convoy: ",
      fmt::format("{} (rank {}, pid {}) is silent{}; it is killed",
                  role_name(place_, number), number, pid, state_of(number)));
  ::kill(-pid, SIGKILL);
}

/// All launchers hear it in the same order: the last of all workers is the cause.
void Supervisor::take_given_up(const std::string& who, const std::string& end) {
  given_up_.insert(who);
  if (static_cast<int>(given_up_.size()) < place_.workers()) return;
  propose({ExitCode::rank_failed, end});
}

/// A server has ended well. When all have, so has the run.
void Supervisor::look_for_served() {
  const auto is_at_work = [&](const Rank& rank) {
    return !rank.ended && !is_worker(rank.number);
  };
  if (place_.servers == 0 || std::ranges::any_of(ranks_, is_at_work)) return;
  parts_.store.set(kServedKey, "");
  let_workers_follow();
}

void Supervisor::let_workers_follow() {
  if (!follow_until_) follow_until_ = Steady::now() + kToFollow;
}

void Supervisor::end_stragglers() {
  if (!follow_until_ || verdict_ || Steady::now() < *follow_until_) return;
  for (const Rank& rank : ranks_) {
    if (rank.ended) continue;
    parts_.console.line(
        Stream::err, "convoy: ",
        fmt::format("{} (rank {}, pid {}) does not end though the run "
                    "has; it is killed",
                    role_name(place_, rank.number), rank.number, rank.child.pid));
    ::kill(-rank.child.pid, SIGKILL);
  }
  follow_until_ = Steady::now() + kToFollow;  // once more, if the kernel keeps one
}

/// Values are the servers': what they have saved is what is left of the run.
std::string Supervisor::where_to_go_on() const {
  std::error_code none;
  const std::filesystem::path last = folder_ / "checkpoints" / "last";
  if (folder_.empty() || !std::filesystem::exists(last, none)) return "";
  return fmt::format("; the newest checkpoint is {}; train.resume={} goes on",
                     last.string(), folder_.string());
}

}  // namespace convoy
