// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/models/models.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What the InputError that `act` throws says; its kind must be `settings`.
template <class Act>
std::string settings_error(const Act& act) {
  try {
    act();
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::settings);
    return error.what();
  }
  return "nothing was thrown";
}

struct ParameterCase {
  std::string model;
  std::size_t parameters;
  int classes = 10;
};

class ModelParameters : public testing::TestWithParam<ParameterCase> {};

TEST_P(ModelParameters, AreAsManyAsPublished) {
  const Model model = make_model(
      GetParam().model, find_model(GetParam().model).usual_input, GetParam().classes);

  EXPECT_EQ(build_layout(model).parameter_count(), GetParam().parameters);
  std::size_t sum = 0;
  for (const LayerInfo& info : describe(model)) sum += info.parameters();
  EXPECT_EQ(sum, GetParam().parameters);
  EXPECT_EQ(class_count(model), GetParam().classes);
}

INSTANTIATE_TEST_SUITE_P(
    Models, ModelParameters,
    testing::Values(ParameterCase{"lenet5", 61'706}, ParameterCase{"cnn1", 1'199'882},
                    ParameterCase{"cnn2", 2'122'186},
                    ParameterCase{"cnn2", 2'168'356, 100},
                    ParameterCase{"mlp6", 3'846'442}, ParameterCase{"vgg11", 9'231'114},
                    ParameterCase{"resnet18_cifar", 11'173'962},
                    ParameterCase{"resnet18_cifar", 11'220'132, 100},
                    ParameterCase{"resnet18", 11'689'512, 1000},
                    ParameterCase{"resnet50", 25'557'032, 1000},
                    ParameterCase{"mobilenet_v2", 3'504'872, 1000}),
    [](const auto& info) {
      return info.param.model + "For" + std::to_string(info.param.classes);
    });

TEST(Describe, GivesTheShapesOfLenet5) {
  const Model model = make_model("lenet5", {1, 28, 28}, 10);

  std::vector<Shape> shapes;
  for (const LayerInfo& info : describe(model)) shapes.push_back(info.dst());

  EXPECT_THAT(shapes, ElementsAre(Shape{6, 28, 28}, Shape{6, 28, 28}, Shape{6, 14, 14},
                                  Shape{16, 10, 10}, Shape{16, 10, 10}, Shape{16, 5, 5},
                                  Shape{400, 1, 1}, Shape{120, 1, 1}, Shape{120, 1, 1},
                                  Shape{84, 1, 1}, Shape{84, 1, 1}, Shape{10, 1, 1}));
}

TEST(Describe, GivesEachLayerWhatTheOneBeforeGave) {
  const std::vector<LayerInfo> infos = describe(odd_model());

  EXPECT_EQ(infos.front().src(), odd_model().input);
  for (std::size_t i = 1; i < infos.size(); ++i) {
    EXPECT_EQ(infos[i].src(), infos[i - 1].dst()) << "layer " << i;
  }
}

TEST(Describe, CountsStepPaddingAndLeftovers) {
  const std::vector<LayerInfo> infos = describe(
      {"x", {2, 8, 7}, {Convolution{"conv", 3, 3, 2, 1}, MaxPool{2}, MaxPool{1, 2}}});

  EXPECT_EQ(infos[0].dst(), (Shape{3, 4, 4}));
  EXPECT_EQ(infos[0].parameters(), 3u * (2 * 9 + 1));
  EXPECT_EQ(infos[0].description.flops, 2u * (3 * 4 * 4) * (2 * 9));
  EXPECT_EQ(infos[1].dst(), (Shape{3, 2, 2}));
  EXPECT_EQ(infos[2].dst(), (Shape{3, 1, 1}));
}

TEST(Describe, NamesKindsAndLayers) {
  const std::vector<LayerInfo> infos =
      describe({"x",
                {1, 4, 4},
                {Convolution{"conv1", 2, 3}, Relu{}, MaxPool{2}, Dropout{0.5f}, Flatten{},
                 Linear{"fc", 3}}});

  std::vector<std::string> kinds, names;
  for (const LayerInfo& info : infos) {
    kinds.push_back(info.kind);
    names.push_back(info.name);
  }

  EXPECT_THAT(kinds, ElementsAre("convolution", "relu", "max_pool", "dropout", "flatten",
                                 "linear"));
  EXPECT_THAT(names, ElementsAre("conv1", "", "", "", "", "fc"));
}

TEST(ModelThatDoesNotFit, NamesTheConvolution) {
  const std::string error = settings_error([] {
    describe(make_model("lenet5", {1, 8, 8}, 10));
  });

  EXPECT_THAT(error, HasSubstr("conv2"));
  EXPECT_THAT(error, HasSubstr("images of 4 x 4"));
  EXPECT_THAT(error, HasSubstr("at least 5 x 5"));
}

TEST(ModelThatDoesNotFit, NamesThePool) {
  const std::string error = settings_error([] {
    describe({"x", {1, 3, 9}, {MaxPool{4}}});
  });

  EXPECT_THAT(error, HasSubstr("max_pool"));
  EXPECT_THAT(error, HasSubstr("images of 3 x 9"));
  EXPECT_THAT(error, HasSubstr("at least 4 x 4"));
}

TEST(ModelThatDoesNotFit, CountsPaddingAsRoom) {
  const Model model = {"x", {1, 2, 2}, {Convolution{"conv", 1, 5, 1, 1}}};

  EXPECT_THAT(settings_error([&] { describe(model); }), HasSubstr("at least 3 x 3"));
}

TEST(ModelThatDoesNotFit, NamesALayerWithTheWrongNumberOfSources) {
  Model model("x", {3, 4, 4}, {Relu{}});
  model.add(Add{}, {0});

  EXPECT_EQ(settings_error([&] { describe(model); }),
            "model: add\n  found:    1 sources\n  expected: 2");
}

TEST(ModelThatDoesNotFit, NamesALayerThatReadsALaterOne) {
  for (const LayerIndex source : {1, 7, -2}) {
    Model model("x", {3, 4, 4}, {Relu{}});
    model.add(Linear{"fc", 2}, {source});

    EXPECT_EQ(
        settings_error([&] { describe(model); }),
        "model: fc\n  found:    layer " + std::to_string(source) +
            " as a source\n  expected: the model's input, or a layer before this one");
  }
}

TEST(FindModel, GivesTheEntryOfThatName) {
  for (const std::string& name : model_names()) EXPECT_EQ(find_model(name).name, name);
}

TEST(FindModel, SuggestsTheNearestName) {
  const std::string error = settings_error([] { find_model("lenet"); });

  EXPECT_EQ(error,
            "model\n"
            "  found:    lenet\n"
            "  expected: one of " +
                join(model_names()) +
                "\n"
                "  hint:     nearest name: lenet5");
}

TEST(FindModel, SuggestsNothingWhereNothingIsNear) {
  const std::string error = settings_error([] { find_model("transformer"); });

  EXPECT_EQ(error,
            "model\n"
            "  found:    transformer\n"
            "  expected: one of " +
                join(model_names()));
}

TEST(BuildLayout, HasAUnitForEachLayerWithParameters) {
  const Layout layout = build_layout(odd_model(), /*unit_multiple=*/32);

  std::vector<std::string> names;
  for (const Segment& segment : layout.segments()) names.push_back(segment.name);

  EXPECT_THAT(names, ElementsAre("a.weight", "a.bias", "b.weight", "b.bias", "c.weight",
                                 "c.bias", "d.weight", "d.bias"));
  EXPECT_EQ(layout.unit_count(), 4u);
  for (std::size_t unit = 0; unit < 4; ++unit) {
    EXPECT_EQ(layout.unit(UnitId{unit}).begin % 32, 0u);
  }
}

TEST(BuildLayout, HasPyTorchsShapes) {
  const Layout layout = build_layout(
      {"x", {2, 5, 5}, {Convolution{"conv", 3, 4}, Flatten{}, Linear{"fc", 7}}});

  EXPECT_THAT(layout.segments()[0].shape, ElementsAre(3, 2, 4, 4));
  EXPECT_THAT(layout.segments()[1].shape, ElementsAre(3));
  EXPECT_THAT(layout.segments()[2].shape, ElementsAre(7, 3 * 2 * 2));
  EXPECT_THAT(layout.segments()[3].shape, ElementsAre(7));
  EXPECT_EQ(layout.segments()[2].role, Role::weight);
  EXPECT_EQ(layout.segments()[3].role, Role::bias);
}

/// PyTorch draws weights and biases of a layer uniformly within this.
double bound_of(const Layout& layout, std::size_t id) {
  const Segment& weight = layout.segments()[id / 2 * 2];
  return 1 / std::sqrt(static_cast<double>(weight.range.size() / weight.shape[0]));
}

TEST(Initialize, DrawsUniformlyWithinPyTorchsBounds) {
  const Layout layout = build_layout(make_model("lenet5", {1, 28, 28}, 10));
  FlatBuffer values(layout);

  initialize(layout, /*seed=*/1, values);

  for (std::size_t id = 0; id < layout.segments().size(); ++id) {
    const Segment& segment = layout.segments()[id];
    const double bound = bound_of(layout, id);
    double sum = 0, squares = 0;
    for (const float value : values.view(segment.range)) {
      EXPECT_LE(std::abs(value), bound * 1.000001) << segment.name;
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    const auto count = static_cast<double>(segment.range.size());
    const double variance = bound * bound / 3;
    EXPECT_NEAR(sum / count, 0, 4 * std::sqrt(variance / count)) << segment.name;
    EXPECT_NEAR(squares / count, variance, 4 * variance / std::sqrt(count))
        << segment.name;
  }
}

TEST(Initialize, DependsOnTheSeedAlone) {
  const Model model = odd_model();
  const Layout tight = build_layout(model, 1), loose = build_layout(model, 64);
  FlatBuffer first(tight), again(loose), other(tight);
  for (const Segment& segment : loose.segments()) {
    for (float& value : again.view(segment.range)) value = 5;
  }

  initialize(tight, /*seed=*/1, first);
  initialize(loose, /*seed=*/1, again);
  initialize(tight, /*seed=*/2, other);

  EXPECT_EQ(weights_sha256(tight, first), weights_sha256(loose, again));
  EXPECT_NE(weights_sha256(tight, first), weights_sha256(tight, other));
}

TEST(Initialize, LeavesPaddingZero) {
  const Layout layout = build_layout(odd_model(), 64);
  FlatBuffer values(layout);

  initialize(layout, /*seed=*/1, values);

  const std::vector<bool> padding = padding_of(layout);
  for (std::size_t i = 0; i < padding.size(); ++i) {
    EXPECT_TRUE(!padding[i] || values.data()[i] == 0) << "element " << i;
  }
}

TEST(Initialize, GivesEachSegmentItsOwnNumbers) {
  const Layout layout =
      build_layout({"x", {1, 2, 2}, {Linear{"a", 4}, Linear{"b", 4}}}, 1);
  FlatBuffer values(layout);

  initialize(layout, /*seed=*/1, values);

  const auto a = values.view(layout.segments()[0].range);
  const auto b = values.view(layout.segments()[2].range);
  EXPECT_FALSE(std::ranges::equal(a, b));
}

}  // namespace
}  // namespace convoy
