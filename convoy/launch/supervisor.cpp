// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "convoy/system/host_name.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr int kTickMilliseconds = 100;  // how late a deadline may be noticed
// No more than five seconds may pass from a death to the end of the job's last process.
constexpr auto kGrace = milliseconds(1500);      // to close files
constexpr auto kLongGrace = milliseconds(4000);  // to end by itself in the same way
constexpr auto kAnswer = milliseconds(1000);     // for the store to confirm an outcome
constexpr auto kPatience = milliseconds(2000);   // for the cause behind a lost peer
constexpr auto kLastWait = milliseconds(2000);   // for a process to be gone after SIGKILL
constexpr std::size_t kLinesShown = 15;

bool is_deliberate(ExitCode code) {
  return code != ExitCode::rank_failed && code != ExitCode::peer_unreachable &&
         code != ExitCode::interrupted_twice;
}

}  // namespace

Supervisor::Supervisor(const JobPlacement& placement, const SupervisorParts& parts,
                       RankStarts starts)
    : place_(placement), parts_(parts), starts_(std::move(starts)) {}

void Supervisor::start_ranks() {
  for (int i = 0; i < place_.local_ranks; ++i) {
    const int number = place_.rank + i;
    ranks_.push_back(
        {.number = number,
         .child = starts_.start(i),
         .output = RankOutput(number, parts_.console, role_name(place_, number))});
  }
}

ExitCode Supervisor::run() {
  while (!is_over()) {
    wait();
    read_output();
    take_signals();
    take_events();  // before the dead ranks: what they published belongs to their reports
    reap();
    handle_missing_outcome();
    tend_workers();
    judge_all_ended();
    enforce();
  }
  return conclude();
}

void Supervisor::wait() const {
  std::vector<pollfd> polled{{parts_.signals.file(), POLLIN, 0},
                             {parts_.events.file(), POLLIN, 0}};
  for (const Rank& rank : ranks_) {
    if (!rank.ended) polled.push_back({rank.child.process.get(), POLLIN, 0});
    for (const Descriptor* stream : {&rank.child.out, &rank.child.err}) {
      if (*stream) polled.push_back({stream->get(), POLLIN, 0});
    }
  }
  ::poll(polled.data(), polled.size(), kTickMilliseconds);
}

void Supervisor::read_output() {
  for (Rank& rank : ranks_) {
    Child& child = rank.child;
    if (child.out && !rank.output.read(Stream::out, child.out.get())) child.out.reset();
    if (child.err && !rank.output.read(Stream::err, child.err.get())) child.err.reset();
  }
}

void Supervisor::reap() {
  for (Rank& rank : ranks_) {
    int status = 0;
    if (!rank.ended && ::waitpid(rank.child.pid, &status, WNOHANG) == rank.child.pid) {
      end(rank, status);
    }
  }
}

void Supervisor::end(Rank& rank, int status) {
  ::kill(-rank.child.pid, SIGKILL);  // and processes that it may have started
  read_output();                     // its last lines
  rank.output.finish();
  rank.child.out.reset();
  rank.child.err.reset();
  rank.ended = true;
  rank.status = status;
  handle_end(rank);
}

void Supervisor::take_signals() {
  while (const auto signal = parts_.signals.next()) {
    const int meant = *signal == SIGHUP ? SIGTERM : *signal;
    if (meant != SIGUSR1 && ++requests_ >= 2) {
      const JobOutcome outcome{ExitCode::interrupted_twice, "interrupted twice"};
      propose(outcome);
      stop_all(outcome, milliseconds(0));
    } else {
      parts_.store.propose(entry_of(StopSignal{meant}));
      pass_on(meant);
    }
  }
}

void Supervisor::take_events() {
  for (const JobEvent& event : parts_.events.take_all()) {
    std::visit([this](const auto& one) { take(one); }, event);
  }
}

void Supervisor::take(const JobFailed& event) {
  stop_all(event.outcome, is_deliberate(event.outcome.code) ? kLongGrace : kGrace);
}

void Supervisor::take(const RunStarted& event) {
  folder_ = event.folder;
  for (Rank& rank : ranks_) rank.output.log_to(folder_ / "logs");
}

void Supervisor::take(const ServiceLost& event) {
  stop_all({ExitCode::peer_unreachable, lost_node(0, event.why)}, kGrace);
}

