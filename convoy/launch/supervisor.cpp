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
#include "convoy/wire/socket.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr int kTickMilliseconds = 100;  // how late a deadline may be noticed
// From a death to the last process of the job no more than five seconds may pass.
constexpr auto kGrace = milliseconds(1500);      // to put files in order
constexpr auto kLongGrace = milliseconds(4000);  // to come to the same end by itself
constexpr auto kAnswer = milliseconds(1000);     // for the store to confirm a outcome
constexpr auto kPatience = milliseconds(2000);   // for the cause behind a lost peer
constexpr auto kLastWait = milliseconds(2000);   // for a process to be gone after SIGKILL
constexpr std::size_t kLinesShown = 15;

bool is_deliberate(ExitCode code) {
  return code != ExitCode::rank_failed && code != ExitCode::peer_unreachable &&
         code != ExitCode::interrupted_twice;
}

/// 2 of "rank 2" and of "node 2".
int number_of(const std::string& name) {
  return std::atoi(name.c_str() + std::string_view("rank ").size());
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
    take_notices();  // before the dead: what these have said belongs to their
                     // death_report
    reap();
    judge_late();
    tend_workers();
    judge_all_ended();
    enforce();
  }
  return conclude();
}

void Supervisor::wait() const {
  std::vector<pollfd> polled{{parts_.signals.file(), POLLIN, 0},
                             {parts_.notices.file(), POLLIN, 0}};
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
  ::kill(-rank.child.pid, SIGKILL);  // whatever it may have started
  read_output();                     // its last words
  rank.output.finish();
  rank.child.out.reset();
  rank.child.err.reset();
  rank.ended = true;
  rank.status = status;
  judge(rank);
}

void Supervisor::take_signals() {
  while (const auto signal = parts_.signals.next()) {
    const int meant = *signal == SIGHUP ? SIGTERM : *signal;
    if (meant != SIGUSR1 && ++requests_ >= 2) {
      const JobOutcome outcome{ExitCode::interrupted_twice, "interrupted twice"};
      propose(outcome);
      stop_all(outcome, milliseconds(0));
    } else {
      parts_.store.propose(kSignalKey, std::to_string(meant));
      pass_on(meant);
    }
  }
}

void Supervisor::take_notices() {
  for (const Notice& notice : parts_.notices.take_all()) take(notice);
}

void Supervisor::take(const Notice& notice) {
  const std::string text = text_of(notice.value);
  if (notice.key.empty()) {
    stop_all({ExitCode::peer_unreachable, lost_node(0, text)}, kGrace);
  } else if (notice.key == kLogKey) {
    parts_.console.line(Stream::err, "convoy: rendezvous: ", text);
  } else if (notice.key == kFailedKey) {
    const JobOutcome outcome = decode_job_outcome(notice.value);
    stop_all(outcome, is_deliberate(outcome.code) ? kLongGrace : kGrace);
  } else if (notice.key == kSignalKey) {
    pass_on(std::atoi(text.c_str()));
  } else if (notice.key == kRunFolderKey) {
    folder_ = text;
    for (Rank& rank : ranks_) rank.output.log_to(folder_ / "logs");
  } else if (notice.key == kServedKey) {
    let_workers_follow();
  } else if (notice.key.starts_with(kSilentPrefix)) {
    end_silent(number_of(notice.key.substr(std::string_view(kSilentPrefix).size())),
               std::atoi(text.c_str()));
  } else if (notice.key.starts_with(kGivenUpPrefix)) {
    take_given_up(notice.key.substr(std::string_view(kGivenUpPrefix).size()), text);
  } else if (notice.key.starts_with(kDonePrefix)) {
    done_[notice.key] = static_cast<ExitCode>(std::atoi(text.c_str()));
  } else if (notice.key.starts_with(kLostPrefix)) {
    take_loss(notice.key.substr(std::string_view(kLostPrefix).size()),
              decode_lost_session(notice.value));
  } else if (notice.key.starts_with(kPeerPrefix)) {
    take_complaint(notice.key.substr(std::string_view(kPeerPrefix).size()), text);
  }
}

/// All nodes have equally many ranks, and node 0 the servers as well.
std::string Supervisor::lost_node(int node, const std::string& why) const {
  const int alike = place_.workers() / place_.nodes;
  const int first = node == 0 ? 0 : place_.servers + node * alike;
  const int last = place_.servers + (node + 1) * alike - 1;
  const std::string ranks = first == last ? fmt::format("rank {}", first)
                                          : fmt::format("ranks {} to {}", first, last);
  return fmt::format("lost node {} with {}: {}", node, ranks, why);
}

/// A rank that died is its own launcher's to report; here are those it cannot see.
void Supervisor::take_loss(const std::string& who, const LostSession& loss) {
  if (who.starts_with("node ")) {
    const int node = number_of(who);
    propose({ExitCode::peer_unreachable, lost_node(node, loss.text)});
  } else if (loss.silent) {
    const int number = number_of(who);
    if (find(number)) propose({ExitCode::rank_failed, loss.text + state_of(number)});
  }
}

