// SPDX-License-Identifier: Apache-2.0
//
// convoy train, as a user meets it: what it prints, and the folder it leaves.

#include <algorithm>

#include "convoy/base/sha256.h"
#include "test_places.h"
#include "tests/apps/small_run.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAreArray;

class TrainCommand : public ProgramTest {};

bool is_event_file(const std::string& name) {
  return name.starts_with("events.out.tfevents.");
}

TEST_F(TrainCommand, LeavesTheFilesOfARun) {
  const fs::path run = train("a");

  std::vector<std::string> expected{"config.yaml",      "metrics.jsonl",   "summary.json",
                                    "log.txt",          "resources.csv",   "model.json",
                                    "eval.json",        "report.html",     "checkpoints",
                                    "checkpoints/last", "checkpoints/best"};
  for (const std::string folder : {"checkpoints/00000003", "checkpoints/00000006"}) {
    expected.push_back(folder);
    for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json",
                             "config.yaml", "manifest.json"}) {
      expected.push_back(folder + "/" + file);
    }
  }
  std::vector<std::string> found = all_below(run);
  EXPECT_EQ(std::erase_if(found, is_event_file), 1u);
  EXPECT_THAT(found, UnorderedElementsAreArray(expected));
  EXPECT_EQ(fs::read_symlink(run / "checkpoints" / "last"), "00000006");
}

TEST_F(TrainCommand, RecordsEveryStepEpochAndEvaluation) {
  const fs::path run = train("a");

  std::vector<std::string> kinds;
  for (const json& line : read_json_lines(run / "metrics.jsonl")) {
    kinds.push_back(line.at("kind"));
    for (const char* field : {"step", "epoch", "loss", "accuracy"}) {
      EXPECT_TRUE(line.at(field).is_number()) << line;
    }
    if (kinds.back() == "eval") continue;
    EXPECT_GT(line.at("images_per_second"), 0) << line;
    EXPECT_EQ(line.at("lr"), 0.01) << line;
  }
  const std::vector<std::string> epoch{"step", "step", "step", "epoch", "eval"};
  EXPECT_EQ(kinds, epoch + epoch);
}

TEST_F(TrainCommand, AddsAnEntryToTheLogBookUnlessToldNotTo) {
  train("a", {"data.val_fraction=0.2"});
  train("b", {"run.logbook=false"});
  train("c");

  const std::string book = read_text(here() / "runs" / "logbook.md");
  EXPECT_THAT(book, AllOf(HasSubstr("## `a`\n"), Not(HasSubstr("## `b`\n")),
                          HasSubstr("## `c`\n"), HasSubstr("| validation, best |"),
                          HasSubstr("| best checkpoint | `a/checkpoints/0")));
}

TEST_F(TrainCommand, EndsWellWithoutALogBookThatCannotBeWritten) {
  fs::create_directories(here() / "runs" / "logbook.md");
  const CommandResult result = convoy(small_training("a"));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("the run has no entry in the log book"));
}

TEST_F(TrainCommand, SummarisesWhatCameOut) {
  const json summary = read_json(train("a") / "summary.json");

  const json exact = {
      {"model", "lenet5"},    {"parameters", 61706}, {"data", "synthetic"},
      {"strategy", "single"}, {"ranks", 1},          {"microbatches", 1},
      {"batch_size", 32},     {"epochs", 2},         {"steps", 6}};
  for (const auto& [field, value] : exact.items()) {
    EXPECT_EQ(summary.at(field), value) << field;
  }
  EXPECT_GE(summary.at("threads"), 1);
  EXPECT_EQ(summary.at("test").at("total"), 53);
  EXPECT_EQ(summary.at("exit"), (json{{"code", 0}, {"reason", "done"}}));
  EXPECT_EQ(summary.at("communication"),
            json::array({{{"bytes_sent", 0}, {"bytes_received", 0}}}));
  EXPECT_EQ(summary.at("weights_sha256").get<std::string>().size(), 64u);
  EXPECT_THAT(summary.at("command").get<std::string>(), HasSubstr("train.batch_size=32"));
  EXPECT_FALSE(summary.at("version").get<std::string>().empty());
}

TEST_F(TrainCommand, SummarisesMeasuredNumbersThatAgree) {
  const json summary = read_json(train("a") / "summary.json");

  const json& test = summary.at("test");
  EXPECT_DOUBLE_EQ(test.at("accuracy"), test.at("correct").get<double>() / 53);
  EXPECT_GT(test.at("loss"), 0);
  EXPECT_GT(summary.at("train").at("loss"), 0);
  EXPECT_TRUE(summary.at("train").at("accuracy").is_number());
  const json& seconds = summary.at("seconds");
  EXPECT_GE(seconds.at("total"), seconds.at("training"));
  for (const char* part :
       {"checkpointing", "waiting_for_data", "exposed_communication"}) {
    EXPECT_GE(seconds.at(part), 0) << part;
  }
  const json& step = summary.at("step_ms");
  EXPECT_GT(step.at("p50"), 0);
  EXPECT_LE(step.at("p50"), step.at("p90"));
  EXPECT_LE(step.at("p90"), step.at("max"));
  EXPECT_GT(summary.at("images_per_second"), 0);
  EXPECT_EQ(summary.at("peak_rss_bytes").size(), 1u);
  EXPECT_GT(summary.at("peak_rss_bytes")[0], 1 << 20);
}

