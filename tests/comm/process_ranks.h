// SPDX-License-Identifier: Apache-2.0
//
// ProcessRanks: the ranks of a job as processes, to be killed.
//
//   ProcessRanks ranks(4, options, [](Comm& comm) { for (;;) comm.barrier(); });
//   ranks.send(2, SIGKILL);
//   EXPECT_EQ(ranks.named_by(0), 2);
//
// None of them outlives the object, or the test.

#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/connect.h"
#include "convoy/rendezvous/file_store.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {

class ProcessRanks {
 public:
  static constexpr int kDone = -1, kKilled = -2, kOtherError = -3, kStillThere = -4;

  ProcessRanks(int ranks, const CommOptions& options,
               const std::function<void(Comm&)>& body) {
    for (int rank = 0; rank < ranks; ++rank) {
      const pid_t child = ::fork();
      if (child == 0) run(rank, ranks, options, body);
      children_.push_back(child);
    }
  }
  ~ProcessRanks() {
    for (const pid_t child : children_) {
      if (child <= 0) continue;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  ProcessRanks(const ProcessRanks&) = delete;
  ProcessRanks& operator=(const ProcessRanks&) = delete;

  /// Waits until a rank has called its Comm's body.
  bool wait_until_begun(int rank) const {
    const Stopwatch watch;
    while (!std::filesystem::exists(begun(rank))) {
      if (watch.seconds() > 20) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  void send(int rank, int signal) const {
    ::kill(children_[static_cast<std::size_t>(rank)], signal);
  }

  /// Which rank a rank's PeerError named, or kDone ... kStillThere.
  int named_by(int rank, double seconds = 30) {
    pid_t& child = children_[static_cast<std::size_t>(rank)];
    int status = 0;
    const Stopwatch watch;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      if (watch.seconds() > seconds) return kStillThere;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    child = 0;
    if (!WIFEXITED(status)) return kKilled;
    return WEXITSTATUS(status) == 0 ? kDone : WEXITSTATUS(status) - 100;
  }

 private:
  std::filesystem::path begun(int rank) const {
    return folder_.path() / ("begun" + std::to_string(rank));
  }

  [[noreturn]] void run(int rank, int ranks, CommOptions options,
                        const std::function<void(Comm&)>& body) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    options.rank = rank;
    options.ranks = ranks;
    int code = 0;
    try {
      FileStore store(folder_.path());
      const std::unique_ptr<Comm> comm = connect(options, store);
      comm->barrier();
      std::ofstream(begun(rank)).put('\n');
      body(*comm);
    } catch (const PeerError& error) {
      code = 100 + error.rank();
    } catch (...) {
      code = 100 + kOtherError;
    }
    ::_exit(code);
  }

  TemporaryFolder folder_;
  std::vector<pid_t> children_;
};

}  // namespace convoy
