// SPDX-License-Identifier: Apache-2.0
//
// WorkerLiveness: which workers are connected, and how long the others have been missing.

#pragma once

#include <vector>

#include "convoy/base/clock.h"

namespace convoy {

class WorkerLiveness {
 public:
  explicit WorkerLiveness(std::size_t workers) : workers_(workers) {}

  std::size_t workers() const { return workers_.size(); }
  /// All workers are missing from now on.
  void begin() {
    for (Worker& worker : workers_) worker.since.restart();
  }
  void set_there(int worker, bool there) {
    Worker& one = workers_.at(static_cast<std::size_t>(worker));
    one.there = there;
    one.came = one.came || there;
    one.since.restart();
  }

  /// Whether it has ever been connected.
  bool has_connected(int worker) const { return at(worker).came; }
  double seconds_missing(int worker) const {
    return at(worker).there ? 0 : at(worker).since.seconds();
  }

 private:
  struct Worker {
    bool there = false, came = false;
    Stopwatch since;
  };

  const Worker& at(int worker) const {
    return workers_.at(static_cast<std::size_t>(worker));
  }

  std::vector<Worker> workers_;
};

}  // namespace convoy
