// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/forked_ranks.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <thread>
#include <vector>

#include "convoy/base/error.h"

namespace convoy {
namespace {

constexpr std::chrono::milliseconds kPause{2};

/// Processes that end with this object, or with this process.
class Children {
 public:
  Children() = default;
  ~Children() {
    for (const pid_t child : running_) {
      if (child == 0) continue;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  void start(const std::function<void()>& body) {
    const pid_t child = ::fork();
    check(child >= 0, "a process can be started");
    if (child > 0) return running_.push_back(child);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      body();
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }

  /// In the order in which they end, so that the first to fail is named. Only these are
  /// asked for: a process may have other children.
  void wait() {
    for (std::size_t left = running_.size(); left > 0;) {
      for (std::size_t rank = 0; rank < running_.size(); ++rank) {
        if (running_[rank] != 0 && has_ended(rank)) --left;
      }
      std::this_thread::sleep_for(kPause);
    }
  }

 private:
  bool has_ended(std::size_t rank) {
    int status = 0;
    if (::waitpid(running_[rank], &status, WNOHANG) != running_[rank]) return false;
    running_[rank] = 0;
    if (status == 0) return true;
    throw PeerError(static_cast<int>(rank), "its part of a measurement on this machine");
  }

  std::vector<pid_t> running_;  // by rank; 0: has ended
};

}  // namespace

void run_forked_ranks(int ranks, const std::function<void(int rank)>& body) {
  Children children;
  for (int rank = 0; rank < ranks; ++rank) {
    children.start([&body, rank] { body(rank); });
  }
  children.wait();
}

}  // namespace convoy
