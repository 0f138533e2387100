// SPDX-License-Identifier: Apache-2.0
//
// Models as timm and torchvision publish them: their weights, converted by
// tools/convert_torch.py and loaded as model.init does, give their logits. Only where the
// long tests are asked for (CONVOY_LONG_TESTS), with what script/bootstrap bench
// installs.

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "convoy/checkpoint/initial_weights.h"
#include "convoy/models/models.h"
#include "convoy/network/network.h"
#include "test_places.h"
#include "tests/apps/convoy_process.h"
#include "tests/bootstrap_folder.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

struct PublishedModel {
  std::string library, name;  // theirs
  std::string model;          // ours
  int side = 224;
};

void PrintTo(const PublishedModel& of, std::ostream* out) { *out << of.name; }

std::vector<PublishedModel> published_models() {
  if (std::getenv("CONVOY_LONG_TESTS") == nullptr) return {};
  return {{"timm", "vit_base_patch32_224", "vit_b_32"},
          {"timm", "vit_base_patch16_224", "vit_b_16"},
          {"timm", "vit_small_patch16_224", "vit_s_16"},
          {"timm", "vit_tiny_patch16_224", "vit_ti_16"},
          {"torchvision", "vit_b_32", "vit_b_32"},
          {"torchvision", "mobilenet_v2", "mobilenet_v2"},
          {"torchvision", "mobilenet_v3_small", "mobilenet_v3_small"},
          {"torchvision", "resnet18", "resnet18"},
          {"torchvision", "resnet50", "resnet50"}};
}

/// The interpreter that has both libraries.
fs::path python_with_models() { return bootstrap_folder("torch") / "bin" / "python"; }

std::vector<float> read_floats(const fs::path& path) {
  const std::vector<std::byte> bytes = read_bytes(path);
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

class Published : public testing::TestWithParam<PublishedModel> {
 protected:
  void run_python(const std::vector<std::string>& arguments) const {
    const CommandResult result =
        run_convoy(arguments, here_.path(), {.program = python_with_models().string()});
    ASSERT_EQ(result.code, 0) << result.err;
  }

  /// What convoy computes for `images` from `weights.safetensors`.
  std::vector<float> logits() const {
    const std::vector<float> images = read_floats(here_.path() / "images");
    const int side = GetParam().side;
    const Model model = make_model(GetParam().model, {3, side, side}, 10);
    const Layout layout = build_layout(model),
                 statistics_layout = build_statistics_layout(model);
    FlatBuffer values(layout), statistics(statistics_layout);
    const InitialWeights found =
        load_initial_weights(here_.path() / "weights.safetensors",
                             {{layout, values}, {statistics_layout, statistics}});
    EXPECT_THAT(found.missing, testing::IsEmpty());
    EXPECT_THAT(found.left_over, testing::IsEmpty());
    const std::size_t samples = images.size() / model.input.size();
    ThreadTeam team(1);
    Network network(
        model, layout,
        {.most_samples = samples, .training = false, .statistics = &statistics}, team);
    const std::vector<std::int32_t> labels(samples);
    PassListener nobody;
    network.forward({images, labels}, values, {}, nobody);
    std::vector<float> logits;
    for (std::size_t i = 0; i < samples * 10; ++i) {
      logits.push_back(network.logit(i / 10, i % 10));
    }
    return logits;
  }

  TemporaryFolder here_;
};

TEST_P(Published, GivesItsLogitsFromItsWeights) {
  if (!fs::exists(python_with_models())) {
    GTEST_SKIP() << "script/bootstrap bench installs timm and torchvision";
  }
  const std::string folder = here_.path().string();
  run_python({CONVOY_SOURCE_DIR "/tests/apps/published_model.py", GetParam().library,
              GetParam().name, std::to_string(GetParam().side), folder});
  run_python({CONVOY_SOURCE_DIR "/tools/convert_torch.py", folder + "/weights.pth",
              folder + "/weights.safetensors"});

  const std::vector<float> ours = logits(), theirs = read_floats(here_.path() / "logits");

  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_NEAR(ours[i], theirs[i], 1e-4 * std::max(1.0f, std::abs(theirs[i])));
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Published);
INSTANTIATE_TEST_SUITE_P(Models, Published, testing::ValuesIn(published_models()),
                         [](const auto& info) {
                           return info.param.library + "_" + info.param.name;
                         });

}  // namespace
}  // namespace convoy