TEST_F(TrainCommand, WritesAManifestThatHoldsForItsFiles) {
  const fs::path checkpoint = train("a") / "checkpoints" / "last";

  const json files = read_json(checkpoint / "manifest.json").at("files");
  EXPECT_EQ(files.size(), 4u);
  for (const auto& [name, entry] : files.items()) {
    const std::vector<std::byte> content = read_bytes(checkpoint / name);
    EXPECT_EQ(entry.at("bytes"), content.size()) << name;
    EXPECT_EQ(entry.at("sha256"), sha256_hex(content)) << name;
  }
}

TEST_F(TrainCommand, SavesWhereTrainingStood) {
  const fs::path run = train("a", {"train.max_steps=5", "train.seed=7"});

  const json state = read_json(run / "checkpoints" / "00000005" / "state.json");
  EXPECT_EQ(state.at("step"), 5);
  EXPECT_EQ(state.at("epoch"), 2);
  EXPECT_EQ(state.at("samples"), 64) << "two batches of 32 in the second epoch";
  EXPECT_EQ(state.at("seed"), 7);
}

TEST_F(TrainCommand, RepeatsARunFromItsConfig) {
  const fs::path first =
      train("first", {"model=cnn1", "train.seed=5", "optimizer.lr=0.037"});

  const fs::path config = first / "config.yaml";
  const CommandResult again =
      convoy({"train", "--config", config.string(), "run.name=again"});

  ASSERT_EQ(again.code, 0) << again.err;
  const fs::path second = here() / "runs" / "again";
  EXPECT_EQ(weights_of(second), weights_of(first));
  EXPECT_EQ(read_text(second / "checkpoints" / "last" / "model.safetensors"),
            read_text(first / "checkpoints" / "last" / "model.safetensors"));
}

TEST_F(TrainCommand, RepeatsANamedRunUnderANameOfItsOwn) {
  const fs::path first = train("first");

  const CommandResult again =
      convoy({"train", "--config", (first / "config.yaml").string()});

  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(TrainCommand, EndsElsewhereWithAnotherSeed) {
  EXPECT_NE(weights_of(train("a", {"train.seed=1"})),
            weights_of(train("b", {"train.seed=2"})));
}

TEST_F(TrainCommand, RunsTheReferenceKernelsToTheSameBits) {
  const Arguments tiny{"data.synthetic.train_count=8", "data.synthetic.test_count=3",
                       "train.batch_size=4", "train.epochs=1"};
  const fs::path fast = train("fast", tiny);
  const fs::path reference =
      train("reference", tiny + Arguments{"network.kernels=reference"});

  EXPECT_EQ(weights_of(reference), weights_of(fast));
  EXPECT_EQ(read_json(reference / "summary.json").at("kernels"),
            json::array({"reference"}));
}

TEST_F(TrainCommand, RefusesARunNameThatIsTaken) {
  const fs::path run = train("a");
  const std::string before = read_text(run / "summary.json");

  expect_refused(convoy(small_training("a")), 78, {"run.name", "hint:"});
  EXPECT_EQ(read_text(run / "summary.json"), before);
}

TEST_F(TrainCommand, ShowsSettingsAndPlanInADryRunAndWritesNothing) {
  const CommandResult result =
      convoy(small_training("a", {"--dry-run", "model=cnn1", "train.microbatches=4"}));

  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* part :
       {"name: cnn1", "train_count: 80", "microbatches: 4", "1,199,882", "80 training",
        "32 samples per update in 4 micro-batches", "3 per epoch, 6 in total",
        "memory "}) {
    EXPECT_THAT(result.out, HasSubstr(part));
  }
  expect_nothing_written();
}

