// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "convoy/checkpoint/run_folder.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/compare/written_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunRecordTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  WrittenRun run_{folder_.path() / "run"};
};

TEST_F(RunRecordTest, HasWhatAFinishedRunWrote) {
  run_.write_summary();
  run_.write_metrics();

  const RunRecord record = read_run_record(run_.path / "");

  EXPECT_EQ(record.name(), "run");
  EXPECT_EQ(record.state, RunState::finished) << testing::PrintToString(record.problems);
  EXPECT_EQ(record.settings, Settings{});
  EXPECT_EQ(record.result->bytes_sent, 3000);
  EXPECT_EQ(record.result->peak_rss_bytes, 3 << 20);
  EXPECT_EQ(record.score("test")->accuracy, 0.9);
  EXPECT_EQ(record.training_seconds(), 4);
  EXPECT_EQ(record.evaluations.at(1).seconds, 4);
  EXPECT_EQ(record.last_step, 20);
}

TEST_F(RunRecordTest, HasWhatAnUnfinishedRunWroteSoFar) {
  run_.write("metrics.jsonl",
             epoch_line(1, 2) + eval_line(1, 0.8) + R"({"kind":"epoch","st)");

  const RunRecord record = read_run_record(run_.path);

  EXPECT_EQ(record.state, RunState::unfinished);
  EXPECT_THAT(record.problems, IsEmpty());
  EXPECT_EQ(record.score("test")->accuracy, 0.8);
  EXPECT_EQ(record.score("val"), std::nullopt);
  EXPECT_EQ(record.training_seconds(), 2);
  EXPECT_EQ(record.images_per_second(), 500);
}

TEST_F(RunRecordTest, KnowsHowTheRunEnded) {
  const auto state_with_code = [&](int code) {
    nlohmann::ordered_json summary = some_summary();
    summary["exit"]["code"] = code;
    run_.write_summary(summary);
    return read_run_record(run_.path).state;
  };
  EXPECT_EQ(state_with_code(0), RunState::finished);
  EXPECT_EQ(state_with_code(75), RunState::stopped);
  EXPECT_EQ(state_with_code(79), RunState::failed);
  const RunFolder writes = RunFolder::open(run_.path);
  EXPECT_EQ(state_with_code(0), RunState::running);
}

TEST_F(RunRecordTest, TakesALossThatIsNotFiniteForNotANumber) {
  nlohmann::ordered_json summary = some_summary();
  summary["test"]["loss"] = nullptr;
  run_.write_summary(summary);

  EXPECT_TRUE(std::isnan(read_run_record(run_.path).score("test")->loss));
}

TEST_F(RunRecordTest, NamesWhatCannotBeReadAndHasTheRest) {
  run_.write_metrics();
  for (const char* summary :
       {"", "{", "[]", "null", R"({"strategy": 3})", R"({"seconds": 1e999})"}) {
    run_.write("summary.json", summary);

    const RunRecord record = read_run_record(run_.path);

    EXPECT_EQ(record.state, RunState::broken) << summary;
    EXPECT_THAT(record.problems, ElementsAre(HasSubstr("summary.json"))) << summary;
    EXPECT_EQ(record.score("test")->accuracy, 0.9) << summary;
    EXPECT_TRUE(record.settings) << summary;
  }
}

TEST_F(RunRecordTest, LeavesOutLinesThatCannotBeRead) {
  run_.write_summary();
  run_.write("metrics.jsonl", "junk\n{}\n" + epoch_line(1, 2) +
                                  R"({"kind":"eval","split":1,"step":2})"
                                  "\n" +
                                  eval_line(1, 0.8));

  const RunRecord record = read_run_record(run_.path);

  EXPECT_THAT(record.problems, ElementsAre(HasSubstr("metrics.jsonl:1")));
  EXPECT_EQ(record.evaluations.size(), 1);
}

TEST_F(RunRecordTest, NamesSettingsThatCannotBeRead) {
  run_.write_summary();
  run_.write("config.yaml", "train: {epochs: many}\n");

  const RunRecord record = read_run_record(run_.path);

  EXPECT_THAT(record.problems, ElementsAre(HasSubstr("train.epochs")));
  EXPECT_FALSE(record.settings);
  EXPECT_TRUE(record.result);
}

TEST_F(RunRecordTest, IsReadWhileTheFolderChanges) {
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) {
      run_.write_summary();
      run_.write_metrics();
      fs::remove(run_.path / "summary.json");
      fs::remove(run_.path / "metrics.jsonl");
    }
    done = true;
  });
  while (!done) {
    const RunRecord record = read_run_record(run_.path);
    EXPECT_THAT(record.problems, IsEmpty());
  }
  writer.join();
}

TEST_F(RunRecordTest, NamesAFolderThatIsNotThere) {
  expect_error(InputKind::storage, {"nothing"},
               [&] { read_run_record(folder_.path() / "nothing"); });
}

TEST(FindRuns, AreInNaturalOrderAndNeverCheckpoints) {
  const TemporaryFolder folder;
  for (const char* name : {"sweep/10", "sweep/2", "sweep/1", "other"}) {
    const WrittenRun run(folder.path() / name);
    make_folders(run.path / "checkpoints" / "0001");
  }
  const WrittenRun checkpoint(folder.path() / "loose");
  checkpoint.write("manifest.json", "{}");
  fs::create_directory_symlink(folder.path(), folder.path() / "again");

  std::vector<std::string> names;
  for (const fs::path& path : find_runs(folder.path())) {
    names.push_back(path.lexically_relative(folder.path()).string());
  }

  EXPECT_THAT(names, ElementsAre("other", "sweep/1", "sweep/2", "sweep/10"));
  EXPECT_THAT(find_runs(folder.path() / "other"), ElementsAre(folder.path() / "other"));
}

TEST(FindRuns, NameAFolderWithoutRuns) {
  const TemporaryFolder folder;
  expect_error(InputKind::storage, {"found:    no run", "a folder of runs"},
               [&] { find_runs(folder.path()); });
  expect_error(InputKind::storage, {"nothing of that name"},
               [&] { find_runs(folder.path() / "x"); });
}

}  // namespace
}  // namespace convoy
