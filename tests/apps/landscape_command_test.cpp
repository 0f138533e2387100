// SPDX-License-Identifier: Apache-2.0
//
// convoy landscape, as a user meets it.

#include <csignal>
#include <thread>

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class LandscapeCommand : public ProgramTest {
 protected:
  fs::path saving_run(const std::string& name, const Arguments& more = {}) const {
    return train(name, Arguments{"checkpoint.saves_per_epoch=2"} + more);
  }

  /// Maps a small grid; returns landscape.json.
  std::string map(const Arguments& more) const {
    const CommandResult result = convoy(Arguments{"landscape", "--grid", "3"} + more);
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    out = result.out;
    return read_text(here() / "out" / "landscape.json");
  }

  mutable std::string out;
};

TEST_F(LandscapeCommand, MapsTheWaysOfRuns) {
  const fs::path a = saving_run("a");
  const fs::path b = saving_run("b", {"optimizer.lr=0.05"});

  const json found =
      json::parse(map({a.string(), b.string(), "--out", (here() / "out").string()}));

  EXPECT_THAT(out, HasSubstr("3 x 3 points and 10 saves x 53 samples = 1,007 forward"));
  EXPECT_EQ(found.at("split"), "test");
  EXPECT_EQ(found.at("batch_norm"), "none");
  ASSERT_EQ(found.at("runs").size(), 2u);
  const json& last = found.at("runs")[1].at("saves").back();
  EXPECT_EQ(last.at("step"), 6);
  EXPECT_EQ(last.at("loss"), read_json(b / "summary.json").at("test").at("loss"));
  for (const char* name : {"landscape.npy", "trajectory-1.npy", "trajectory-2.npy"}) {
    EXPECT_TRUE(fs::exists(here() / "out" / name)) << name;
  }
}

TEST_F(LandscapeCommand, TakesAllRunsOfAFolder) {
  const fs::path a = saving_run("a"), b = saving_run("b", {"optimizer.lr=0.05"});
  const std::string to = (here() / "out").string();

  const std::string expected = map({a.string(), b.string(), "--out", to});

  EXPECT_EQ(map({a.parent_path().string(), "--out", to}), expected);
}

TEST_F(LandscapeCommand, FindsTheSameBitsOnAnyNumberOfRanksAndThreads) {
  const std::string run = saving_run("a").string();
  const Arguments common = {run, "--out", (here() / "out").string()};
  const std::string expected = map(common + Arguments{"cluster.threads=1"});

  EXPECT_EQ(map(common + Arguments{"cluster.threads=2"}), expected);
  EXPECT_EQ(map(common + Arguments{"-n", "2"}), expected);
  EXPECT_EQ(map(common + Arguments{"-n", "3"}), expected);
}

TEST_F(LandscapeCommand, WritesToTheFirstRunByDefault) {
  const fs::path run = saving_run("a");

  const CommandResult result =
      convoy({"landscape", run.string(), "--grid", "2", "--samples", "7"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_json(run / "landscape.json").at("samples"), 7);
}

TEST_F(LandscapeCommand, RefusesARunWithoutSaves) {
  const fs::path run = train("a");

  expect_refused(convoy({"landscape", run.string()}), 65,
                 {"no saved weights", "checkpoint.saves_per_epoch=3"});
  expect_refused(convoy({"landscape", (here() / "none").string()}), 74,
                 {"none", "No such file"});
  expect_refused(convoy({"landscape", (run / "checkpoints").string()}), 65,
                 {"no config.yaml"});
}

TEST_F(LandscapeCommand, RefusesRunsOfDifferentModels) {
  const fs::path a = saving_run("a");
  const fs::path b = saving_run("b", {"model=cnn1"});

  expect_refused(convoy({"landscape", a.string(), b.string()}), 65,
                 {"cnn1 on synthetic", "lenet5 on synthetic", "one model"});
}

TEST_F(LandscapeCommand, RefusesTooFewSavesForAPlane) {
  const fs::path run = train("a", {"checkpoint.saves_per_epoch=1", "train.max_steps=3"});

  expect_refused(convoy({"landscape", run.string()}), 65, {"2 of them", "at least 3"});
  EXPECT_EQ(
      convoy({"landscape", run.string(), "--grid", "2", "--directions", "random"}).code,
      0);
}

TEST_F(LandscapeCommand, CountsBeforeItBegins) {
  const fs::path run =
      saving_run("a", {"data.synthetic.test_count=2000", "train.epochs=1"});

  expect_refused(convoy({"landscape", run.string(), "--grid", "1500"}), 2,
                 {"1500 x 1500 points", "4,500,006,000 forward passes",
                  "at most 1,000,000,000", "--force"});
}

TEST_F(LandscapeCommand, RefusesADamagedSave) {
  const fs::path run = saving_run("a");
  const fs::path save = run / "saves" / "00000003.safetensors";
  fs::resize_file(save, fs::file_size(save) / 2);

  const CommandResult result = convoy({"landscape", run.string()});

  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, HasSubstr("00000003.safetensors"));
  EXPECT_FALSE(fs::exists(run / "landscape.json"));
}

TEST_F(LandscapeCommand, RefusesARunThatIsBeingWritten) {
  ConvoyProcess process(
      small_training("a", {"checkpoint.saves_per_epoch=3", "train.epochs=1000000"}),
      here());
  ASSERT_TRUE(process.wait_until(
      [&] { return fs::exists(here() / "runs/a/saves/00000003.safetensors"); }));

  expect_refused(convoy({"landscape", "runs/a"}), 65,
                 {"a process is writing", "has ended"});
  process.send(SIGTERM);
  process.wait();
}

TEST_F(LandscapeCommand, RefusesARunThatChangesMeanwhile) {
  const fs::path run = saving_run("a", {"data.synthetic.test_count=400"});
  ConvoyProcess process({"landscape", run.string(), "--grid", "15"}, here());
  ASSERT_TRUE(process.wait_for_output("forward passes"));
  fs::remove(run / "saves" / "00000003.safetensors");

  const CommandResult result = process.wait();

  EXPECT_EQ(result.code, 65) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("changed meanwhile"));
  EXPECT_FALSE(fs::exists(run / "landscape.json"));
}

TEST_F(LandscapeCommand, EndsCleanlyOnCtrlC) {
  const fs::path run = saving_run("a");
  ConvoyProcess process({"landscape", run.string(), "--grid", "1000"}, here());
  ASSERT_TRUE(process.wait_for_output("forward passes"));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  process.send(SIGINT);

  EXPECT_EQ(process.wait().code, 75);
  EXPECT_FALSE(fs::exists(run / "landscape.json"));
}

}  // namespace
}  // namespace convoy
