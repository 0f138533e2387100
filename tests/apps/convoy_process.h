// SPDX-License-Identifier: Apache-2.0
//
// ConvoyProcess: the program as a user starts it, a child process of a test.
//
//   const CommandResult result = run_convoy({"models", "lenet5"}, folder);
//
// It runs in a folder of the test's choice, with a home of its own and none of the
// user's settings. What it prints goes to files, so that it never waits for a reader. A
// child that outlives its time is killed, and so is one whose test has died.

#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "test_places.h"

namespace convoy {

struct CommandResult {
  int code = -1;   // of exit, or -1
  int signal = 0;  // that ended it, or 0
  std::string out;
  std::string err;
};

struct ProcessOptions {
  std::string program = CONVOY_BINARY;
  std::map<std::string, std::string> environment{};  // over the usual one
  std::uint64_t most_file_bytes = 0;                 // RLIMIT_FSIZE; 0: none
};

class ConvoyProcess {
 public:
  ConvoyProcess(const std::vector<std::string>& arguments,
                const std::filesystem::path& folder, const ProcessOptions& options = {}) {
    const std::string home = (files_.path() / "home").string();
    std::vector<std::string> words{options.program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::map<std::string, std::string> variables{
        {"PATH", "/usr/local/bin:/usr/bin:/bin"},
        {"HOME", home},
        {"LC_ALL", "C.UTF-8"},
        {"PYTHONDONTWRITEBYTECODE", "1"}};  // beside scripts, in the source tree
    for (const auto& [name, value] : options.environment) variables[name] = value;
    std::vector<std::string> assignments;
    for (const auto& [name, value] : variables) assignments.push_back(name + "=" + value);
    start(pointers(words), pointers(assignments), folder, options.most_file_bytes);
  }
  ~ConvoyProcess() {
    if (child_ > 0) end_now();
  }
  ConvoyProcess(const ConvoyProcess&) = delete;
  ConvoyProcess& operator=(const ConvoyProcess&) = delete;

  void send(int signal) const { ::kill(child_, signal); }

  std::string out() const { return read_text(files_.path() / "out"); }
  std::string err() const { return read_text(files_.path() / "err"); }

  /// Waits until `holds` does; false if the process ends or so much time passes before
  /// that.
  template <class Condition>
  bool wait_until(const Condition& holds,
                  std::chrono::minutes limit = std::chrono::minutes(1)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < deadline) {
      if (holds()) return true;
      if (has_ended()) return holds();
      pause();
    }
    return false;
  }

  bool wait_for_output(std::string_view text) {
    return wait_until([&] { return out().find(text) != std::string::npos; });
  }

  /// How it ended. A process that takes longer than `limit` is killed, and fails the
  /// test.
  CommandResult wait(std::chrono::seconds limit = std::chrono::seconds(120)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!has_ended() && std::chrono::steady_clock::now() < deadline) pause();
    if (child_ > 0) {
      end_now();
      ADD_FAILURE() << "still running after " << limit.count() << " s\n"
                    << out() << err();
    }
    CommandResult result{.code = -1, .signal = 0, .out = out(), .err = err()};
    if (WIFEXITED(status_)) result.code = WEXITSTATUS(status_);
    if (WIFSIGNALED(status_)) result.signal = WTERMSIG(status_);
    return result;
  }

 private:
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }

  static void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

  void start(const std::vector<char*>& words, const std::vector<char*>& variables,
             const std::filesystem::path& folder, std::uint64_t most_file_bytes) {
    const int out = open_file("out"), err = open_file("err");
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    child_ = ::fork();
    if (child_ != 0) {
      for (const int descriptor : {out, err, nothing}) ::close(descriptor);
      return;
    }
    // Only calls that are safe between fork and exec from here on.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(err, STDERR_FILENO);
    // Who started the tests may ignore it, as Python does; the program has to do it
    // itself.
    ::signal(SIGXFSZ, SIG_DFL);
    if (most_file_bytes > 0) {
      const rlimit limit{most_file_bytes, most_file_bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    if (::chdir(folder.c_str()) == 0) {
      ::execve(words.front(), words.data(), variables.data());
    }
    ::_exit(127);
  }

  int open_file(const char* name) const {
    return ::open((files_.path() / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  }

  bool has_ended() {
    if (child_ > 0 && ::waitpid(child_, &status_, WNOHANG) == child_) child_ = -1;
    return child_ < 0;
  }

  void end_now() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, &status_, 0);
    child_ = -1;
  }

  TemporaryFolder files_;
  pid_t child_ = -1;
  int status_ = 0;
};

inline CommandResult run_convoy(const std::vector<std::string>& arguments,
                                const std::filesystem::path& folder,
                                const ProcessOptions& options = {}) {
  return ConvoyProcess(arguments, folder, options).wait();
}

}  // namespace convoy
