// SPDX-License-Identifier: Apache-2.0
//
// A run that saves every few steps, killed at random moments, on a full disk, and with
// every write that can fail failing once: the next start always finds a whole checkpoint,
// and the run ends at the bits of one that nothing happened to.
//
// CONVOY_KILLS and CONVOY_FAULTS say how many (script/torture sets them); a few by
// default.

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

int from_environment(const char* name, int usual) {
  const char* value = std::getenv(name);
  return value == nullptr ? usual : std::atoi(value);
}

class Torture : public ProgramTest {
 protected:
  Arguments training(const std::string& name, const Arguments& more = {}) const {
    return Arguments{"train",
                     "model=lenet5",
                     "data=synthetic",
                     "data.synthetic.train_count=2400",
                     "data.synthetic.test_count=50",
                     "train.batch_size=16",
                     "train.epochs=2",
                     "train.microbatches=2",
                     "checkpoint.every_steps=4",
                     "checkpoint.keep=2",
                     "cluster.threads=1",
                     "train.resume=auto",
                     "run.name=" + name} +
           more;
  }

  std::string undisturbed() const {
    EXPECT_EQ(convoy(training("undisturbed")).code, 0);
    return weights_of(here() / "runs" / "undisturbed");
  }

  fs::path checkpoints(const std::string& name) const {
    return here() / "runs" / name / "checkpoints";
  }

  /// Goes on until it is done; returns how it ended.
  CommandResult finish(const std::string& name,
                       const ProcessOptions& options = {}) const {
    return convoy(training(name), options);
  }
};

TEST_F(Torture, KilledAtAnyMomentItGoesOnToTheSameBits) {
  const std::string expected = undisturbed();
  const int kills = from_environment("CONVOY_KILLS", 8);
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> moment(10, 500);  // milliseconds
  int killed = 0, finished = 0;
  for (int i = 0; killed < kills; ++i) {
    const int milliseconds = moment(random);
    ConvoyProcess run(training("killed"), here());
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    run.send(SIGKILL);
    const CommandResult result = run.wait();
    if (result.signal == SIGKILL) {
      ++killed;
      continue;
    }
    // It came to its end before: once more from the start.
    ASSERT_EQ(result.code, 0) << result.out << result.err;
    ASSERT_EQ(weights_of(here() / "runs" / "killed"), expected);
    ++finished;
    fs::remove_all(here() / "runs" / "killed");
  }
  const CommandResult last = finish("killed");
  EXPECT_EQ(last.code, 0) << last.out << last.err;
  EXPECT_EQ(weights_of(here() / "runs" / "killed"), expected);
  RecordProperty("killed", killed);
  RecordProperty("finished", finished + 1);
}

/// A run whose n-th operation on files of checkpoints fails, for n = 1, 2 ...
TEST_F(Torture, WithAnyWriteFailingOnceItGoesOnToTheSameBits) {
  const std::string expected = undisturbed();
  const int faults = from_environment("CONVOY_FAULTS", 8);
  const int stride = std::max(1, 120 / faults);
  int failed = 0;
  for (int i = 0, nth = 1; i < faults; ++i, nth += stride) {
    fs::remove_all(here() / "runs" / "faulty");
    const ProcessOptions failing{.environment = {{"LD_PRELOAD", FAILING_WRITES},
                                                 {"FAIL_PATH", "checkpoints"},
                                                 {"FAIL_AT", std::to_string(nth)}}};
    const CommandResult first = finish("faulty", failing);
    if (first.code != 0) {
      EXPECT_EQ(first.code, 74) << first.out << first.err;
      EXPECT_THAT(first.err, HasSubstr("Input/output error")) << nth;
      ++failed;
    }
    const CommandResult second = finish("faulty");
    ASSERT_EQ(second.code, 0) << nth << second.out << second.err;
    ASSERT_EQ(weights_of(here() / "runs" / "faulty"), expected) << nth;
  }
  EXPECT_GT(failed, faults / 2) << "the shim is not at work";
}

TEST_F(Torture, WhereNamesCannotBeExchangedItSavesAllTheSame) {
  // A checkpoint at an epoch's last step, and again after its evaluation.
  const Arguments twice = training("a", {"checkpoint.every_steps=150"});
  const CommandResult result = convoy(
      twice, {.environment = {{"LD_PRELOAD", FAILING_WRITES}, {"NO_EXCHANGE", "1"}}});

  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(convoy({"eval", (here() / "runs" / "a").string()}).code, 0);
  for (const std::string& name : all_below(checkpoints("a"))) {
    EXPECT_FALSE(name.starts_with(".")) << name;
  }
}

/// A file system of so many bytes in a namespace of its own; needs no privileges where
/// users may have namespaces.
TEST_F(Torture, OnAFullDiskItStopsAndGoesOnToTheSameBits) {
  const std::string expected = undisturbed();
  // The disk is full first; then others' files go.
  const std::string script =
      "mkdir -p runs && mount -t tmpfs -o size=4m none runs && "
      "dd if=/dev/zero of=runs/others bs=1k count=2900 2>/dev/null; "
      "\"$@\"; first=$?; rm runs/others; \"$@\"; echo first $first second $?; "
      "cp runs/full/summary.json .";
  const CommandResult result =
      convoy(Arguments{"-rm", "/bin/sh", "-c", script, "sh", CONVOY_BINARY} +
                 training("full", {"checkpoint.keep=0", "checkpoint.every_steps=60"}),
             {.program = "/usr/bin/unshare"});
  if (result.out.find("second") == std::string::npos) {
    GTEST_SKIP() << "no namespace here: " << result.err;
  }
  EXPECT_THAT(result.out, HasSubstr("first 74"));
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  EXPECT_EQ(read_json(here() / "summary.json").at("weights_sha256"), expected)
      << result.out << result.err;
}

}  // namespace
}  // namespace convoy
