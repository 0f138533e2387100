// SPDX-License-Identifier: Apache-2.0

#include "convoy/launch/spawn.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "convoy/base/error.h"

namespace convoy {
namespace {

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw storage_error("pipe", "open one", errno);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// The system call itself, because glibc 2.36 does not declare it for C++.
Descriptor pid_file(pid_t pid) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> assignments(const Environment& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
  return texts;
}

/// Everything that the child needs, prepared before the fork: after it nothing may
/// allocate.
struct Prepared {
  std::vector<std::string> words, variables;
  std::vector<char*> argv, envp;
  Descriptor nothing;
  Pipe out, err;
  pid_t parent;
};

[[noreturn]] void become_rank(const Prepared& prepared, const SpawnOptions& options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent died before the line above.
  if (::getppid() != prepared.parent) ::_exit(127);
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  pin_to(options.cores);
  ::dup2(prepared.nothing.get(), STDIN_FILENO);
  ::dup2(prepared.out.write.get(), STDOUT_FILENO);
  ::dup2(prepared.err.write.get(), STDERR_FILENO);
  for (const int file : options.files) ::fcntl(file, F_SETFD, 0);
  ::execve("/proc/self/exe", prepared.argv.data(), prepared.envp.data());
  ::_exit(127);
}

}  // namespace

Child spawn(const SpawnOptions& options) {
  Prepared prepared{.words = options.arguments,
                    .variables = assignments(options.environment),
                    .argv = {},
                    .envp = {},
                    .nothing = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)),
                    .out = make_pipe(),
                    .err = make_pipe(),
                    .parent = ::getpid()};
  prepared.argv = pointers(prepared.words);
  prepared.envp = pointers(prepared.variables);
  const pid_t pid = ::fork();
  if (pid == 0) become_rank(prepared, options);
  if (pid < 0) throw storage_error("process", "start a rank", errno);
  ::setpgid(pid, pid);  // the child does the same, whichever is first
  return {pid, pid_file(pid), std::move(prepared.out.read), std::move(prepared.err.read)};
}

Descriptor text_file(const std::string& text) {
  Descriptor file(::memfd_create("convoy-settings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::write(file.get(), text.data(), text.size()) !=
                   static_cast<ssize_t>(text.size())) {
    throw storage_error("memory file", "write the settings", errno);
  }
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
  return file;
}

}  // namespace convoy