TEST_F(TrainCommand, PrintsNoControlCharactersToAFile) {
  const CommandResult result = convoy(small_training("a"));

  const std::string printed = result.out + result.err;
  EXPECT_TRUE(std::ranges::none_of(printed, [](unsigned char c) {
    return (c < ' ' && c != '\n') || c == 0x7F;
  })) << printed;
  EXPECT_THAT(result.out, HasSubstr("test accuracy"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(TrainCommand, KeepsTheEpochsItPrintedInItsLog) {
  const CommandResult result = convoy(small_training("a"));

  const std::string log = read_text(here() / "runs" / "a" / "log.txt");
  const std::size_t begin = result.out.find("Epoch: 1, Train Loss: ");
  ASSERT_NE(begin, std::string::npos) << result.out;
  const std::string line = result.out.substr(begin, result.out.find('\n', begin) - begin);
  EXPECT_THAT(log, HasSubstr(line));
  EXPECT_THAT(log, HasSubstr("1 rank"));
  EXPECT_THAT(log, HasSubstr("waiting for data "));
}

TEST_F(TrainCommand, GoesOnWhenItsReaderGoesAway) {
  const std::string command = std::string(CONVOY_BINARY) +
                              " train data=synthetic data.synthetic.train_count=80 "
                              "data.synthetic.test_count=53 train.batch_size=32 "
                              "train.epochs=40 run.name=a | head -n 1";

  const CommandResult result =
      run_convoy({"-o", "pipefail", "-c", command}, here(), {.program = "/bin/bash"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_json(here() / "runs" / "a" / "summary.json").at("epochs"), 40);
}

TEST_F(TrainCommand, NoticesADivergenceInItsLastStep) {
  const CommandResult result =
      convoy(small_training("a", {"optimizer.lr=1e30", "train.max_steps=1"}));

  EXPECT_EQ(result.code, 79);
  EXPECT_THAT(result.err, HasSubstr("not finite at step 1 (epoch 1)"));
  EXPECT_FALSE(fs::exists(here() / "runs" / "a" / "checkpoints"));
}

TEST_F(TrainCommand, SaysAtWhichStepItDiverged) {
  const CommandResult result = convoy(small_training("a", {"optimizer.lr=1e30"}));

  EXPECT_EQ(result.code, 79);
  EXPECT_THAT(result.err, HasSubstr("not finite at step 2 (epoch 1)"));
  EXPECT_THAT(result.err, HasSubstr("hint: a smaller optimizer.lr"));
  const fs::path run = here() / "runs" / "a";
  const json summary = read_json(run / "summary.json");
  EXPECT_EQ(summary.at("exit").at("code"), 79);
  EXPECT_THAT(summary.at("exit").at("reason").get<std::string>(), HasSubstr("step 2"));
  EXPECT_TRUE(summary.at("test").is_null());
  EXPECT_FALSE(fs::exists(run / "checkpoints" / "last")) << "weights of no use are kept";
}

/// Inputs a thousand times too large: the loss is finite, gradients exceed fp16's range.
TEST_F(TrainCommand, EndsWhenTheLossScaleFellBelowOne) {
  const CommandResult result = convoy(
      small_training("a", {"precision=amp_o2", "precision.init_scale=2",
                           "data.normalize=fixed", "data.mean=0", "data.std=0.0005"}));

  EXPECT_EQ(result.code, 79);
  const std::string reason =
      "the loss scale fell below 1 at step 4 (epoch 2): gradients are not finite, "
      "however "
      "the loss is scaled; try a lower optimizer.lr, optimizer.clip_norm, or "
      "precision=bf16, whose range is that of fp32";
  EXPECT_THAT(result.err, HasSubstr("convoy: " + reason + "\n"));
  EXPECT_THAT(result.out, HasSubstr("reducing loss scale to 1.0\n"));
  EXPECT_THAT(result.out, HasSubstr("reducing loss scale to 0.5\n"));
  const json summary = read_json(here() / "runs" / "a" / "summary.json");
  EXPECT_EQ(summary.at("exit").at("reason"), reason);
  EXPECT_EQ(summary.at("amp").at("skipped_steps"), 2);
}

/// Numbers of fp16 overflow in forward, too, and then the loss is not a number.
TEST_F(TrainCommand, SkipsStepsWhoseLossOverflowedInHalfPrecision) {
  const CommandResult result = convoy(
      small_training("a", {"precision=amp_o2", "precision.init_scale=2",
                           "data.normalize=fixed", "data.mean=0", "data.std=1e-7"}));

  EXPECT_EQ(result.code, 79);
  EXPECT_THAT(result.out, HasSubstr("reducing loss scale to 1.0\n"));
  EXPECT_THAT(result.err, HasSubstr("the loss scale fell below 1 at step 2 (epoch 1)"));
}

struct Equal {
  std::string model;
  int microbatches;
};

/// The same settings end at the same bits, twice and on any number of threads.
class SameBits : public ProgramTest, public testing::WithParamInterface<Equal> {};

TEST_P(SameBits, OnOneTwoAndThreeThreads) {
  const Arguments settings{
      "train.epochs=1", "model=" + GetParam().model,
      "train.microbatches=" + std::to_string(GetParam().microbatches)};
  const auto weights = [&](const std::string& name, const std::string& threads) {
    return weights_of(train(name, settings + Arguments{"cluster.threads=" + threads}));
  };

  const std::string one = weights("one", "1");
  EXPECT_EQ(weights("two", "2"), one);
  EXPECT_EQ(weights("two-again", "2"), one);
  EXPECT_EQ(weights("three", "3"), one);
}

INSTANTIATE_TEST_SUITE_P(Models, SameBits,
                         testing::Values(Equal{"lenet5", 1}, Equal{"lenet5", 4},
                                         Equal{"cnn1", 1}, Equal{"cnn1", 4},
                                         Equal{"mlp6", 4}),
                         [](const auto& info) {
                           return info.param.model + "In" +
                                  std::to_string(info.param.microbatches) +
                                  "Microbatches";
                         });

}  // namespace
}  // namespace convoy
