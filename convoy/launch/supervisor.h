// SPDX-License-Identifier: Apache-2.0
//
// Supervisor: supervises the ranks of one node until all have ended.
//
// The first rank that fails decides how the job ends. Its launcher proposes an outcome to
// the store; the first outcome there counts on all nodes. All launchers then stop their
// ranks (ranks that notice the loss themselves get a moment to close their files), print
// the same text and exit with the same code. A rank that only lost a peer is not
// considered the cause while another explanation may still arrive.
//
// Workers of parameter servers are different: a worker that dies is restarted up to
// `ps.restarts` times and then given up, and the others continue. The servers decide how
// the run ends; when they have ended, workers get a moment to end as well.

#pragma once

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/job/job_placement.h"
#include "convoy/job/step_board.h"
#include "convoy/launch/console.h"
#include "convoy/launch/job_event_queue.h"
#include "convoy/launch/out_of_memory.h"
#include "convoy/launch/rank_end.h"
#include "convoy/launch/rank_output.h"
#include "convoy/launch/signals.h"
#include "convoy/launch/spawn.h"
#include "convoy/rendezvous/job_event.h"
#include "convoy/rendezvous/store_client.h"

namespace convoy {

/// What a supervisor works with. Everything is borrowed.
struct SupervisorParts {
  Console& console;
  StoreClient& store;
  JobEventQueue& events;
  StepBoard& steps;
  SignalQueue& signals;
};

/// How ranks are started.
struct RankStarts {
  std::function<Child(int local_rank)> start;
  int again = 0;  // restarts per worker that dies
};

class Supervisor {
 public:
  Supervisor(const JobPlacement& placement, const SupervisorParts& parts,
             RankStarts starts);

  /// Starts the ranks of this node. Throws InputError if the system has no more
  /// processes.
  void start_ranks();

  /// Returns when all ranks of this node have ended and all nodes are done, with the
  /// job's exit code. Prints the outcome on the console.
  ExitCode run();

 private:
  struct Rank {
    int number;
    Child child;
    RankOutput output;
    bool ended = false;
    int status = 0;
    int restarts = 0;       // of this worker so far
    bool given_up = false;  // whether this worker is no longer restarted
    /// If a worker died: when to restart it or give it up.
    std::optional<Steady::time_point> restart_deadline{};
  };

  void wait() const;
  void read_output();
  void reap();
  void end(Rank& rank, int status);
  void take_signals();
  void take_events();
  void take(const JobComplete&) {}
  void take(const JobFailed& event);
  void take(const StopSignal& event) { pass_on(event.signal); }
  void take(const RunStarted& event);
  void take(const ServersDone&) { let_workers_follow(); }
  void take(const WorkerGivenUp& event);
  void take(const RankSilent& event);
  void take(const NodeDone& event) { done_[event.node] = event.code; }
  void take(const SessionLost& event);
  void take(const PeerReported& event);
  void take(const ServiceLost& event);
  void take(const ServiceLine& event);
  std::string lost_node(int node, const std::string& why) const;

  void handle_end(Rank& dead);
  void handle_peer_failure(const Rank& dead);
  void handle_missing_outcome();
  void judge_all_ended();
  void propose(const JobOutcome& outcome);
  void stop_all(const JobOutcome& outcome, std::chrono::milliseconds grace);
  void enforce();
  void pass_on(int signal);
  void kill_all(int signal);

  // For jobs with parameter servers, in supervisor_workers.cpp.
  bool is_worker(int number) const;
  bool is_ending() const;
  void handle_worker_end(Rank& dead);
  void tend_workers();
  void restart_or_give_up(Rank& worker);
  void give_up(Rank& worker, const std::string& end);
  bool has_other_workers() const;
  void look_for_servers_done();
  void let_workers_follow();
  void end_stragglers();
  std::string how_to_resume() const;

  bool is_over() const;
  bool all_ended() const;
  bool is_printed_by_ranks() const;
  Rank* find(int number);
  DeathReport death_report(const Rank& dead) const;
  std::string describe(const Rank& dead) const;
  std::string state_of(int number);
  ExitCode conclude();

  /// The state of deciding the job's outcome.
  struct Outcomes {
    std::optional<JobOutcome> suspected, proposed, decided;
    Steady::time_point suspect_at, propose_until, kill_at, give_up_at;
    bool killed = false;
  };

  JobPlacement place_;
  SupervisorParts parts_;
  RankStarts starts_;
  OutOfMemoryWatch memory_;
  std::deque<Rank> ranks_;
  std::filesystem::path folder_;  // of the run, once known
  int passed_on_ = 0;             // the signal that was passed on to the ranks
  int requests_ = 0;              // number of requests to stop
  std::map<int, ExitCode> done_;  // by node
  bool reported_done_ = false;
  std::set<int> given_up_;  // ranks of workers of all nodes
  std::optional<Steady::time_point>
      follow_until_;  // for workers, when servers have ended
  Outcomes outcomes_;
};

}  // namespace convoy
