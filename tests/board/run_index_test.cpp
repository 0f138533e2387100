// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/run_index.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/board/run_entry.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/compare/written_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class RunIndexTest : public testing::Test {
 protected:
  json changes(RunIndex& index, std::uint64_t since = 0) const {
    index.wait_for_scan();
    return json::parse(index.changes_since(since));
  }
  static std::vector<std::string> ids(const json& answer) {
    std::vector<std::string> found;
    for (const json& run : answer.at("runs")) found.push_back(run.at("id"));
    return found;
  }
  WrittenRun finished(const std::string& name) const {
    WrittenRun run(here.path() / name);
    run.write_summary();
    run.write_metrics();
    return run;
  }

  TemporaryFolder here;
};

TEST_F(RunIndexTest, ListsRunsWithTheirStateScoresAndSettings) {
  Settings settings;
  settings.optimizer.lr = 0.25;
  const WrittenRun run(here.path() / "sweep" / "3", settings);
  run.write_summary();
  run.write_metrics();
  RunIndex index(here.path());
  const json answer = changes(index);

  ASSERT_EQ(ids(answer), std::vector<std::string>{"sweep/3"});
  const json& entry = answer.at("runs").at(0);
  EXPECT_EQ(entry.at("name"), "3");
  EXPECT_EQ(entry.at("state"), "finished");
  EXPECT_EQ(entry.at("scores").at("test").at("accuracy"), 0.9);
  EXPECT_EQ(entry.at("strategy"), "ddp");
  EXPECT_EQ(entry.at("settings").at("optimizer.lr"), "0.25");
  EXPECT_TRUE(answer.at("complete"));
  EXPECT_EQ(answer.at("reading"), 0);
}

TEST_F(RunIndexTest, SaysWhatHasChangedSince) {
  finished("a");
  RunIndex index(here.path());
  const json first = changes(index);
  EXPECT_THAT(ids(first), ElementsAre("a"));

  finished("b");
  const json second = changes(index, first.at("version"));
  EXPECT_THAT(ids(second), ElementsAre("b"));
  EXPECT_FALSE(second.at("complete"));

  fs::remove_all(here.path() / "a");
  const json third = changes(index, second.at("version"));
  EXPECT_THAT(ids(third), IsEmpty());
  EXPECT_THAT(third.at("removed"), ElementsAre("a"));
  EXPECT_TRUE(changes(index, 1'000'000'000'000'000'000).at("complete"))
      << "of another server";
}

TEST_F(RunIndexTest, SeesThatARunIsTrainedAndThatItEnds) {
  const WrittenRun run(here.path() / "a");
  RunIndex index(here.path());
  EXPECT_EQ(changes(index).at("runs").at(0).at("state"), "unfinished");
  Descriptor lock = lock_folder(run.path, LockMode::exclusive);
  EXPECT_EQ(changes(index).at("runs").at(0).at("state"), "running");
  lock.reset();
  EXPECT_EQ(changes(index).at("runs").at(0).at("state"), "unfinished");
}

TEST_F(RunIndexTest, ARunThatCannotBeReadIsListedWithItsProblem) {
  finished("whole");
  finished("broken").write("metrics.jsonl",
                           "{\"kind\":\n" + std::string(10 << 20, '[') + "\n");
  RunIndex index(here.path());
  const json answer = changes(index);
  EXPECT_THAT(ids(answer), UnorderedElementsAre("broken", "whole"));
  EXPECT_EQ(answer.at("runs").at(0).at("state"), "broken");
  EXPECT_LT(answer.at("runs").at(0).at("problems").at(0).get<std::string>().size(), 600u);
}

TEST_F(RunIndexTest, ALinkOutOfARunIsNotFollowed) {
  const TemporaryFolder outside;
  write_atomically(outside.path() / "secret", "{\"kind\":\"secret\"}\n");
  const WrittenRun run = finished("a");
  fs::remove(run.path / "metrics.jsonl");
  fs::create_symlink(outside.path() / "secret", run.path / "metrics.jsonl");
  fs::create_directory_symlink(outside.path(), here.path() / "b");
  RunIndex index(here.path());
  const json answer = changes(index);

  EXPECT_THAT(ids(answer), ElementsAre("a"));
  EXPECT_THAT(answer.at("runs").at(0).at("problems").at(0).get<std::string>(),
              HasSubstr("leads out of the run's folder: metrics.jsonl"));
  EXPECT_FALSE(index.find("a"));
}

TEST_F(RunIndexTest, LinksInsideARunAreFollowed) {
  const WrittenRun run = finished("a");
  fs::create_directories(run.path / "checkpoints" / "00000010");
  fs::create_directory_symlink("00000010", run.path / "checkpoints" / "best");
  fs::create_directory_symlink("00000099", run.path / "checkpoints" / "last");
  EXPECT_FALSE(link_out_of(run.path));
  fs::create_directory_symlink("../../..", run.path / "checkpoints" / "odd");
  EXPECT_EQ(link_out_of(run.path), "checkpoints/odd");
}

TEST_F(RunIndexTest, FindsRunsByIdAlone) {
  finished("a");
  RunIndex index(here.path());
  index.wait_for_scan();
  EXPECT_TRUE(index.find("a"));
  for (const std::string id : {"", ".", "..", "../a", "./a", "a/", "a/../a", "/",
                               (here.path() / "a").c_str(), "b"}) {
    EXPECT_FALSE(index.find(id)) << id;
  }
}

TEST_F(RunIndexTest, AFolderThatVanishesLeavesAnEmptyList) {
  finished("runs/a");
  RunIndex index(here.path() / "runs");
  EXPECT_EQ(changes(index).at("runs").size(), 1u);
  fs::rename(here.path() / "runs", here.path() / "gone");
  EXPECT_EQ(changes(index).at("runs").size(), 0u);
  EXPECT_FALSE(index.find("a"));
}

TEST_F(RunIndexTest, NeedsAFolder) {
  EXPECT_THROW(RunIndex(here.path() / "nothing"), InputError);
}

TEST_F(RunIndexTest, ARunItselfIsAFolderOfOne) {
  finished("a");
  RunIndex index(here.path() / "a" / "");
  EXPECT_THAT(ids(changes(index)), ElementsAre("a"));
}

TEST_F(RunIndexTest, NamesThatCannotBeShownAreToldApart) {
  finished("a\x01");
  finished("a\x02");
  RunIndex index(here.path());
  EXPECT_THAT(ids(changes(index)), ElementsAre("a?", "a? (2)"));
}

}  // namespace
}  // namespace convoy
