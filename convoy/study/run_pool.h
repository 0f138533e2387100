// SPDX-License-Identifier: Apache-2.0
//
// RunPool: child processes of this program, some at a time, each on cores of its own.
//
// A child is in its own process group and dies with this process, however that ends. What
// it prints is not shown; its last lines are kept. Ctrl-C is passed on to the children,
// which end with a checkpoint, and no more are started; the second time all are killed.

#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/job/cores.h"
#include "convoy/launch/console.h"
#include "convoy/launch/rank_output.h"
#include "convoy/launch/signals.h"
#include "convoy/launch/spawn.h"

namespace convoy {

/// A process to run.
struct PoolTask {
  std::size_t number = 0;
  std::vector<std::string> arguments{};  // as main() gets them
};

/// A process that has ended.
struct PoolEnd {
  std::size_t number = 0;
  int code = 0;  // its exit code; if a signal ended it, 128 and the signal
  std::vector<std::string> last_lines{};
  double seconds = 0;
};

struct PoolCallbacks {
  std::function<void(const PoolEnd&)> ended;
  std::function<void(std::size_t running)> tick;  // several times per second
};

class RunPool {
 public:
  /// Runs `jobs` processes at a time. Requires: jobs > 0.
  explicit RunPool(int jobs);
  /// Kills those that are running.
  ~RunPool();
  RunPool(const RunPool&) = delete;
  RunPool& operator=(const RunPool&) = delete;

  /// Returns when all have ended, or when those that had begun have ended after a request
  /// to stop. Throws InputError if the system has no more processes.
  void run(const std::vector<PoolTask>& tasks, const PoolCallbacks& callbacks);

  int jobs() const { return jobs_; }

  /// How often it was asked to stop.
  int stop_requests() const { return requests_; }

 private:
  struct Running {
    std::size_t number;
    std::size_t slot;  // of the cores
    Child child;
    RankOutput output;
    Stopwatch watch;
  };

  void start(const PoolTask& task);
  void wait() const;
  void take_signals();
  static void read_output(Running& of);
  void reap(const PoolCallbacks& callbacks);
  static void end(Running& ended, int status, const PoolCallbacks& callbacks);
  void send_all(int signal) const;
  std::size_t free_slot() const;

  int jobs_;
  Cores cores_;
  SignalQueue signals_;
  Console silent_{-1, -1, false};
  std::list<Running> running_;
  int requests_ = 0;
};

}  // namespace convoy
