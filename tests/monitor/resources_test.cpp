// SPDX-License-Identifier: Apache-2.0
//
// resources.csv: what a rank notes of itself, and how everyone's rows get into one file.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "convoy/checkpoint/run_folder.h"
#include "convoy/monitor/resource_records.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/comm/thread_ranks.h"
#include "tests/train/small_settings.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// Rows of the file by rank; each has as many cells as the header.
std::map<std::string, std::vector<std::vector<std::string>>> rows_by_rank(
    const std::filesystem::path& file) {
  std::map<std::string, std::vector<std::vector<std::string>>> rows;
  const std::vector<std::string> lines = split(read_text(file), '\n');
  EXPECT_EQ(lines.at(0), resource_header());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> cells = split(lines[i] + ",.", ',');
    EXPECT_EQ(cells.size(), 12u) << lines[i];
    rows[cells.at(1)].push_back(cells);
  }
  return rows;
}

TEST(ResourceRow, IsALineOfCsv) {
  ResourceRow row{.time = 1.5,
                  .rank = 2,
                  .user_percent = 98.76,
                  .system_percent = 1.2,
                  .rss_bytes = 10,
                  .peak_rss_bytes = 11,
                  .bytes_sent = 12,
                  .bytes_received = 13,
                  .voluntary_switches = 14,
                  .involuntary_switches = 15};
  EXPECT_EQ(to_csv(row), "1.500,2,98.8,1.2,10,11,12,13,14,15,");

  row.throttled_ms = 3.25;
  EXPECT_EQ(to_csv(row), "1.500,2,98.8,1.2,10,11,12,13,14,15,3.2");
  EXPECT_EQ(split(resource_header(), ',').size(), 11u);
}

TEST(ResourceSampler, NotesWhatIsUsedInEachStretch) {
  ResourceSampler sampler(/*rank=*/3, milliseconds(50));
  sampler.set_traffic(7, 8);
  const Stopwatch watch;
  volatile double sum = 0;
  while (watch.seconds() < 0.3) sum = sum + 1;  // one core is busy
  sampler.stop();

  const std::vector<ResourceRow> rows = sampler.take(1000);
  ASSERT_GE(rows.size(), 2u);
  EXPECT_LE(rows.size(), 8u);
  double busiest = 0;
  for (const ResourceRow& row : rows) {
    EXPECT_EQ(row.rank, 3);
    EXPECT_EQ(row.bytes_sent, 7u);
    EXPECT_EQ(row.bytes_received, 8u);
    EXPECT_GT(row.rss_bytes, 1u << 20);
    busiest = std::max(busiest, row.user_percent);
  }
  EXPECT_GT(busiest, 5);
  EXPECT_GT(rows.back().time, rows.front().time);
}

TEST(ResourceSampler, GivesEachRowOnce) {
  ResourceSampler sampler(0, milliseconds(1));
  while (!sampler.has_rows()) std::this_thread::yield();
  EXPECT_EQ(sampler.take(1).size(), 1u);
  sampler.stop();

  const std::vector<ResourceRow> rest = sampler.take(100000);

  EXPECT_GE(rest.size(), 1u) << "the last row";
  EXPECT_FALSE(sampler.has_rows());
  EXPECT_TRUE(sampler.take(10).empty());
}

TEST(ResourceRecords, GatherEveryRanksRows) {
  const TemporaryFolder here;
  RunFolder folder = RunFolder::create(here.path(), "a", "default");

  run_ranks(3, [&](Comm& comm) {
    ResourceRecords records(comm, comm.is_first() ? &folder : nullptr, milliseconds(2));
    records.after_step({.bytes_sent = 5}, /*gather=*/false);
    std::this_thread::sleep_for(milliseconds(60));  // for more than one message
    records.after_step({.bytes_sent = 6}, /*gather=*/true);
    if (comm.is_first()) {
      EXPECT_GE(rows_by_rank(folder.path() / "resources.csv").size(), 1u) << "at once";
    }
    records.finish();
  });

  const auto rows = rows_by_rank(folder.path() / "resources.csv");
  ASSERT_EQ(rows.size(), 3u);
  for (const auto& [rank, of_rank] : rows) {
    EXPECT_GT(of_rank.size(), 8u) << rank;
    EXPECT_EQ(of_rank.back().at(6), "6") << "bytes sent";
    double before = 0;
    for (const auto& row : of_rank) {
      EXPECT_GE(std::stod(row[0]), before);
      before = std::stod(row[0]);
    }
  }
}

TEST(ResourceRecords, GoOnInAFolderThatIsOpenedAgain) {
  const TemporaryFolder here;
  {
    RunFolder folder = RunFolder::create(here.path(), "a", "default");
    folder.start_resources("header");
    folder.add_resources("one");
  }
  {
    RunFolder folder = RunFolder::open(here.path() / "a");
    folder.start_resources("header");
    folder.add_resources("two");
  }

  EXPECT_EQ(read_text(here.path() / "a" / "resources.csv"), "header\none\ntwo\n");
}

class ResourcesOfARun : public testing::Test {
 protected:
  void train_with_resources(int ranks) {
    RunFolder folder = RunFolder::create(here.path(), "a", "default");
    run_ranks(ranks, [&](Comm& comm) {
      Trainer trainer(settings, comm);
      trainer.train(comm.is_first() ? &folder : nullptr, nullptr, stop, "");
    });
  }

  TemporaryFolder here;
  StopRequest stop;
  Settings settings = small_settings(35, 9, 16, /*threads=*/1);
  std::filesystem::path file = here.path() / "a" / "resources.csv";
};

TEST_F(ResourcesOfARun, AreThoseOfEveryRank) {
  train_with_resources(2);

  const auto rows = rows_by_rank(file);
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& [rank, of_rank] : rows) {
    EXPECT_GT(std::stoull(of_rank.back().at(6)), 100000u) << "bytes sent by " << rank;
  }
}

TEST_F(ResourcesOfARun, ComeEverySecondWhileItRuns) {
  settings.inject.delay = "100";
  settings.train.epochs = 8;  // of three steps: two and a half seconds

  train_with_resources(2);

  for (const auto& [rank, of_rank] : rows_by_rank(file)) {
    EXPECT_GE(of_rank.size(), 3u) << rank;
  }
}

TEST_F(ResourcesOfARun, MayBeTurnedOff) {
  settings.run.resources = false;
  train_with_resources(1);

  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace convoy
