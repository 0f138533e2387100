// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/logbook.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <thread>

#include "convoy/base/error.h"
#include "convoy/system/append_file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/compare/written_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Logbook : public testing::Test {
 protected:
  WrittenRun finished_run(const std::string& name) const {
    WrittenRun run(here.path() / name);
    run.write_summary();
    run.write("metrics.jsonl", epoch_line(1, 2) + eval_line(1, 0.8, "val") +
                                   epoch_line(2, 2) + eval_line(2, 0.7, "val"));
    run.write("resources.csv",
              "time,rank,cpu_user_percent,cpu_system_percent,rss_bytes\n"
              "1.0,0,150.0,10.0,5,5,0,0\n1.0,1,30.0,10.0,5,5,0,0\nno row\n");
    fs::create_directories(run.path / "checkpoints" / "00000010");
    fs::create_directory_symlink("00000010", run.path / "checkpoints" / "best");
    return run;
  }
  std::string book() const { return read_text(here.path() / "logbook.md"); }

  TemporaryFolder here;
};

TEST_F(Logbook, EntrySaysHowTheRunWentAndWhereItsBestCheckpointIs) {
  append_to_logbook(finished_run("a").path, {.place = "s3://models/runs/a"});

  EXPECT_THAT(book(), StartsWith("# Log book\n\n## `a`\n\n20"));
  for (const char* line :
       {": done\n", "| batch size | 64 |\n",
        "| strategy | `ddp`, ranks: 2, threads per rank: 1 |\n",
        "| training time | 0:04 (4.0 s), in all 5.0 s |\n",
        "| memory | 3.0 MiB, of the rank with most |\n",
        "| CPU utilisation | 100 % of one core per rank, on average |\n",
        "| validation, best | accuracy 80.00 %, loss 0.4000, epoch 1 |\n",
        "| validation, last | accuracy 70.00 %, loss 0.4000 |\n",
        "| test | accuracy 90.00 %, loss 0.2500 |\n",
        "| best checkpoint | `a/checkpoints/00000010` |\n",
        "| uploaded to | `s3://models/runs/a/checkpoints/00000010` |\n",
        "| records | `s3://models/runs/a` |\n",
        "| repeat | `convoy train --config a/config.yaml` |\n"}) {
    EXPECT_THAT(book(), HasSubstr(line));
  }
}

TEST_F(Logbook, EntryOfAFailedUploadSaysSo) {
  append_to_logbook(finished_run("a").path,
                    {.place = "s3://models/runs/a", .failure = "no\nconnection"});
  EXPECT_THAT(book(), AllOf(HasSubstr("| not uploaded | `no connection` |\n"),
                            Not(HasSubstr("| uploaded to |"))));
}

TEST_F(Logbook, NamesAreNeitherMarkdownNorHtml) {
  append_to_logbook(finished_run("a`<img src=x>|b").path, {});
  EXPECT_THAT(book(), AllOf(HasSubstr("## `a'<img src=x>|b`\n"),
                            HasSubstr("`a'<img src=x>\\|b/checkpoints/00000010`")));
}

TEST_F(Logbook, EntriesOfConcurrentRunsAreWhole) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    const fs::path run = finished_run("run-" + std::to_string(i)).path;
    threads.emplace_back([run] {
      for (int time = 0; time < 5; ++time) append_to_logbook(run, {});
    });
  }
  for (std::thread& thread : threads) thread.join();

  std::istringstream text(book());
  int heads = 0, entries = 0, ends = 0;
  for (std::string line; std::getline(text, line);) {
    heads += line == "# Log book" ? 1 : 0;
    ends += line.starts_with("| repeat |") ? 1 : 0;
    if (!line.starts_with("## `run-")) continue;
    EXPECT_EQ(entries++, ends);
  }
  EXPECT_EQ(heads, 1);
  EXPECT_EQ(entries, 40);
  EXPECT_EQ(ends, 40);
}

TEST_F(Logbook, ThatIsNoRegularFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((here.path() / "logbook.md").c_str(), 0644), 0);
  const fs::path run = finished_run("a").path;
  EXPECT_THROW(append_to_logbook(run, {}), InputError);
}

TEST_F(Logbook, ThatStaysLockedIsGivenUp) {
  append_to_logbook(finished_run("a").path, {});
  const std::string before = book();
  const Descriptor other(::open((here.path() / "logbook.md").c_str(), O_RDONLY));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);

  EXPECT_THROW(append_locked(here.path() / "logbook.md", "", "more", 0.05), InputError);
  EXPECT_EQ(book(), before);
}

}  // namespace
}  // namespace convoy
