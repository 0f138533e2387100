// SPDX-License-Identifier: Apache-2.0
//
// A run that was stopped and goes on ends at the bits of one that was not: with every
// model, strategy and number of ranks before and after, from any step.

#include "convoy/checkpoint/resume.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/checkpoint/run_folder.h"
#include "convoy/comm/alone_comm.h"
#include "convoy/settings/setting_changes.h"
#include "convoy/setup/workload.h"
#include "convoy/strategy/registry.h"
#include "convoy/system/file.h"
#include "convoy/system/stop_request.h"
#include "convoy/system/temporary_folder.h"
#include "convoy/train/outcome.h"
#include "convoy/train/trainer.h"
#include "tests/base/expect_error.h"
#include "tests/checkpoint/resumed_runs.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

struct Case {
  std::string model, strategy;
};

class ResumeLaw : public Resume, public testing::WithParamInterface<Case> {};

/// The numbers of ranks that resume a checkpoint of `before` ranks: each of a small
/// model; of a large one a single one, in turn, unless the long tests were asked for.
std::vector<int> ranks_after(const std::string& model, int before) {
  if (model == "lenet5" || std::getenv("CONVOY_LONG_TESTS") != nullptr) {
    return {1, 2, 3, 4};
  }
  return {1 + before % 4};
}

/// The step, not the last, at which a run of `before` ranks is cut and resumed by `after`
/// ranks: it differs from pair to pair.
std::size_t cut_at(int before, int after, std::size_t steps) {
  return 1 + static_cast<std::size_t>(before * 4 + after) % (steps - 1);
}