void Supervisor::take(const ServiceLine& event) {
  parts_.console.line(Stream::err, "convoy: rendezvous: ", event.text);
}

/// All nodes have equally many ranks; node 0 has the servers in addition.
std::string Supervisor::lost_node(int node, const std::string& why) const {
  const int alike = place_.workers() / place_.nodes;
  const int first = node == 0 ? 0 : place_.servers + node * alike;
  const int last = place_.servers + (node + 1) * alike - 1;
  const std::string ranks = first == last ? fmt::format("rank {}", first)
                                          : fmt::format("ranks {} to {}", first, last);
  return fmt::format("lost node {} with {}: {}", node, ranks, why);
}

/// The death of a rank is reported by its own launcher; this handles losses that it
/// cannot see.
void Supervisor::take(const SessionLost& event) {
  if (event.kind == PeerKind::launcher) {
    propose({ExitCode::peer_unreachable, lost_node(event.number, event.text)});
  } else if (event.silent && find(event.number)) {
    propose({ExitCode::rank_failed, event.text + state_of(event.number)});
  }
}

/// The launcher of the rank that does not answer can see its process, so it decides
/// first.
void Supervisor::take(const PeerReported& event) {
  // A worker that lost its server may itself be the cause, and will be restarted.
  if (outcomes_.suspected || is_worker(event.from)) return;
  outcomes_.suspected =
      JobOutcome{ExitCode::rank_failed,
                 fmt::format("rank {} does not answer rank {}: {}{}", event.rank,
                             event.from, event.error, state_of(event.rank))};
  const auto patience = find(event.rank) ? kPatience : 2 * kPatience;
  outcomes_.suspect_at = Steady::now() + patience;
}

void Supervisor::handle_end(Rank& dead) {
  if (is_worker(dead.number)) return handle_worker_end(dead);
  handle_peer_failure(dead);
}

/// Handles the end of a rank that the others need.
void Supervisor::handle_peer_failure(const Rank& dead) {
  switch (kind_of(dead.status)) {
    case EndKind::done:
    case EndKind::stopped:
      return look_for_servers_done();
    case EndKind::collateral:
      if (outcomes_.suspected) return;
      outcomes_.suspected = JobOutcome{ExitCode::peer_unreachable, describe(dead)};
      outcomes_.suspect_at = Steady::now() + kPatience;
      return;
    case EndKind::deliberate:
      return propose({code_of(dead.status), describe(dead)});
    case EndKind::failed:
      const bool by_us = WIFSIGNALED(dead.status) && WTERMSIG(dead.status) == passed_on_;
      return propose(by_us ? JobOutcome{ExitCode::stopped,
                                        fmt::format("stopped by {} before training began",
                                                    signal_name(passed_on_))}
                           : JobOutcome{ExitCode::rank_failed, describe(dead)});
  }
}

/// The decision that is made when the deadline passes.
void Supervisor::handle_missing_outcome() {
  const Steady::time_point now = Steady::now();
  if (outcomes_.suspected && now >= outcomes_.suspect_at) propose(*outcomes_.suspected);
  if (outcomes_.proposed && !outcomes_.decided && now >= outcomes_.propose_until)
    stop_all(*outcomes_.proposed, kGrace);
}

void Supervisor::judge_all_ended() {
  if (!all_ended() || outcomes_.decided || outcomes_.proposed || reported_done_) return;
  if (outcomes_.suspected) return propose(*outcomes_.suspected);
  ExitCode code = ExitCode::done;
  for (const Rank& rank : ranks_) {
    if (rank.status != 0 && !is_worker(rank.number)) code = code_of(rank.status);
  }
  parts_.store.set(entry_of(NodeDone{place_.node, code}));
  reported_done_ = true;
}

void Supervisor::propose(const JobOutcome& outcome) {
  if (outcomes_.proposed || outcomes_.decided) return;
  outcomes_.proposed = outcome;
  outcomes_.propose_until = Steady::now() + kAnswer;
  parts_.store.propose(entry_of(JobFailed{outcome}));
}

void Supervisor::stop_all(const JobOutcome& outcome, milliseconds grace) {
  if (!outcomes_.decided) {
    outcomes_.decided = outcome;
    outcomes_.kill_at = Steady::now() + grace;
    // From here on, other ranks only report consequences of the outcome.
    if (!is_deliberate(outcome.code)) parts_.console.close();
  } else if (outcome.code == ExitCode::interrupted_twice) {
    outcomes_.kill_at = Steady::now();
  }
}

