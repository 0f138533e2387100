// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/event_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "convoy/base/error.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"
#include "tests/events/read_events.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::Pair;

class EventFile : public testing::Test {
 protected:
  std::vector<json> events() {
    writer.flush();
    return read_events(here.path());
  }

  TemporaryFolder here;
  EventWriter writer{here.path()};
};

TEST_F(EventFile, IsNamedAfterTimeHostAndProcess) {
  EXPECT_THAT(writer.path().filename().string(),
              testing::MatchesRegex("events\\.out\\.tfevents\\.[0-9]+\\..+\\." +
                                    std::to_string(::getpid()) + "\\.[0-9]+"));
}

TEST_F(EventFile, BeginsWithItsVersion) {
  const std::vector<json> all = events();

  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].at("file_version"), "brain.Event:2");
}

TEST_F(EventFile, HoldsScalarsWithStepAndTime) {
  const auto before = std::chrono::system_clock::now();
  writer.scalar("train/loss", 50, 0.75);
  writer.scalar("train/loss", 100, 0.5);
  writer.scalar("train/lr", std::size_t{1} << 40, 1e-3);

  const std::vector<json> all = events();
  EXPECT_THAT(curves_of(all).at("train/loss"),
              ElementsAre(Pair(50, 0.75), Pair(100, 0.5)));
  EXPECT_EQ(all.back().at("step"), std::size_t{1} << 40);
  EXPECT_EQ(all.back().at("values").at(0).at("scalar"), static_cast<double>(1e-3f));
  const double earliest =
      std::chrono::duration<double>(before.time_since_epoch()).count();
  EXPECT_GE(all[1].at("wall_time"), earliest);
  EXPECT_LE(all[1].at("wall_time"), earliest + 60);
}

TEST_F(EventFile, HoldsHistograms) {
  writer.histogram("weights/a", 3, std::vector<float>{1, 2, 2, -4});
  writer.histogram("weights/none", 3, {});

  const std::vector<json> all = events();
  ASSERT_EQ(values_of(all).size(), 1u) << "nothing is not drawn";
  const json found = value_tagged(all, "weights/a").at("histogram");
  EXPECT_EQ(found.at("min"), -4);
  EXPECT_EQ(found.at("max"), 2);
  EXPECT_EQ(found.at("num"), 4);
  EXPECT_EQ(found.at("sum"), 1);
  EXPECT_EQ(found.at("sum_squares"), 25);
  EXPECT_EQ(found.at("limits").size(), found.at("counts").size());
  EXPECT_THAT(found.at("counts").get<std::vector<double>>(),
              ElementsAre(0, 1, 0, 1, 0, 2));
}

TEST_F(EventFile, HoldsText) {
  writer.text("settings", "a *word* of\ntwo lines, \xC3\xA4");

  const json found = value_tagged(events(), "settings/text_summary");
  EXPECT_EQ(found.at("plugin"), "text");
  EXPECT_EQ(found.at("tensor").at("type"), 7) << "a string";
  EXPECT_THAT(found.at("tensor").at("shape"), ElementsAre(1));
  EXPECT_THAT(found.at("tensor").at("texts"),
              ElementsAre("a *word* of\ntwo lines, \xC3\xA4"));
}

TEST_F(EventFile, HoldsAGraph) {
  const std::vector<GraphNode> nodes = {
      {.name = "in", .op = "Placeholder", .shape = {-1, 3}},
      {.name = "a/MatMul",
       .op = "MatMul",
       .inputs = {"in"},
       .shape = {-1, 2},
       .details = {{"note", "of mine"}}}};
  writer.graph(nodes);

  const json graph = events().back();
  EXPECT_GT(graph.at("producer"), 0);
  const json& found = graph.at("graph");
  EXPECT_EQ(found.at(0).at("attributes").at("dtype"), 1) << "a float";
  EXPECT_THAT(found.at(0).at("attributes").at("shape"), ElementsAre(-1, 3));
  EXPECT_EQ(found.at(1).at("name"), "a/MatMul");
  EXPECT_EQ(found.at(1).at("op"), "MatMul");
  EXPECT_THAT(found.at(1).at("inputs"), ElementsAre("in"));
  EXPECT_THAT(found.at(1).at("attributes").at("_output_shapes"),
              ElementsAre(ElementsAre(-1, 2)));
  EXPECT_EQ(found.at(1).at("attributes").at("note"), "of mine");
}