/// A rank says that it lost another: `text` is the other's number and the error. That
/// one's launcher, who can see it, is the first to draw a conclusion.
void Supervisor::take_complaint(const std::string& from, const std::string& text) {
  if (suspected_) return;
  // That a worker has lost its server may be its own trouble: it is started again.
  if (is_worker(number_of(from))) return;
  const int number = std::atoi(text.c_str());
  const std::string error = text.substr(std::min(text.size(), text.find(' ') + 1));
  suspected_ = JobOutcome{ExitCode::rank_failed,
                          fmt::format("rank {} does not answer {}: {}{}", number, from,
                                      error, state_of(number))};
  suspect_at_ = Steady::now() + (find(number) ? kPatience : 2 * kPatience);
}

void Supervisor::judge(Rank& dead) {
  if (is_worker(dead.number)) return judge_worker(dead);
  judge_peer(dead);
}

/// Of a rank that the others cannot do without.
void Supervisor::judge_peer(const Rank& dead) {
  switch (kind_of(dead.status)) {
    case EndKind::done:
    case EndKind::stopped:
      return look_for_served();
    case EndKind::collateral:
      if (suspected_) return;
      suspected_ = JobOutcome{ExitCode::peer_unreachable, describe(dead)};
      suspect_at_ = Steady::now() + kPatience;
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

/// What only time can tell.
void Supervisor::judge_late() {
  const Steady::time_point now = Steady::now();
  if (suspected_ && now >= suspect_at_) propose(*suspected_);
  if (proposed_ && !verdict_ && now >= propose_until_) stop_all(*proposed_, kGrace);
}

void Supervisor::judge_all_ended() {
  if (!all_ended() || verdict_ || proposed_ || said_done_) return;
  if (suspected_) return propose(*suspected_);
  ExitCode code = ExitCode::done;
  for (const Rank& rank : ranks_) {
    if (rank.status != 0 && !is_worker(rank.number)) code = code_of(rank.status);
  }
  parts_.store.set(kDonePrefix + name_of(PeerKind::launcher, place_.node),
                   std::to_string(static_cast<int>(code)));
  said_done_ = true;
}

void Supervisor::propose(const JobOutcome& outcome) {
  if (proposed_ || verdict_) return;
  proposed_ = outcome;
  propose_until_ = Steady::now() + kAnswer;
  parts_.store.propose(kFailedKey, encode(outcome));
}

void Supervisor::stop_all(const JobOutcome& outcome, milliseconds grace) {
  if (!verdict_) {
    verdict_ = outcome;
    kill_at_ = Steady::now() + grace;
    // From here on survivors only report_peer_failure about what the outcome explains.
    if (!is_deliberate(outcome.code)) parts_.console.close();
  } else if (outcome.code == ExitCode::interrupted_twice) {
    kill_at_ = Steady::now();
  }
}

void Supervisor::enforce() {
  if (!verdict_ || killed_ || Steady::now() < kill_at_) return;
  kill_all(SIGKILL);
  killed_ = true;
  give_up_at_ = Steady::now() + kLastWait;
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
  if (verdict_) return all_ended() || (killed_ && Steady::now() >= give_up_at_);
  return all_ended() && static_cast<int>(done_.size()) == place_.nodes;
}

Supervisor::Rank* Supervisor::find(int number) {
  const auto rank = std::ranges::find(ranks_, number, &Rank::number);
  return rank == ranks_.end() ? nullptr : &*rank;
}

DeadRank Supervisor::death_report(const Rank& dead) const {
  const bool by_the_system = WIFSIGNALED(dead.status) &&
                             WTERMSIG(dead.status) == SIGKILL && memory_.has_struck();
  // Who ends deliberately has said why; only other nodes have not seen it.
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
  const DeadRank death_report = this->death_report(dead);
  const std::string more =
      dead.number < place_.servers ? where_to_go_on() : std::string();
  return headline(death_report) + more + last_words(death_report);
}

/// What the system says of a rank of this node that does not answer.
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

/// Whether all ranks here ended with the outcome, each by itself. Where there are
/// servers, it is theirs to say.
bool Supervisor::has_been_said() const {
  const bool all_alike = std::ranges::all_of(ranks_, [&](const Rank& rank) {
    const bool counts = place_.node != 0 || !is_worker(rank.number);
    return !counts || (rank.ended && WIFEXITED(rank.status) &&
                       code_of(rank.status) == verdict_->code);
  });
  return all_alike && is_deliberate(verdict_->code);
}

ExitCode Supervisor::conclude() {
  if (!verdict_) {
    for (const auto& [node, code] : done_) {
      if (code != ExitCode::done) return code;
    }
    return ExitCode::done;
  }
  if (!has_been_said()) parts_.console.say("convoy: " + verdict_->text + "\n");
  for (const Rank& rank : ranks_) {
    if (rank.ended) continue;
    parts_.console.say(
        fmt::format("convoy: rank {} (pid {}) cannot be killed: it waits "
                    "for the kernel\n",
                    rank.number, rank.child.pid));
  }
  return verdict_->code;
}

}  // namespace convoy
