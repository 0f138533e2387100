// SPDX-License-Identifier: Apache-2.0
//
// Launcher: tests of launches, with launch_probe as the program. After each of them
// neither a process nor a port may be left.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <regex>

#include "convoy/base/clock.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/wire/socket.h"
#include "test_places.h"
#include "tests/apps/convoy_process.h"

namespace convoy {
using Words = std::vector<std::string>;

inline constexpr double kMostSeconds = 5;  // from a death to the end of all

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++times;
  return times;
}

/// Processes whose environment has the variable with that value.
inline std::vector<int> processes_with(const std::string& assignment) {
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.find(assignment) != std::string::npos) found.push_back(pid);
  }
  return found;
}

class Launcher : public testing::Test {
 protected:
  /// After each test neither a process nor a port is left.
  void TearDown() override {
    for (int i = 0; i < 100 && !ranks().empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_THAT(ranks(), testing::IsEmpty());
    if (port_ == 0) return;
    EXPECT_NO_THROW(listen_on("127.0.0.1", port_)) << "port " << port_;
  }

  ProcessOptions options(const std::map<std::string, std::string>& more = {}) const {
    ProcessOptions options;
    options.program = LAUNCH_PROBE;
    options.environment = more;
    options.environment["LAUNCH_TEST"] = mark_;
    return options;
  }

  std::unique_ptr<ConvoyProcess> start(const Words& words) {
    return std::make_unique<ConvoyProcess>(words, folder_.path(), options());
  }

  CommandResult run(const Words& words) {
    const auto process = start(words);
    CommandResult result = process->wait(std::chrono::seconds(30));
    note_port(result.out);
    return result;
  }

  void note_port(const std::string& out) {
    std::smatch match;
    const std::regex port("rendezvous at 127.0.0.1:(\\d+)");
    if (std::regex_search(out, match, port)) port_ = std::stoi(match[1]);
  }

  /// Processes of this test that are ranks.
  std::vector<int> ranks() const {
    std::vector<int> found;
    const std::vector<int> ours = processes_with("LAUNCH_TEST=" + mark_);
    const std::vector<int> all = processes_with("CONVOY_RANK=");
    std::ranges::set_intersection(sorted(ours), sorted(all), std::back_inserter(found));
    return found;
  }

  int pid_of_rank(int rank) const {
    const std::vector<int> ours = processes_with("LAUNCH_TEST=" + mark_);
    const std::vector<int> all =
        processes_with(std::string("CONVOY_RANK=") + std::to_string(rank) + '\0');
    std::vector<int> found;
    std::ranges::set_intersection(sorted(ours), sorted(all), std::back_inserter(found));
    return found.empty() ? -1 : found.front();
  }

  static std::vector<int> sorted(std::vector<int> numbers) {
    std::ranges::sort(numbers);
    return numbers;
  }

  /// Waits until so many ranks have said that they sleep.
  static bool wait_for_sleepers(ConvoyProcess& process, std::size_t ranks) {
    return process.wait_until([&] { return count(process.out(), "sleeping") == ranks; });
  }

  TemporaryFolder folder_;
  std::string mark_ = folder_.path().filename();
  int port_ = 0;
};

}  // namespace convoy