void Supervisor::enforce() {
  if (!outcomes_.decided || outcomes_.killed || Steady::now() < outcomes_.kill_at) return;
  kill_all(SIGKILL);
  outcomes_.killed = true;
  outcomes_.give_up_at = Steady::now() + kLastWait;
}

void Supervisor::pass_on(int signal) {
  if (passed_on_ == signal) return;
  passed_on_ = signal;
  kill_all(signal);
}

void Supervisor::kill_all(int signal) {
  for (const Rank& rank : ranks_) {
    if (!rank.ended) ::kill(-rank.child.pid, signal);
  }
}

bool Supervisor::all_ended() const {
  return std::ranges::all_of(
      ranks_, [](const Rank& rank) { return rank.ended && !rank.restart_deadline; });
}

bool Supervisor::is_over() const {
  if (outcomes_.decided)
    return all_ended() || (outcomes_.killed && Steady::now() >= outcomes_.give_up_at);
  return all_ended() && static_cast<int>(done_.size()) == place_.nodes;
}

Supervisor::Rank* Supervisor::find(int number) {
  const auto rank = std::ranges::find(ranks_, number, &Rank::number);
  return rank == ranks_.end() ? nullptr : &*rank;
}

DeathReport Supervisor::death_report(const Rank& dead) const {
  const bool by_the_system = WIFSIGNALED(dead.status) &&
                             WTERMSIG(dead.status) == SIGKILL && memory_.has_struck();
  // A rank that ended deliberately has printed why; only the other nodes have not seen
  // it.
  const bool show_lines = kind_of(dead.status) == EndKind::failed || place_.nodes > 1;
  const std::string role = role_name(place_, dead.number);
  return {
      .rank = dead.number,
      .pid = dead.child.pid,
      .host = host_name(),
      .role = place_.servers == 0      ? ""
              : is_worker(dead.number) ? role
                                       : "parameter " + role,
      .how = describe_end(dead.status),
      .why = by_the_system
                 ? "out of memory: fewer ranks or a smaller train.batch_size need less"
                 : "",
      .step = parts_.steps.step(dead.number - place_.rank).load(),
      .last_lines = dead.output.last_lines(show_lines ? kLinesShown : 0),
      .log = folder_.empty()
                 ? ""
                 : (folder_ / "logs" / fmt::format("rank-{}.log", dead.number)).string()};
}

std::string Supervisor::describe(const Rank& dead) const {
  const DeathReport report = death_report(dead);
  const std::string more = dead.number < place_.servers ? how_to_resume() : std::string();
  return headline(report) + more + output_tail(report);
}

/// Returns what the system says about a rank of this node that does not answer.
std::string Supervisor::state_of(int number) {
  const Rank* rank = find(number);
  if (!rank || rank->ended) return "";
  std::ifstream file(fmt::format("/proc/{}/stat", rank->child.pid));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= text.size()) return "";
  const char state = text[name_end + 2];
  if (state == 'T' || state == 't') return "; its process is stopped (SIGSTOP)";
  if (state == 'D') return "; its process waits for a disk or the network (state D)";
  return "";
}

/// Whether all ranks here ended by themselves with the outcome's exit code and have
/// printed its text. In a job with servers, only the servers count.
bool Supervisor::is_printed_by_ranks() const {
  const bool all_alike = std::ranges::all_of(ranks_, [&](const Rank& rank) {
    const bool counts = place_.node != 0 || !is_worker(rank.number);
    return !counts || (rank.ended && WIFEXITED(rank.status) &&
                       code_of(rank.status) == outcomes_.decided->code);
  });
  return all_alike && is_deliberate(outcomes_.decided->code);
}

ExitCode Supervisor::conclude() {
  if (!outcomes_.decided) {
    for (const auto& [node, code] : done_) {
      if (code != ExitCode::done) return code;
    }
    return ExitCode::done;
  }
  if (!is_printed_by_ranks())
    parts_.console.say("convoy: " + outcomes_.decided->text + "\n");
  for (const Rank& rank : ranks_) {
    if (rank.ended) continue;
    parts_.console.say(
        fmt::format("convoy: rank {} (pid {}) cannot be killed: it waits "
                    "for the kernel\n",
                    rank.number, rank.child.pid));
  }
  return outcomes_.decided->code;
}

}  // namespace convoy
