// SPDX-License-Identifier: Apache-2.0
//
// The same images in folders, tar shards and one file: runs, packing, predictions.

#include <poll.h>
#include <signal.h>

#include "convoy/data/folder/image_folder.h"
#include "tests/apps/small_run.h"
#include "tests/data/idx_files.h"
#include "tests/data/tar_files.h"
#include "tests/images/image_folders.h"
#include "tests/s3/failing_proxy.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

class ImageStores : public ProgramTest {
 protected:
  ImageStores() {
    folder.add_two_classes();
    for (int i = 0; i < 6; ++i) {
      folder.add("train/cat/more" + std::to_string(i) + ".jpg", "sub422.jpg");
      folder.add("train/dog/more" + std::to_string(i) + ".jpg", "progressive420.jpg");
    }
  }

  /// Two epochs of three steps on 17 images.
  static Arguments shown(const Arguments& more) {
    return Arguments{
               "data.crop=32",           "data.short_side=40", "data.normalize=fixed",
               "data.mean=0.5",          "data.std=0.25",      "model=cnn2",
               "train.augment=imagenet", "train.batch_size=6", "train.microbatches=2"} +
           more;
  }
  Arguments of_folder() const {
    return {"data=imagefolder", "data.root=" + folder.path().string()};
  }
  Arguments of_tar() const {
    return {"data=tar", "data.root=" + folder.path("tar").string(),
            "data.train=train-{0..2}.tar", "data.val=val-0.tar"};
  }
  Arguments of_pack() const {
    return {"data=packed", "data.root=" + folder.path("all.pack").string()};
  }

  void write_tars() const {
    const DataPair pair = open_image_folder(folder.options());
    write_shards(pair.train, folder.path("tar"), "train", 3);
    write_shards(pair.test, folder.path("tar"), "val", 1);
  }

  CommandResult pack(const Arguments& more) const {
    return convoy(Arguments{"data", "pack", "--out", folder.path("all.pack").string()} +
                  more);
  }

  const ImageFolder folder;
};

TEST_F(ImageStores, EndAtTheSameBitsOnAnyRanksAndAfterAResume) {
  write_tars();
  ASSERT_EQ(pack(of_tar()).code, 0);
  const std::string whole = weights_of(train("whole", shown(of_folder())));

  train("cut", shown(of_tar() + Arguments{"-n", "2", "train.max_steps=4"}));
  const CommandResult resumed =
      convoy({"train", "train.resume=runs/cut", "train.max_steps=0", "run.name=resumed"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights_of(here() / "runs/resumed"), whole);

  train("cut2", shown(of_pack() + Arguments{"train.max_steps=2"}));
  const CommandResult two = convoy({"train", "train.resume=runs/cut2",
                                    "train.max_steps=0", "run.name=two", "-n", "2"});
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_EQ(weights_of(here() / "runs/two"), whole);
}

TEST_F(ImageStores, ArePackedAndChecked) {
  const CommandResult packed =
      pack(of_folder() + Arguments{"--short-side", "48", "--as", "raw"});
  ASSERT_EQ(packed.code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("all.pack: 17 training and 2 validation images, "));
  EXPECT_THAT(packed.out, HasSubstr(", verified\n"));

  const CommandResult check =
      convoy({"data", "check", "packed", "--root", folder.path("all.pack").string()});
  EXPECT_EQ(check.code, 0) << check.err;
  EXPECT_THAT(check.out, HasSubstr("train  17 samples\n"));
  expect_refused(pack(of_folder()), 74, {"all.pack", "a file of that name"});
}

TEST_F(ImageStores, AreCheckedAsTars) {
  write_tars();
  const Arguments check = {"data",
                           "check",
                           "tar",
                           "--root",
                           folder.path("tar"),
                           "--train",
                           "train-{0..2}.tar",
                           "--val",
                           "val-0.tar"};
  const CommandResult result = convoy(check);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("all files can be decoded"));

  fs::resize_file(folder.path("tar/train-1.tar"), 3000);
  expect_refused(convoy(check), 65, {"train-1.tar", "the end of the file"});
  expect_refused(convoy({"data", "check", "tar"}), 78, {"data.train", "no shards"});
}

TEST_F(ImageStores, GoOnPackingAfterAnInterruption) {
  for (int i = 0; i < 400; ++i) {
    folder.add("train/cat/many" + std::to_string(i) + ".jpg", "large.jpg");
  }
  const Arguments arguments = Arguments{"data",
                                        "pack",
                                        "--out",
                                        "all.pack",
                                        "--short-side",
                                        "300",
                                        "cluster.threads=2"} +
                              of_folder();
  ConvoyProcess process(arguments, here());
  const fs::path records = here() / "all.pack.partial/records";
  ASSERT_TRUE(process.wait_until(
      [&] { return fs::exists(records) && fs::file_size(records) > 0; }));
  process.send(SIGINT);
  const CommandResult stopped = process.wait();
  EXPECT_EQ(stopped.code, 75) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("the same command continues all.pack"));
  EXPECT_FALSE(fs::exists(here() / "all.pack"));

  const CommandResult result = convoy(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("continued after "));
}

