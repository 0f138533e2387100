// SPDX-License-Identifier: Apache-2.0
//
// Small training runs for tests of the program: their settings, and what they left.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/apps/convoy_process.h"

namespace convoy {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Trains on a few made-up images: two epochs of three steps, the last one smaller.
inline Arguments small_training(const std::string& name, const Arguments& more = {}) {
  return Arguments{"train",
                   "data=synthetic",
                   "data.synthetic.train_count=80",
                   "data.synthetic.test_count=53",
                   "train.batch_size=32",
                   "train.epochs=2",
                   "train.log_every=1",
                   "run.name=" + name} +
         more;
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  return nlohmann::json::parse(read_text(path));
}

inline std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& path) {
  std::vector<nlohmann::json> lines;
  std::istringstream text(read_text(path));
  for (std::string line; std::getline(text, line);) {
    lines.push_back(nlohmann::json::parse(line));
  }
  return lines;
}

/// Paths of all files and folders below `folder`, relative to it.
inline std::vector<std::string> all_below(const std::filesystem::path& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    paths.push_back(entry.path().lexically_relative(folder).string());
  }
  return paths;
}

/// That a command was refused: its exit code, a message with where, found and expected
/// that has all `parts`, and nothing on the output.
inline void expect_refused(const CommandResult& result, int code,
                           std::initializer_list<std::string> parts) {
  EXPECT_EQ(result.code, code) << result.out << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, testing::StartsWith("convoy: bad input: "));
  for (const char* part : {"\n  found:    ", "\n  expected: "}) {
    EXPECT_THAT(result.err, testing::HasSubstr(part));
  }
  for (const std::string& part : parts) {
    EXPECT_THAT(result.err, testing::HasSubstr(part));
  }
}

/// A test in a folder of its own, in which the program runs.
class ProgramTest : public testing::Test {
 protected:
  CommandResult convoy(const Arguments& arguments,
                       const ProcessOptions& options = {}) const {
    return run_convoy(arguments, here(), options);
  }

  /// Trains, expecting success, and returns the run's folder.
  std::filesystem::path train(const std::string& name, const Arguments& more = {}) const {
    const CommandResult result = convoy(small_training(name, more));
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    return here() / "runs" / name;
  }

  std::string weights_of(const std::filesystem::path& run) const {
    return read_json(run / "summary.json").at("weights_sha256");
  }

  /// That the program left nothing in its folder but what was there before.
  void expect_nothing_written() const {
    EXPECT_THAT(all_below(here()), testing::IsEmpty());
  }

  const std::filesystem::path& here() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace convoy
