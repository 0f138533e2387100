// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

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

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> block;
  ssize_t got = 0;
  while ((got = ::read(descriptor, block.data(), block.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw storage_error("pipe", "open one", errno);
  pid_t child = 0;
  const int failed = spawn(command, ends[1], child);
  ::close(ends[1]);
  std::string output = failed == 0 ? read_to_end(ends[0]) : "";
  ::close(ends[0]);
  if (failed != 0) throw storage_error(command[0], "run this program", failed);
  return {wait_for(child), std::move(output)};
}

}  // namespace convoy