TEST_F(EventFile, HoldsASessionForTheHparamsPage) {
  const std::string metrics[] = {"test/accuracy"};
  writer.start_session({{"lr", 0.5}, {"model", "lenet5"}, {"flip", true}}, metrics);
  writer.end_session(/*success=*/true);

  const std::vector<json> all = events();
  const json experiment = value_tagged(all, "_hparams_/experiment");
  EXPECT_EQ(experiment.at("plugin"), "hparams");
  EXPECT_EQ(experiment.at("content").at("columns"),
            (json{{"flip", 2}, {"lr", 3}, {"model", 1}}));
  EXPECT_THAT(experiment.at("content").at("metrics"), ElementsAre("test/accuracy"));
  EXPECT_EQ(value_tagged(all, "_hparams_/session_start_info").at("content").at("hparams"),
            (json{{"flip", true}, {"lr", 0.5}, {"model", "lenet5"}}));
  EXPECT_EQ(value_tagged(all, "_hparams_/session_end_info").at("content").at("status"),
            1);
  for (const json& value : values_of(all)) {
    EXPECT_EQ(value.at("tensor").at("type"), 1) << "else it is dropped";
  }
}

TEST_F(EventFile, ComesAfterThoseThatAreThere) {
  std::vector<std::string> names{writer.path().filename()};
  EXPECT_TRUE(writer.is_first());
  for (int i = 0; i < 12; ++i) {
    const EventWriter next(here.path());
    EXPECT_FALSE(next.is_first());
    names.push_back(next.path().filename());
  }

  EXPECT_TRUE(std::ranges::is_sorted(names)) << "all of them in one second";
}

TEST_F(EventFile, SaysFromWhichStepOnItTellsAgain) {
  writer.start_again(101);

  const json start = events().back();
  EXPECT_EQ(start.at("step"), 101);
  EXPECT_EQ(start.at("session"), 1) << "START";
}

TEST_F(EventFile, IsWrittenAtMostOnceASecond) {
  writer.flush();
  const std::uintmax_t before = fs::file_size(writer.path());
  writer.scalar("a", 1, 1);
  EXPECT_EQ(fs::file_size(writer.path()), before);

  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  writer.scalar("a", 2, 1);
  EXPECT_EQ(curves_of(read_events(here.path())).at("a").size(), 2u);
}

TEST_F(EventFile, IsReadUpToTheLastWholeRecordWhereverItIsCutOff) {
  for (int step = 1; step <= 3; ++step) writer.scalar("a", step, step);
  writer.flush();
  const std::string whole = read_text(writer.path());
  const TemporaryFolder other;

  for (std::size_t missing = 1; missing < 30; missing += 7) {
    std::ofstream(other.path() / "tfevents", std::ios::trunc | std::ios::binary)
        << whole.substr(0, whole.size() - missing);
    const std::vector<json> found = read_events(other.path());
    EXPECT_EQ(curves_of(found).at("a").size(), 2u);
    EXPECT_GT(found.back().at("cut_off"), 0);
  }
}

TEST_F(EventFile, IsRefusedByAReaderWhereverAByteIsChanged) {
  writer.scalar("a", 1, 1);
  writer.flush();
  const std::string whole = read_text(writer.path());
  const TemporaryFolder other;

  // Length, its checksum, the record, its checksum.
  for (const std::size_t place : {0u, 9u, 14u, 20u, 35u}) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 0x10);
    std::ofstream(other.path() / "tfevents", std::ios::trunc | std::ios::binary)
        << changed;
    EXPECT_EQ(run_event_reader(other.path()).code, 1) << "byte " << place;
  }
}

TEST(EventWriter, IsAStorageErrorWhereNoFileCanBeMade) {
  expect_error(InputKind::storage, {"/proc/absent"},
               [] { EventWriter writer("/proc/absent"); });
  expect_error(InputKind::storage, {"events.out.tfevents"},
               [] { EventWriter writer("/proc/self/fdinfo"); });
}

/// Files of this process cannot grow beyond so many bytes while it lives: then a write
/// fails, as on a full disk.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(EventFile, IsAStorageErrorWhenTheDiskIsFullAndStaysWhole) {
  writer.scalar("a", 1, 1);
  writer.flush();
  const std::string before = read_text(writer.path());
  {
    const FileLimit limit(before.size() + 20);
    writer.scalar("a", 2, 2);
    expect_error(InputKind::storage, {"File too large"}, [&] { writer.flush(); });
  }
  EXPECT_EQ(read_text(writer.path()), before);

  EXPECT_EQ(curves_of(events()).at("a").size(), 2u) << "nothing is lost if space is made";
}

}  // namespace
}  // namespace convoy
