// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"

namespace convoy {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

void expect_error(InputKind kind, const std::string& part,
                  const std::function<void()>& act) {
  try {
    act();
    FAIL() << "no error; expected one about " << part;
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(RunFolder, IsMadeWithTheFoldersAboveIt) {
  const TemporaryFolder here;

  const RunFolder folder = RunFolder::create(here.path() / "a" / "b", "first", "default");

  EXPECT_EQ(folder.path(), here.path() / "a" / "b" / "first");
  EXPECT_EQ(folder.name(), "first");
  EXPECT_TRUE(std::filesystem::is_directory(folder.path()));
}

TEST(RunFolder, IsRefusedIfTheNameIsTaken) {
  const TemporaryFolder here;
  RunFolder::create(here.path(), "taken", "default");

  expect_error(InputKind::settings, "run.name\n  found:    taken",
               [&] { RunFolder::create(here.path(), "taken", "default"); });
}

TEST(RunFolder, IsRefusedIfTheNameIsNoFoldersName) {
  const TemporaryFolder here;

  for (const char* name : {"a/b", "../up", "..", ".", "line\nbreak"}) {
    expect_error(InputKind::settings, "run.name",
                 [&] { RunFolder::create(here.path(), name, "default"); });
  }
}

TEST(RunFolder, GetsASuffixIfTheDefaultNameIsTaken) {
  const TemporaryFolder here;

  EXPECT_EQ(RunFolder::create(here.path(), "", "run").name(), "run");
  EXPECT_EQ(RunFolder::create(here.path(), "", "run").name(), "run-2");
  EXPECT_EQ(RunFolder::create(here.path(), "", "run").name(), "run-3");
}

TEST(RunFolder, IsAnotherForEachOfManyThatAskAtOnce) {
  const TemporaryFolder here;
  std::vector<std::string> names(8);
  std::vector<std::thread> askers;
  for (std::string& name : names) {
    askers.emplace_back([&] { name = RunFolder::create(here.path(), "", "run").name(); });
  }
  for (std::thread& asker : askers) asker.join();

  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(RunFolder, IsAStorageErrorWhereNoFolderCanBeMade) {
  expect_error(InputKind::storage, "/dev/null/runs",
               [] { RunFolder::create("/dev/null/runs", "a", "default"); });
  expect_error(InputKind::storage, "/proc/a",
               [] { RunFolder::create("/proc", "a", "default"); });
}

TEST(RunFolder, HoldsARecordALine) {
  const TemporaryFolder here;
  std::filesystem::path metrics;
  {
    RunFolder folder = RunFolder::create(here.path(), "a", "default");
    metrics = folder.path() / "metrics.jsonl";
    folder.record({{"kind", "step"}, {"loss", 0.5}});
    folder.record({{"kind", "step"}, {"loss", std::nan("")}, {"text", "two\nlines"}});
  }

  EXPECT_EQ(read_text(metrics),
            "{\"kind\":\"step\",\"loss\":0.5}\n"
            "{\"kind\":\"step\",\"loss\":null,\"text\":\"two\\nlines\"}\n");
}

TEST(RunFolder, WritesRecordsAtMostOnceASecond) {
  const TemporaryFolder here;
  RunFolder folder = RunFolder::create(here.path(), "a", "default");
  const std::filesystem::path metrics = folder.path() / "metrics.jsonl";

  folder.record({{"step", 1}});
  EXPECT_FALSE(std::filesystem::exists(metrics));
  folder.flush();
  EXPECT_EQ(read_text(metrics), "{\"step\":1}\n");

  folder.record({{"step", 2}});
  EXPECT_EQ(read_text(metrics), "{\"step\":1}\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  folder.record({{"step", 3}});
  EXPECT_EQ(read_text(metrics), "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n");
}

TEST(RunFolder, TellsWhenTheDiskIsFull) {
  const TemporaryFolder here;
  RunFolder folder = RunFolder::create(here.path(), "a", "default");
  std::filesystem::create_symlink("/dev/full", folder.path() / "metrics.jsonl");
  std::filesystem::create_symlink("/dev/full", folder.path() / "log.txt");

  folder.record({{"step", 1}});
  expect_error(InputKind::storage, "metrics.jsonl\n  found:    No space left",
               [&] { folder.flush(); });
  expect_error(InputKind::storage, "log.txt", [&] { folder.log("hello"); });
}

TEST(RunFolder, TellsFromARecordToo) {
  const TemporaryFolder here;
  RunFolder folder = RunFolder::create(here.path(), "a", "default");
  std::filesystem::create_symlink("/dev/full", folder.path() / "metrics.jsonl");

  expect_error(InputKind::storage, "metrics.jsonl", [&] {
    const std::string megabyte(1 << 20, 'x');  // more than may wait
    folder.record({{"text", megabyte}});
  });
}

TEST(RunFolder, DatesTheLinesOfTheLog) {
  const TemporaryFolder here;
  RunFolder folder = RunFolder::create(here.path(), "a", "default");

  folder.log("begins");
  folder.log("goes on\n");

  EXPECT_THAT(read_text(folder.path() / "log.txt"),
              MatchesRegex("[0-9-]+ [0-9:]+  begins\n[0-9-]+ [0-9:]+  goes on\n"));
}

TEST(RunFolder, HoldsConfigAndSummaryWhole) {
  const TemporaryFolder here;
  RunFolder folder = RunFolder::create(here.path(), "a", "default");

  folder.write_config("train:\n  epochs: 3\n");
  folder.write_summary({{"epochs", 2}});
  folder.write_summary({{"epochs", 3}});

  EXPECT_EQ(read_text(folder.path() / "config.yaml"), "train:\n  epochs: 3\n");
  EXPECT_EQ(nlohmann::json::parse(read_text(folder.path() / "summary.json"))["epochs"],
            3);
}

TEST(RunFolder, GoesOnWhereItWasAndDropsALineCutOff) {
  const TemporaryFolder here;
  const std::filesystem::path metrics = here.path() / "metrics.jsonl";
  std::ofstream(metrics) << "{\"step\":1}\n{\"st";

  RunFolder folder = RunFolder::open(here.path());
  folder.record({{"step", 2}});
  folder.flush();

  EXPECT_EQ(read_text(metrics), "{\"step\":1}\n{\"step\":2}\n");
}

TEST(RunFolder, NamesTheLineAndTheFieldOfARecordThatIsNone) {
  const TemporaryFolder here;
  const std::filesystem::path metrics = here.path() / "metrics.jsonl";
  RunFolder folder = RunFolder::open(here.path());
  std::ofstream(metrics) << "{\"step\":1}\n{\"step\":\"x\"}\n";
  expect_error(InputKind::data, metrics.string() + ":2: step\n  found:    \"x\"",
               [&] { folder.forget_after(1, true); });
  std::ofstream(metrics) << "{\"step\":1,\"kind\":null}\n";
  expect_error(InputKind::data, metrics.string() + ":1: kind\n  found:    null",
               [&] { folder.forget_after(1, true); });
}

TEST(RunFolder, KeepsLinesThatAreNoJsonWhenItForgets) {
  const TemporaryFolder here;
  const std::filesystem::path metrics = here.path() / "metrics.jsonl";
  const std::string nested(200'000, '[');
  RunFolder folder = RunFolder::open(here.path());
  std::ofstream(metrics) << nested << "\n{\"step\":9}\n[1]\n";

  EXPECT_EQ(folder.forget_after(1, true), 1u);
  EXPECT_EQ(read_text(metrics), nested + "\n[1]\n");
}

TEST(RunFolder, LogsNoEscapeCodes) {
  const TemporaryFolder here;
  RunFolder::open(here.path()).log("\x1b[2Jcleared");

  EXPECT_THAT(read_text(here.path() / "log.txt"), HasSubstr("  ?[2Jcleared\n"));
}

TEST(RunFolder, IsNotOpenedWhereThereIsNone) {
  const TemporaryFolder here;

  expect_error(InputKind::storage, "absent",
               [&] { RunFolder::open(here.path() / "absent"); });
}

TEST(RunFolder, CanBeMovedWithItsWaitingRecords) {
  const TemporaryFolder here;
  RunFolder first = RunFolder::create(here.path(), "a", "default");
  first.record({{"step", 1}});

  RunFolder second = std::move(first);
  second.flush();

  EXPECT_EQ(read_text(second.path() / "metrics.jsonl"), "{\"step\":1}\n");
}

TEST(DefaultRunName, IsTimeModelAndStrategy) {
  EXPECT_THAT(default_run_name("lenet5", "single", 1794779643),
              MatchesRegex("2026-11-1[56]_[0-9]+-[0-9]+-03_lenet5_single"));
}

}  // namespace
}  // namespace convoy