TEST_P(ResumeLaw, EndsAtTheSameBitsFromAnyRanksToAny) {
  const Settings settings = settings_of_resumed(GetParam().model);
  Settings to_the_end = settings;
  to_the_end.checkpoint.every_steps = 0;
  train(to_the_end, "whole");
  const auto steps = static_cast<std::size_t>(3 * settings.train.epochs);
  strategy = GetParam().strategy;
  for (const int before : {1, 2, 3, 4}) {
    const std::string first = fmt::format("before{}", before);
    train(settings, first, before);
    ASSERT_EQ(weights(first), weights("whole"));
    for (const int after : ranks_after(GetParam().model, before)) {
      const std::size_t step = cut_at(before, after, steps);
      const std::string second = fmt::format("from{}to{}", before, after);
      to_the_end.cluster.threads = 1 + after % 2;
      train(going_on(to_the_end, checkpoint(first, step)), second, after);
      EXPECT_EQ(weights(second), weights("whole"))
          << before << " ranks to " << after << " at step " << step;
      fs::remove_all(here.path() / second);
    }
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::string& strategy : strategy_names()) {
    if (is_for_one_rank(strategy)) continue;
    for (const char* model :
         {"lenet5", "cnn1", "fastnet_small", "vit_cifar", "mobilenet_v3_small"}) {
      cases.push_back({model, strategy});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Every, ResumeLaw, testing::ValuesIn(all_cases()),
                         [](const auto& info) {
                           return info.param.model + "_" + info.param.strategy;
                         });

class ResumeAtStep : public Resume, public testing::WithParamInterface<std::size_t> {};

/// All that has a memory: momentum, a schedule over the run, averages, batch norm.
TEST_P(ResumeAtStep, GoesOnWithEverythingThatRemembers) {
  Settings settings = settings_of_resumed("fastnet_small");
  settings.train.epochs = 2;
  settings.optimizer.nesterov = true;
  settings.schedule.name = ScheduleChoice::onecycle;
  settings.train.ema = 0.9;
  settings.train.whiten = true;
  settings.train.augment = AugmentChoice::crop_alternate;
  train(settings, "whole");

  EXPECT_EQ(train(settings, "cut", 2, GetParam()).code, ExitCode::stopped);
  const Outcome done = train(going_on(settings, here.path() / "cut"), "cut", 1);

  EXPECT_EQ(done.code, ExitCode::done);
  EXPECT_EQ(weights("cut"), weights("whole"));
  EXPECT_EQ(records("cut"), records("whole")) << "one row of records, none twice";
}

/// What evaluations decide goes on as well: the rate on a plateau, an equal average,
/// Adam.
TEST_P(ResumeAtStep, GoesOnWithWhatEvaluationsDecided) {
  Settings settings = settings_of_resumed("lenet5");
  settings.optimizer.name = OptimizerChoice::adamw;
  settings.optimizer.clip_norm = 0.5;
  settings.schedule.name = ScheduleChoice::plateau;
  settings.schedule.patience = 0;
  settings.schedule.threshold = 0.9;  // no evaluation is that much better
  settings.train.swa_start = 1;
  train(settings, "whole");

  train(settings, "cut", 3, GetParam());
  train(going_on(settings, here.path() / "cut"), "cut", 2);

  EXPECT_EQ(weights("cut"), weights("whole"));
  EXPECT_EQ(records("cut"), records("whole"));
}

TEST_P(ResumeAtStep, EvaluatesTheEpochsThatAWholeRunDoes) {
  Settings settings = settings_of_resumed("lenet5");
  settings.train.epochs = 3;
  settings.eval.every_epochs = 2;
  train(settings, "whole");

  train(settings, "cut", 2, GetParam());
  train(going_on(settings, here.path() / "cut"), "cut");

  EXPECT_EQ(weights("cut"), weights("whole"));
  EXPECT_EQ(records("cut"), records("whole"));
}

INSTANTIATE_TEST_SUITE_P(Any, ResumeAtStep, testing::Values<std::size_t>(1, 2, 3, 4));

TEST_F(Resume, OfARunThatIsDoneEvaluatesItAgain) {
  const Settings settings = settings_of_resumed("lenet5");
  const Outcome first = train(settings, "a");
  const Outcome again = train(going_on(settings, here.path() / "a"), "a");

  EXPECT_EQ(again.code, ExitCode::done);
  EXPECT_EQ(again.train.loss, first.train.loss);
  EXPECT_EQ(again.test->sum.loss, first.test->sum.loss);
}

TEST_F(Resume, OfARunThatEndedWithinAnEpochGoesOnWithinIt) {
  Settings settings = settings_of_resumed("lenet5");
  train(settings, "whole");
  settings.train.max_steps = 4;
  EXPECT_EQ(train(settings, "short").code, ExitCode::done);
  settings.train.max_steps = 0;
  train(going_on(settings, here.path() / "short"), "short", 2);

  EXPECT_EQ(weights("short"), weights("whole"));
}

TEST_F(Resume, LeavesOutADamagedCheckpoint) {
  const Settings settings = settings_of_resumed("lenet5");
  train(settings, "whole");
  train(settings, "cut", 1, 3);
  const fs::path newest = list_checkpoints(here.path() / "cut").front();
  write_atomically(newest / "model.safetensors", "damaged");
  train(going_on(settings, here.path() / "cut"), "cut");

  EXPECT_EQ(weights("cut"), weights("whole"));
  EXPECT_NO_THROW(verify_checkpoint(newest)) << "it was made again";
}

TEST_F(Resume, WithOtherMicrobatchesIsRefused) {
  Settings settings = settings_of_resumed("lenet5");
  train(settings, "a", 1, 2);
  settings.train.microbatches = 2;

  expect_error(InputKind::settings,
               {"train.microbatches", "2", "4, as in", "resume_force"},
               [&] { train(going_on(settings, here.path() / "a"), "b"); });
  settings.train.resume_force = true;
  EXPECT_EQ(train(going_on(settings, here.path() / "a"), "c").code, ExitCode::done);
}

TEST_F(Resume, OfAnotherModelIsRefused) {
  train(settings_of_resumed("lenet5"), "a", 1, 2);

  expect_error(InputKind::data, {"model.safetensors", "tensor"}, [&] {
    train(going_on(settings_of_resumed("cnn1"), here.path() / "a"), "b");
  });
}

TEST_F(Resume, TheBestStaysWhateverIsPruned) {
  Settings settings = settings_of_resumed("lenet5");
  settings.train.epochs = 4;
  settings.checkpoint.keep = 1;
  settings.checkpoint.best_metric = BestMetric::loss;
  settings.optimizer.lr = 0.3;  // jumps about
  train(settings, "a");

  const json state =
      json::parse(read_text(here.path() / "a" / "checkpoints" / "last" / "state.json"));
  const fs::path best = fs::read_symlink(here.path() / "a" / "checkpoints" / "best");
  EXPECT_EQ(best, checkpoint_name(state.at("best").at("step")));
  double lowest = 1e9;
  for (const std::string& record : records("a")) {
    if (record.find("eval") != std::string::npos) {
      std::istringstream words(record);
      std::string kind, step;
      double loss = 0;
      words >> kind >> step >> loss;
      lowest = std::min(lowest, loss);
    }
  }
  EXPECT_EQ(state.at("best").at("value"), lowest);
  EXPECT_LE(list_checkpoints(here.path() / "a").size(), 2u);
}

TEST_F(Resume, StopsWhenItsTimeIsUp) {
  Settings settings = settings_of_resumed("lenet5");
  settings.train.max_minutes = 1e-9;
  const Outcome outcome = train(settings, "a", 2);

  EXPECT_EQ(outcome.code, ExitCode::stopped);
  EXPECT_THAT(outcome.reason, HasSubstr("train.max_minutes"));
  EXPECT_NO_THROW(find_checkpoint(here.path() / "a"));
}

// ---- what it goes on from

TEST_F(Resume, AutoTakesTheNamedRunOrTheNewestUnfinished) {
  Settings settings = settings_of_resumed("lenet5");
  settings.run.dir = here.path().string();
  settings.train.resume = "auto";
  EXPECT_FALSE(find_resume_source(settings)) << "no run yet";

  Settings fresh = settings;
  fresh.train.resume.clear();
  train(fresh, "done");
  train(fresh, "stopped", 1, 2);
  EXPECT_EQ(find_resume_source(settings)->run, fs::canonical(here.path() / "stopped"));

  settings.run.name = "done";
  EXPECT_EQ(find_resume_source(settings)->run, fs::canonical(here.path() / "done"));
  settings.run.name = "other";
  EXPECT_FALSE(find_resume_source(settings));
  make_folders(here.path() / "other");
  EXPECT_EQ(find_resume_source(settings)->checkpoint, std::nullopt)
      << "killed before its first checkpoint";
}

TEST_F(Resume, AutoPassesOverOddFoldersAndSaysSo) {
  Settings settings = settings_of_resumed("lenet5");
  train(settings, "stopped", 1, 2);
  settings.run.dir = here.path().string();
  settings.train.resume = "auto";
  for (const std::string& summary :
       {std::string(R"({"exit": null})"), std::string(R"({"exit": {"code": "x"}})"),
        std::string("half a summ"), std::string(200'000, '[')}) {
    fs::remove_all(here.path() / "odd");
    fs::copy(here.path() / "stopped", here.path() / "odd", fs::copy_options::recursive);
    write_atomically(here.path() / "odd" / "summary.json", summary);
    std::vector<std::string> notes;
    const auto source = find_resume_source(
        settings, [&](const std::string& note) { notes.push_back(note); });

    ASSERT_TRUE(source);
    EXPECT_EQ(source->run, fs::canonical(here.path() / "stopped"));
    EXPECT_THAT(notes, ElementsAre(AllOf(HasSubstr("passes over"),
                                         HasSubstr("odd/summary.json"))));
  }
}

TEST_F(Resume, AutoPassesOverARunWithoutAWholeCheckpoint) {
  Settings settings = settings_of_resumed("lenet5");
  train(settings, "stopped", 1, 2);
  train(settings, "damaged", 1, 2);
  for (const fs::path& checkpoint : list_checkpoints(here.path() / "damaged")) {
    write_atomically(checkpoint / "state.json", "{}");
  }
  settings.run.dir = here.path().string();
  settings.train.resume = "auto";
  std::vector<std::string> notes;
  const auto source = find_resume_source(
      settings, [&](const std::string& note) { notes.push_back(note); });

  EXPECT_EQ(source->run, fs::canonical(here.path() / "stopped"));
  EXPECT_THAT(notes, ElementsAre(HasSubstr("damaged: ")));
}

TEST_F(Resume, AutoLeavesARunThatIsUnderWayAlone) {
  Settings settings = settings_of_resumed("lenet5");
  train(settings, "stopped", 1, 2);
  const RunFolder under_way = RunFolder::open(here.path() / "stopped");
  settings.run.dir = here.path().string();
  settings.train.resume = "auto";

  EXPECT_FALSE(find_resume_source(settings));
  expect_error(InputKind::settings, {"stopped", "another process"},
               [&] { RunFolder::open(here.path() / "stopped"); });
}

TEST_F(Resume, OfARunThatEndedEarlyDoesNotTrainOn) {
  Settings settings = settings_of_resumed("lenet5");
  settings.train.epochs = 9;
  settings.train.patience = 1;
  settings.train.min_delta = 1;  // nothing is that much better
  train(settings, "a");
  const std::string ended = weights("a");
  const Outcome again = train(going_on(settings, here.path() / "a"), "a");

  EXPECT_EQ(weights("a"), ended);
  EXPECT_THAT(again.reason, HasSubstr("no better"));
}

TEST_F(Resume, MendsLinksThatAKillLeftBehind) {
  const Settings settings = settings_of_resumed("lenet5");
  train(settings, "a");
  const fs::path checkpoints = here.path() / "a" / "checkpoints";
  const fs::path last = fs::read_symlink(checkpoints / "last");
  const fs::path best = fs::read_symlink(checkpoints / "best");
  point_at(checkpoints / "00000001", "last");
  point_at(checkpoints / "00000001", "best");
  train(going_on(settings, here.path() / "a"), "a");

  EXPECT_EQ(fs::read_symlink(checkpoints / "last"), last);
  EXPECT_EQ(fs::read_symlink(checkpoints / "best"), best);
}

TEST_F(Resume, ACheckpointGoesOnInANewFolder) {
  train(settings_of_resumed("lenet5"), "a", 1, 2);
  const auto source =
      find_resume_source(going_on(settings_of_resumed("lenet5"), checkpoint("a", 2)));

  EXPECT_EQ(source->run, std::nullopt);
  EXPECT_EQ(source->checkpoint, fs::canonical(checkpoint("a", 2)));
}

TEST_F(Resume, WhereThereIsNothingIsRefused) {
  expect_error(InputKind::storage, {"nowhere"}, [&] {
    find_resume_source(going_on(settings_of_resumed("lenet5"), here.path() / "nowhere"));
  });
  expect_error(InputKind::data, {"no checkpoint"}, [&] {
    find_resume_source(going_on(settings_of_resumed("lenet5"), here.path()));
  });
}

TEST(SettingChanges, AreToldApartByWhetherTheBitsStay) {
  Settings before, now;
  now.cluster.threads = 7;
  now.optimizer.lr = 0.5;
  now.train.epochs = 9;
  const std::vector<SettingChange> changes = setting_changes(before, now);

  std::vector<std::string> names;
  for (const SettingChange& change : changes) {
    names.push_back(change.name + (change.other_bits ? " breaks" : ""));
  }
  EXPECT_THAT(names,
              ElementsAre("train.epochs", "optimizer.lr breaks", "cluster.threads"));
  expect_error(InputKind::settings, {"optimizer.lr=0.5 (was 0.01)", "resume_force"},
               [&] { refuse_other_bits(changes, now); });
  now.train.resume_force = true;
  EXPECT_NO_THROW(refuse_other_bits(changes, now));
}

TEST(SettingChanges, OfEvaluationBreakWhatItDecides) {
  Settings before, now;
  now.eval.shift = 1;

  EXPECT_TRUE(setting_changes(before, now).front().other_bits);
}

TEST(SettingChanges, OfTheLengthBreakASchedulesCurve) {
  Settings before, now;
  before.schedule.name = now.schedule.name = ScheduleChoice::cosine;
  now.train.epochs = 9;

  EXPECT_TRUE(setting_changes(before, now).front().other_bits);
}

}  // namespace
}  // namespace convoy
