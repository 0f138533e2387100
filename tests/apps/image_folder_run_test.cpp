// SPDX-License-Identifier: Apache-2.0
//
// Runs on folders of image files.

#include "tests/apps/small_run.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

using testing::HasSubstr;

class ImageFolderRun : public ProgramTest {
 protected:
  ImageFolderRun() {
    folder.add_two_classes();
    for (int i = 0; i < 6; ++i) {
      folder.add("train/cat/more" + std::to_string(i) + ".jpg", "sub422.jpg");
      folder.add("train/dog/more" + std::to_string(i) + ".jpg", "progressive420.jpg");
    }
  }

  /// Two epochs of three steps on 17 images.
  Arguments on_files(const Arguments& more = {}) const {
    return Arguments{"data=imagefolder",       "data.root=" + folder.path().string(),
                     "data.crop=32",           "data.short_side=40",
                     "data.normalize=fixed",   "data.mean=0.5",
                     "data.std=0.25",          "model=cnn2",
                     "train.augment=imagenet", "train.batch_size=6",
                     "train.microbatches=2"} +
           more;
  }

  const ImageFolder folder;
};

TEST_F(ImageFolderRun, EndsAtTheSameBitsOnAnyRanksAndThreadsAndAfterAResume) {
  const std::string whole = weights_of(train("whole", on_files()));
  const Arguments other{"-n", "2", "data.workers=3", "train.max_steps=4"};
  train("cut", on_files(other));

  const CommandResult result =
      convoy({"train", "train.resume=runs/cut", "train.max_steps=0", "run.name=resumed"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(weights_of(here() / "runs/resumed"), whole);
}

TEST_F(ImageFolderRun, RecordsWhatTheLoaderDid) {
  const nlohmann::json summary = read_json(train("a", on_files()) / "summary.json");

  EXPECT_EQ(summary["loader"]["images"], 34);
  EXPECT_GT(summary["loader"]["cpu_seconds"], 0);
  EXPECT_EQ(summary["test"]["total"], 2);
}

TEST_F(ImageFolderRun, EndsWithTheNameOfAFileThatIsDamaged) {
  folder.write("train/dog/more3.jpg", "");
  const CommandResult result = convoy(small_training("a", on_files()));

  EXPECT_EQ(result.code, 65);
  EXPECT_THAT(result.err, HasSubstr(folder.path("train/dog/more3.jpg").string()));
  EXPECT_THAT(result.err, HasSubstr("found:    an empty file"));
}

TEST_F(ImageFolderRun, NamesAndCountsFilesThatItSkips) {
  folder.write("train/dog/more3.jpg", "");
  folder.write("val/cat/x.jpg", "text");
  const CommandResult result =
      convoy(small_training("a", on_files({"data.corrupt=skip"})));

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(read_text(here() / "runs/a/log.txt"),
              HasSubstr("skipped " + folder.path("train/dog/more3.jpg").string()));
  EXPECT_EQ(read_json(here() / "runs/a/summary.json")["skipped_files"], 2);
}

TEST_F(ImageFolderRun, PlansAndChecksAFolder) {
  const CommandResult plan = convoy(small_training("a", on_files({"--dry-run"})));
  const CommandResult check =
      convoy({"data", "check", "imagefolder", "--root", folder.path().string()});

  EXPECT_THAT(plan.out, HasSubstr("17 training, 0 validation, 2 test samples"));
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("train  17 samples\n"));
  EXPECT_THAT(check.out, HasSubstr("all files can be decoded"));
}

TEST_F(ImageFolderRun, MeasuresItsLoader) {
  const CommandResult result =
      convoy(Arguments{"bench", "loader", "--json", "--seconds", "0.1"} + on_files());

  ASSERT_EQ(result.code, 0) << result.err;
  const nlohmann::json object = nlohmann::json::parse(result.out);
  EXPECT_GT(object["core_us"], 0);
  EXPECT_GT(object["decode_us"], 0);
  EXPECT_EQ(object["crop_difference"]["largest"], 0);
}

TEST_F(ImageFolderRun, MeasuresHowFarFastDecodingIsFromExact) {
  const CommandResult result = convoy(
      Arguments{"bench", "loader", "--json", "--seconds", "0.1", "data.decode=fast"} +
      on_files());

  ASSERT_EQ(result.code, 0) << result.err;
  const nlohmann::json object = nlohmann::json::parse(result.out);
  for (const char* shown : {"crop_difference", "centre_difference"}) {
    EXPECT_GT(object[shown]["mean"], 0);
    EXPECT_GT(object[shown]["largest"], object[shown]["mean"]);
  }
}

TEST_F(ImageFolderRun, IsNotGot) {
  expect_refused(convoy({"data", "get", "imagefolder"}), 2,
                 {"imagefolder", "a dataset that is published as a whole"});
}

TEST_F(ImageFolderRun, MixesSamplesToTheSameBitsOnAnyRanksAndThreadsAndAfterAResume) {
  const Arguments strong{"train.augment=imagenet_strong",
                         "train.color_jitter=0.4,0.4,0.4,0.1", "train.random_erase=0.5",
                         "train.label_smoothing=0.1"};
  const std::string whole = weights_of(train("whole", on_files(strong)));
  const Arguments other{"-n", "2", "data.workers=3", "train.max_steps=4"};
  train("cut", on_files(strong + other));

  const CommandResult result =
      convoy({"train", "train.resume=runs/cut", "train.max_steps=0", "run.name=resumed"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(weights_of(here() / "runs/resumed"), whole);
  EXPECT_NE(weights_of(train("plain", on_files())), whole);
}

TEST_F(ImageFolderRun, PrintsTheLinesOfTheImagenetExample) {
  const CommandResult result = convoy(small_training(
      "a", on_files({"console.style=imagenet", "train.log_every=2", "-n", "2"})));

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\nEpoch: [1][1/3]\tLoss "));
  EXPECT_THAT(result.out, HasSubstr("\n * Train Acc@1 "));
  EXPECT_THAT(result.out, HasSubstr("\n * Val Acc@1 "));
  EXPECT_THAT(result.out, HasSubstr("\nTraining complete in: 0:00:0"));
}

TEST_F(ImageFolderRun, LeavesDamagedFilesOutOfEvaluations) {
  train("a", on_files({"data.corrupt=skip"}));
  folder.write("val/cat/x.jpg", "text");
  const CommandResult result = convoy({"eval", "runs/a"});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("convoy: skipped " + folder.path("val/cat/x.jpg").string()));
  const nlohmann::json object = read_json(here() / "runs/a/eval.json");
  EXPECT_EQ(object["total"], 1);
  EXPECT_EQ(object["left_out"], 1);
}

TEST_F(ImageFolderRun, RefusesJitterThatIsNone) {
  expect_refused(convoy(small_training("a", on_files({"train.color_jitter=0.4,0.4"}))),
                 78, {"train.color_jitter", "0.4,0.4", "four numbers"});
  expect_refused(convoy(small_training(
                     "a", {"data=synthetic", "train.color_jitter=0.4,0.4,0.4,0.1"})),
                 78, {"train.color_jitter", "none with train.augment=none"});
}

}  // namespace
}  // namespace convoy