TEST_F(ImageStores, AreOpenedForPackingUntilASignal) {
  const auto [silent_server, port] = listen_anywhere();
  ConvoyProcess process({"data", "pack", "--out", "all.pack", "data=tar",
                         "data.root=http://127.0.0.1:" + std::to_string(port),
                         "data.train=train-0.tar", "data.val=val-0.tar"},
                        here(), {.environment = {{"no_proxy", "127.0.0.1"}}});
  pollfd connection{silent_server.get(), POLLIN, 0};
  ASSERT_TRUE(process.wait_until([&] { return ::poll(&connection, 1, 0) > 0; }));
  process.send(SIGINT);
  EXPECT_EQ(process.wait(std::chrono::seconds(20)).signal, SIGINT);
}

TEST_F(ImageStores, ArePredictedByName) {
  train("a", shown(of_folder()));
  folder.write("given/bad.jpg", "text");
  folder.add("given/b/good.png", "rgb.png");
  folder.add("given/cat.jpg", "sub420.jpg");
  const CommandResult text = convoy({"predict", "runs/a", folder.path("given/cat.jpg")});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              testing::StartsWith(folder.path("given/cat.jpg").string() + "\n"));
  EXPECT_THAT(text.out, HasSubstr(" %     0  cat\n"));
  EXPECT_THAT(text.out, HasSubstr(" %     1  dog\n"));

  const CommandResult json =
      convoy({"predict", "runs/a", folder.path("given"), "gone.png", "--json"});
  EXPECT_EQ(json.code, 65);
  EXPECT_THAT(json.err, HasSubstr("bad.jpg\n  found:    a file that is neither"));
  EXPECT_THAT(json.err, HasSubstr("gone.png"));
  EXPECT_THAT(json.err, HasSubstr("2 of the images cannot be read\n"));
  const nlohmann::json all = nlohmann::json::parse(json.out)["predictions"];
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[0]["file"], folder.path("given/b/good.png").string());
  double sum = 0;
  for (const auto& one : all[0]["classes"]) sum += one["probability"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_THAT(all[1]["error"].get<std::string>(), HasSubstr("neither a JPEG nor a PNG"));
}

TEST_F(ImageStores, ArePredictedAsEvaluated) {
  const fs::path run = train("a", shown(of_folder()));
  const CommandResult evaluated =
      convoy({"eval", "runs/a", "--predictions", "predictions.csv"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  const std::string csv = read_text(here() / "predictions.csv");
  const CommandResult result =
      convoy({"predict", "runs/a", folder.path("val"), "--json", "--best", "1"});
  const nlohmann::json all = nlohmann::json::parse(result.out)["predictions"];
  ASSERT_THAT(all, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    const nlohmann::json& best = all[i]["classes"][0];
    std::istringstream line(csv.substr(csv.find(fmt::format("\n{},", i)) + 1));
    std::string sample, truth, predicted, probability;
    std::getline(line, sample, ',');
    std::getline(line, truth, ',');
    std::getline(line, predicted, ',');
    std::getline(line, probability, '\n');
    EXPECT_EQ(std::to_string(best["label"].get<int>()), predicted) << csv;
    EXPECT_NEAR(best["probability"].get<double>(), std::stod(probability), 1e-4) << csv;
  }
}

TEST_F(ImageStores, AreRefusedIfThereIsNothingToPredict) {
  train("a", shown(of_folder()));
  expect_refused(convoy({"predict", "runs/a", "model=cnn2"}), 2, {"no files"});
  make_folders(here() / "empty");
  expect_refused(convoy({"predict", "runs/a", "empty"}), 2, {"empty", "no images"});
  write_atomically(here() / "images.idx", idx_images(2, 32, 32));
  const CommandResult idx = convoy({"predict", "runs/a", "images.idx"});
  EXPECT_EQ(idx.code, 65);
  EXPECT_THAT(idx.err,
              HasSubstr("images.idx\n  found:    an idx file, whose images are"));
}

TEST_F(ImageStores, ArePredictedByAModelOfImagesInMemory) {
  train("grey");
  write_atomically(here() / "images.idx", idx_images(3, 28, 28));
  const CommandResult result = convoy({"predict", "runs/grey", "images.idx",
                                       folder.path("train/cat/a.JPEG"), "--best", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("images.idx[2]\n"));
  EXPECT_THAT(result.out, HasSubstr("train/cat/a.JPEG\n"));
}

TEST_F(ImageStores, ArePredictedBesideIdxFilesThatAreDamaged) {
  train("grey");
  const std::string good = idx_images(3, 28, 28);
  write_atomically(here() / "good.idx", good);
  write_atomically(here() / "short.idx", good.substr(0, good.size() - 1));
  write_atomically(here() / "bad.gz", gzip(good).substr(0, 20));
  const Arguments all = {"predict", "runs/grey", "short.idx", "bad.gz", "good.idx"};
  const CommandResult text = convoy(all);
  EXPECT_EQ(text.code, 65);
  EXPECT_THAT(text.out, HasSubstr("good.idx[2]\n"));
  EXPECT_THAT(text.err, HasSubstr("short.idx\n"));
  EXPECT_THAT(text.err, HasSubstr("bad.gz\n"));
  EXPECT_THAT(text.err, HasSubstr("2 of the images cannot be read\n"));

  const CommandResult json = convoy(all + Arguments{"--json"});
  EXPECT_EQ(json.code, 65);
  const nlohmann::json predictions = nlohmann::json::parse(json.out)["predictions"];
  ASSERT_THAT(predictions, SizeIs(5));
  EXPECT_EQ(predictions[0]["file"], "short.idx");
  EXPECT_THAT(predictions[1]["error"].get<std::string>(), HasSubstr("bad.gz"));
  EXPECT_EQ(predictions[4]["file"], "good.idx[2]");
}

}  // namespace
}  // namespace convoy
