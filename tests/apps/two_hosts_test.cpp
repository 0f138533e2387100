// SPDX-License-Identifier: Apache-2.0
//
// Training on two hosts: network namespaces joined by a cable, which may be cut.

#include <unistd.h>

#include "convoy/base/clock.h"
#include "test_places.h"
#include "tests/apps/small_run.h"
#include "tests/images/image_folders.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class TwoHosts : public ProgramTest {
 protected:
  void SetUp() override {
    const CommandResult made = hosts("make");
    if (made.code != 0) GTEST_SKIP() << "no namespaces here: " << made.err;
  }
  void TearDown() override { hosts("remove"); }

  CommandResult hosts(const std::string& command) const {
    return run_convoy({command, name_}, here(),
                      {.program = CONVOY_SOURCE_DIR "/tests/two_hosts.sh"});
  }

  /// One of the nodes, each with two ranks. It does not see what is in the folder
  /// `hidden`, if one is named.
  std::unique_ptr<ConvoyProcess> start(int node, const Arguments& more,
                                       const std::string& hidden = "") const {
    const std::string number = std::to_string(node);
    ProcessOptions options;
    options.program = "/usr/sbin/ip";
    options.environment = {{"CONVOY_TOKEN", "0123456789abcdef0123456789abcdef"}};
    const Arguments host = {"netns", "exec", name_ + "-" + number};
    const Arguments blind = {"sh", "-c", "mount -t tmpfs none \"$0\" && exec \"$@\"",
                             hidden};
    const Arguments words =
        host + (hidden.empty() ? Arguments{} : blind) + Arguments{CONVOY_BINARY};
    const Arguments placement = {"-n",
                                 "2",
                                 "--nnodes",
                                 "2",
                                 "--node-rank",
                                 number,
                                 "--master-addr",
                                 "10.77.0.1",
                                 "--master-port",
                                 "29511",
                                 "train.microbatches=4"};
    return std::make_unique<ConvoyProcess>(
        words + small_training("hosts", placement + more), here(), options);
  }

  /// The entry of the last checkpoint's weights in its manifest.
  json saved_model() const {
    return read_json(here() / "runs/hosts/checkpoints/last/manifest.json")
        .at("files")
        .at("model.safetensors");
  }

 private:
  std::string name_ = "convoy-test-" + std::to_string(::getpid());
};

TEST_F(TwoHosts, EndAtTheSameBitsAsOneProcess) {
  const auto first = start(0, {}), second = start(1, {});

  const CommandResult one = first->wait(), other = second->wait();

  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(weights_of(here() / "runs" / "hosts"),
            weights_of(train("alone", {"train.microbatches=4"})));
}

/// With a common folder, all ranks write checkpoints; otherwise the first one alone.
TEST_F(TwoHosts, EndAtTheSameBitsWithFsdpWithAndWithoutACommonFolder) {
  const std::string alone = weights_of(train("alone", {"train.microbatches=4"}));
  const Arguments more = {"strategy=fsdp", "checkpoint.every_steps=2"};
  for (const bool common : {true, false}) {
    fs::remove_all(here() / "runs" / "hosts");
    const auto first = start(0, more);
    const auto second = start(1, more, common ? "" : (here() / "runs").string());

    const CommandResult one = first->wait(), other = second->wait();

    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_EQ(other.code, 0) << other.err;
    EXPECT_EQ(saved_model().contains("ranges"), common) << saved_model();
    EXPECT_EQ(weights_of(here() / "runs" / "hosts"), alone);
  }
}

TEST_F(TwoHosts, TrainOnImageFilesAndGoOnAsOneProcessToTheSameBits) {
  const ImageFolder folder;
  folder.add_two_classes();
  for (int i = 0; i < 12; ++i) {
    folder.add("train/cat/more" + std::to_string(i) + ".jpg", "sub422.jpg");
  }
  const Arguments images = {
      "data=imagefolder",       "data.crop=32",
      "data.short_side=40",     "data.normalize=fixed",
      "data.mean=0.5",          "data.std=0.25",
      "train.augment=imagenet", "data.root=" + folder.path().string(),
      "train.batch_size=6",     "model=cnn2"};
  const std::string alone =
      weights_of(train("alone", images + Arguments{"train.microbatches=4"}));
  const Arguments more = images + Arguments{"train.max_steps=3"};
  const auto first = start(0, more), second = start(1, more);

  const CommandResult one = first->wait(), other = second->wait();
  const CommandResult resumed =
      convoy({"train", "-n", "1", "--nnodes", "1", "train.resume=runs/hosts",
              "train.max_steps=0", "run.name=resumed"});

  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights_of(here() / "runs/resumed"), alone);
}

TEST_F(TwoHosts, NameTheOtherWhenTheCableIsCut) {
  const Arguments more = {"train.epochs=1000000", "cluster.operation_timeout=4"};
  const auto first = start(0, more), second = start(1, more);
  ASSERT_TRUE(first->wait_for_output("epoch 2/")) << first->err() << second->err();

  hosts("cut");
  const Stopwatch watch;
  const CommandResult one = first->wait(), other = second->wait();

  EXPECT_LT(watch.seconds(), 15) << "within the timeout, and some time to end";
  EXPECT_THAT(one.code, testing::AnyOf(69, 70)) << one.err;
  EXPECT_THAT(other.code, testing::AnyOf(69, 70)) << other.err;
  EXPECT_THAT(one.err, testing::ContainsRegex("node 1 with ranks 2 to 3")) << one.err;
  EXPECT_THAT(other.err, testing::ContainsRegex("node 0 with ranks 0 to 1")) << other.err;
}

}  // namespace
}  // namespace convoy
