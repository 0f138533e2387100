// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/initial_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/checkpoint/safetensors.h"
#include "convoy/models/models.h"
#include "convoy/system/temporary_folder.h"
#include "tests/base/expect_error.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class Initial : public testing::Test {
 protected:
  /// Writes the values and statistics of a resnet18 of so many classes.
  void write_weights(int classes, const std::string& prefix) {
    const Model model = make_model("resnet18_cifar", {3, 8, 8}, classes);
    const Layout layout = build_layout(model);
    const Layout statistics_layout = build_statistics_layout(model);
    FlatBuffer values(layout), statistics(statistics_layout);
    initialize(layout, /*seed=*/7, values);
    initialize(statistics_layout, /*seed=*/1, statistics);
    const std::vector<float> counter = {3};
    std::vector<TensorView> tensors = {{prefix + "bn1.num_batches_tracked", {}, counter},
                                       {prefix + "extra", {1}, counter}};
    for (const Segment& segment : layout.segments()) {
      tensors.push_back(
          {prefix + segment.name, segment.shape, values.view(segment.range)});
    }
    for (const Segment& segment : statistics_layout.segments()) {
      tensors.push_back(
          {prefix + segment.name, segment.shape, statistics.view(segment.range)});
    }
    write_safetensors(file, tensors);
  }

  InitialWeights load() {
    return load_initial_weights(file,
                                {{layout, values}, {statistics_layout, statistics}});
  }

  TemporaryFolder here;
  std::filesystem::path file = here.path() / "weights.safetensors";
  Model model = make_model("resnet18_cifar", {3, 8, 8}, 10);
  Layout layout = build_layout(model);
  Layout statistics_layout = build_statistics_layout(model);
  FlatBuffer values{layout}, statistics{statistics_layout};
};

TEST_F(Initial, WeightsComeByNameWhateverTheWrapperCalledThem) {
  for (const char* prefix : {"", "module.", "model.", "module.model."}) {
    write_weights(10, prefix);
    values = FlatBuffer(layout);

    const InitialWeights found = load();

    EXPECT_THAT(found.missing, IsEmpty()) << prefix;
    EXPECT_THAT(found.head, IsEmpty()) << prefix;
    EXPECT_THAT(found.left_over, ElementsAre(std::string(prefix) + "extra"));
    FlatBuffer expected(layout);
    initialize(layout, /*seed=*/7, expected);
    EXPECT_EQ(weights_sha256(layout, values), weights_sha256(layout, expected));
    EXPECT_EQ(statistics.view(statistics_layout.segments()[1].range)[0], 1.0f);
  }
}

TEST_F(Initial, WeightsLeaveAHeadForOtherClassesAsItWas) {
  write_weights(100, "");
  const auto head = layout.find("fc.weight");
  values.view(layout.segment(*head).range)[0] = 42;

  const InitialWeights found = load();

  EXPECT_THAT(found.head, ElementsAre("fc.weight", "fc.bias"));
  EXPECT_EQ(values.view(layout.segment(*head).range)[0], 42.0f);
  EXPECT_THAT(found.matched,
              SizeIs(layout.segments().size() - 2 + statistics_layout.segments().size()));
  EXPECT_THAT(found.summary(),
              testing::HasSubstr(
                  "\n          for 100 classes there, so initialized anew: fc.weight, "
                  "fc.bias"));
}

TEST_F(Initial, WeightsOfAnotherShapeElsewhereAreRefused) {
  const Segment& first = layout.segments().front();
  const std::vector<std::size_t> shape = {1, first.range.size()};
  write_safetensors(
      file, std::vector<TensorView>{{first.name, shape, values.view(first.range)}});

  expect_error(InputKind::data,
               {"weights.safetensors: tensor conv1.weight", "found:    shape [1, 1728]",
                "expected: shape [64, 3, 3, 3]",
                "hint:     only the last linear layer may be for another number of "
                "classes"},
               [&] { load(); });
}

TEST_F(Initial, WeightsOfAnotherModelAreRefused) {
  const std::vector<float> one = {1};
  write_safetensors(file, std::vector<TensorView>{{"other", {1}, one}});
  EXPECT_THROW(load(), InputError);
}

TEST(InitialTransformer, TakesPositionsOfImagesOfAnotherSize) {
  const TemporaryFolder here;
  const std::filesystem::path file = here.path() / "weights.safetensors";
  const Layout small = build_layout(make_model("vit_cifar", {3, 16, 16}, 10));
  const Layout large = build_layout(make_model("vit_cifar", {3, 32, 32}, 10));
  FlatBuffer from(small), to(large);
  initialize(small, /*seed=*/7, from);
  std::vector<TensorView> tensors;
  for (const Segment& segment : small.segments()) {
    tensors.push_back({segment.name, segment.shape, from.view(segment.range)});
  }
  write_safetensors(file, tensors);

  const InitialWeights found = load_initial_weights(file, {{large, to}});

  EXPECT_THAT(found.resized, ElementsAre("pos_embed"));
  EXPECT_THAT(found.matched, SizeIs(large.segments().size() - 1));
  EXPECT_THAT(found.summary(),
              testing::HasSubstr("resized to this image size: pos_embed"));
}

}  // namespace
}  // namespace convoy
