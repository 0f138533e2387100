// SPDX-License-Identifier: Apache-2.0
//
// PyTorch reads convoy's checkpoints and computes the same from them.

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <span>

#include "convoy/checkpoint/checkpoint.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/initial_weights.h"
#include "convoy/data/synthetic.h"
#include "convoy/loader/loader.h"
#include "convoy/models/models.h"
#include "convoy/network/network.h"
#include "test_places.h"
#include "tests/apps/small_run.h"
#include "tests/ask_torch.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kDebianFashionMnist = "/usr/share/datasets/fashion-mnist";

template <class Numbers>
void write_numbers(const fs::path& path, const Numbers& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  write_atomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

class Torch : public ProgramTest {
 protected:
  CommandResult script(const Arguments& arguments) const {
    const std::string file = CONVOY_SOURCE_DIR "/tests/apps/read_with_torch.py";
    return TorchServer::instance().run(Arguments{file} + arguments, here());
  }
};

/// Runs tools/convert_torch.py.
CommandResult convert_in(const fs::path& folder, const Arguments& arguments) {
  const std::string file = CONVOY_SOURCE_DIR "/tools/convert_torch.py";
  return run_convoy(Arguments{file} + arguments, folder, {.program = "/usr/bin/python3"});
}

class TorchLogits : public Torch, public testing::WithParamInterface<std::string> {
 protected:
  /// The test images of small_training(), normalised as the checkpoint says.
  /// Its usual images, unless those are so large that a test takes long.
  static Shape images_of(const ModelEntry& entry) {
    Shape shape = entry.usual_input;
    if (shape.height > 32) shape.height = shape.width = 32;
    return shape;
  }

  static DataPair images_for(const ModelEntry& entry) {
    return make_synthetic(
        {.shape = images_of(entry), .train_count = 80, .test_count = 53, .noise = 0.3});
  }

  struct Loaded {
    explicit Loaded(const ModelEntry& entry) : model(entry.make(images_of(entry), 10)) {}

    Model model;
    Layout layout = build_layout(model);
    Layout statistics_layout = build_statistics_layout(model);
    FlatBuffer values{layout}, statistics{statistics_layout};
  };

  /// Compares with those that PyTorch wrote to `logits`.
  void expect_logits(const std::vector<float>& ours) const {
    const std::vector<std::byte> bytes = read_bytes(here() / "logits");
    ASSERT_EQ(bytes.size(), ours.size() * sizeof(float));
    std::vector<float> theirs(ours.size());
    std::memcpy(theirs.data(), bytes.data(), bytes.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_NEAR(ours[i], theirs[i], 1e-4 * std::max(1.0f, std::abs(theirs[i])));
    }
  }

  /// Writes `images`, normalised, and gives convoy's logits of them.
  std::vector<float> logits_of(const Loaded& net, const ModelEntry& entry,
                               const Normalization& normalization) const {
    const DataPair data = images_for(entry);
    std::vector<std::uint32_t> all(data.test.size());
    std::iota(all.begin(), all.end(), 0);
    Loader loader(
        data.test, all,
        {.batch_size = all.size(), .shuffle = false, .normalization = normalization});
    loader.start_epoch(1);
    const Batch& batch = *loader.next();
    write_numbers(here() / "images", batch.images);
    ThreadTeam team(1);
    Network network(
        net.model, net.layout,
        {.most_samples = all.size(), .training = false, .statistics = &net.statistics},
        team);
    PassListener nobody;
    network.forward({batch.images, batch.labels}, net.values, {}, nobody);
    std::vector<float> logits;
    for (std::size_t sample = 0; sample < batch.count; ++sample) {
      for (std::size_t i = 0; i < 10; ++i) logits.push_back(network.logit(sample, i));
    }
    return logits;
  }
};

TEST_P(TorchLogits, AreThoseOfConvoy) {
  const ModelEntry& entry = find_model(GetParam());
  const auto [channels, height, width, rows] = images_of(entry);
  const fs::path run =
      train("a", {"model=" + GetParam(), "optimizer.lr=0.05", "train.max_steps=2",
                  "data.synthetic.channels=" + std::to_string(channels),
                  "data.synthetic.height=" + std::to_string(height),
                  "data.synthetic.width=" + std::to_string(width)});
  const fs::path checkpoint = run / "checkpoints" / "last";
  Loaded net(entry);
  const CheckpointState state = load_checkpoint(
      checkpoint, {{net.layout, net.values}, {net.statistics_layout, net.statistics}});
  write_numbers(here() / "logits", logits_of(net, entry, state.normalization));

  const CommandResult result =
      script({"logits", checkpoint.string(), GetParam(), "images", "logits"});

  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(json::parse(result.out).at("samples"), 53);
}

TEST_P(TorchLogits, AreConvoysFromPyTorchsWeights) {
  const ModelEntry& entry = find_model(GetParam());
  Loaded net(entry);
  const Normalization normalization = measure(images_for(entry).train);
  logits_of(net, entry, normalization);  // for the images
  const CommandResult result =
      script({"write", "theirs.safetensors", GetParam(), "images", "logits"});
  ASSERT_EQ(result.code, 0) << result.err;

  const InitialWeights found = load_initial_weights(
      here() / "theirs.safetensors",
      {{net.layout, net.values}, {net.statistics_layout, net.statistics}});
  const std::vector<float> ours = logits_of(net, entry, normalization);

  EXPECT_THAT(found.missing, testing::IsEmpty());
  EXPECT_THAT(found.head, testing::IsEmpty());
  EXPECT_THAT(found.left_over, testing::IsEmpty());
  expect_logits(ours);
}

INSTANTIATE_TEST_SUITE_P(Models, TorchLogits, testing::ValuesIn(models_of_all_forms()),
                         [](const auto& info) { return info.param; });

class TorchLogitsOfSome : public TorchLogits {};

/// As model.init does with what tools/convert_torch.py made of a file of torch.save().
TEST_P(TorchLogitsOfSome, AreConvoysFromAConvertedStateDict) {
  const ModelEntry& entry = find_model(GetParam());
  Loaded net(entry);
  const Normalization normalization = measure(images_for(entry).train);
  logits_of(net, entry, normalization);  // for the images
  const CommandResult saved = script({"save", "a.pth", GetParam(), "images", "logits"});
  ASSERT_EQ(saved.code, 0) << saved.err;
  const CommandResult converted = convert_in(here(), {"a.pth", "a.safetensors"});
  ASSERT_EQ(converted.code, 0) << converted.err;

  const InitialWeights found = load_initial_weights(
      here() / "a.safetensors",
      {{net.layout, net.values}, {net.statistics_layout, net.statistics}});

  EXPECT_THAT(found.missing, testing::IsEmpty());
  EXPECT_THAT(found.left_over, testing::IsEmpty());
  expect_logits(logits_of(net, entry, normalization));
}

INSTANTIATE_TEST_SUITE_P(Models, TorchLogitsOfSome,
                         testing::Values("lenet5", "mobilenet_v3_small", "vit_cifar"),
                         [](const auto& info) { return info.param; });

TEST_F(Torch, FilesWithMoreThanTensorsAreNotConverted) {
  ASSERT_EQ(script({"save_other", "a.pth", "-", "-", "-"}).code, 0);

  const CommandResult result = convert_in(here(), {"a.pth", "a.safetensors"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err,
            "convert_torch.py: 'epoch' is a int, expected a tensor with a name\n");
  EXPECT_FALSE(fs::exists(here() / "a.safetensors"));
}

TEST_F(Torch, CountsAsManyRightOnFashionMnistAsConvoy) {
  const CommandResult trained =
      convoy({"train", "data=fashion_mnist", "data.root=" + kDebianFashionMnist.string(),
              "train.epochs=1", "train.max_steps=200", "run.name=a"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(convoy({"eval", "runs/a"}).code, 0);
  const json ours = read_json(here() / "runs" / "a" / "eval.json");

  const CommandResult result =
      script({"evaluate", "runs/a/checkpoints/last", "lenet5",
              (kDebianFashionMnist / "t10k-images-idx3-ubyte.gz").string(),
              (kDebianFashionMnist / "t10k-labels-idx1-ubyte.gz").string()});

  ASSERT_EQ(result.code, 0) << result.err;
  const json theirs = json::parse(result.out);
  EXPECT_EQ(theirs.at("total"), 10000);
  EXPECT_EQ(ours.at("total"), 10000);
  EXPECT_GT(ours.at("correct"), 5000) << "it has learned something";
  // One more or less: two logits may be so close that the order of a sum decides.
  EXPECT_NEAR(theirs.at("correct").get<int>(), ours.at("correct").get<int>(), 1);
}

}  // namespace
}  // namespace convoy
