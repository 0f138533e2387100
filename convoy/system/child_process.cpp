// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

extern char** environ;

namespace convoy {
namespace {

/// The child's streams: stdin is empty, stdout and stderr go to a pipe.
class Streams {
 public:
  explicit Streams(int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
  }
  ~Streams() { posix_spawn_file_actions_destroy(&actions_); }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// Returns 0 or the errno of the failure.
int spawn(const std::vector<std::string>& command, int output, pid_t& child) {
  std::vector<char*> arguments;
  for (const std::string& part : command) {
    arguments.push_back(const_cast<char*>(part.c_str()));
  }
  arguments.push_back(nullptr);
  const Streams streams(output);
  return posix_spawnp(&child, arguments[0], streams.get(), nullptr, arguments.data(),
                      environ);
}

/// Waits until there is something to read, or the end. Returns false if that took until
/// the watch shows more than `most_seconds`.
bool wait_to_read(int descriptor, const Stopwatch& watch, double most_seconds) {
  constexpr double kLongest = 3600;  // of one wait, in seconds
  pollfd waited{.fd = descriptor, .events = POLLIN, .revents = 0};
  for (double left = most_seconds; left > 0; left = most_seconds - watch.seconds()) {
    const double milliseconds = std::ceil(1e3 * std::min(left, kLongest));
    if (::poll(&waited, 1, static_cast<int>(milliseconds)) > 0) return true;
  }
  return false;
}

/// Appends everything to `text`. Returns false if the time is over before the end.
bool read_to_end(int descriptor, double most_seconds, std::string& text) {
  const Stopwatch watch;
  std::array<char, 4096> block;
  while (wait_to_read(descriptor, watch, most_seconds)) {
    const ssize_t got = ::read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return false;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, double most_seconds) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw storage_error("pipe", "open one", errno);
  pid_t child = 0;
  const int failed = spawn(command, ends[1], child);
  ::close(ends[1]);
  ProcessResult result{};
  const bool ended = failed != 0 || read_to_end(ends[0], most_seconds, result.output);
  ::close(ends[0]);
  if (failed != 0) throw storage_error(command[0], "run this program", failed);
  if (!ended) ::kill(child, SIGKILL);
  result.timed_out = !ended;
  result.exit_code = wait_for(child);
  return result;
}

}  // namespace convoy
