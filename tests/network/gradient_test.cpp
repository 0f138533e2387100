// SPDX-License-Identifier: Apache-2.0
//
// Law 1, first half: every layer's gradients match finite differences, alone and in all
// the company that planning treats differently.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoy/network/layers/point/activations.h"
#include "tests/network/double_model.h"
#include "tests/network/kernel_tables.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

struct GradientCase {
  GradientCase(std::string name, Shape input, std::size_t batch,
               const Sequential& modules)
      : name(std::move(name)), batch(batch), model("case", input, modules) {}
  GradientCase(std::string name, std::size_t batch, Model model)
      : name(std::move(name)), batch(batch), model(std::move(model)) {}

  std::string name;
  std::size_t batch;
  Model model;
};

/// For GoogleTest, which would show bytes.
void PrintTo(const GradientCase& of, std::ostream* out) { *out << of.name; }

struct WindowCase {
  int kernel = 3, stride = 1, padding = 0;
};

/// A layer in front gives a source whose gradient matters, a layer behind mixes.
GradientCase windowed(const std::string& name, Shape input, std::size_t batch,
                      int channels, WindowCase window) {
  return {name,
          input,
          batch,
          {Convolution{.name = "front", .channels = 3, .kernel = 1},
           Convolution{"middle", channels, window.kernel, window.stride, window.padding},
           Linear{"behind", 3}}};
}

GradientCase between(const std::string& name, Shape input, std::size_t batch,
                     Sequential middle) {
  middle.insert(middle.begin(),
                Convolution{.name = "front", .channels = 3, .kernel = 3, .padding = 1});
  middle.push_back(Linear{"behind", 4});
  return {name, input, batch, std::move(middle)};
}

/// A convolution without bias in front: a batch norm would take any bias away.
GradientCase normed(const std::string& name, Shape input, std::size_t batch,
                    Sequential middle) {
  middle.insert(
      middle.begin(),
      Convolution{
          .name = "front", .channels = 3, .kernel = 3, .padding = 1, .bias = false});
  middle.push_back(Linear{"behind", 4});
  return {name, input, batch, std::move(middle)};
}

std::vector<GradientCase> norm_and_residual_cases() {
  const Convolution same = {
      .name = "same", .channels = 3, .kernel = 3, .padding = 1, .bias = false};
  const Convolution half = {.name = "half",
                            .channels = 5,
                            .kernel = 3,
                            .stride = 2,
                            .padding = 1,
                            .bias = false};
  const Convolution across = {
      .name = "across", .channels = 5, .kernel = 1, .stride = 2, .bias = false};
  const BatchNorm first = {"first"}, second = {"second"}, third = {"third"};
  const Residual identity({same, second});
  return {
      normed("Norm", {2, 5, 4}, 5, {first}),
      normed("NormRelu", {2, 5, 5}, 17, {first, Relu{}}),
      normed("NormGelu", {2, 5, 5}, 17, {first, Gelu{}}),
      {"GeluFirst", {2, 3, 3}, 17, {Gelu{}, Linear{"last", 3}}},
      normed("NormClip", {2, 5, 5}, 17, {first, Clip{-0.5f, 0.75f}}),
      normed("NormManyPacks", {1, 3, 4}, 33, {first, Relu{}}),
      normed("NormPool", {2, 6, 6}, 5, {first, MaxPool{2}}),
      normed("NormReluPool", {2, 6, 8}, 17, {first, Relu{}, MaxPool{2}}),
      normed("NormReluPoolLeftover", {2, 7, 9}, 5, {first, Relu{}, MaxPool{2}}),
      normed("NormOverlappingPool", {2, 7, 7}, 5, {first, Relu{}, MaxPool{3, 2, 1}}),
      {"NormFirst", {2, 4, 4}, 5, {first, Linear{"last", 3}}},
      {"NormAfterLinear",
       {2, 3, 3},
       17,
       {Linear{"hidden", 6}, Relu{}, first, Linear{"last", 3}}},
      between("PaddedPool", {2, 7, 8}, 5, {MaxPool{3, 2, 1}}),
      between("PaddedPoolOfTwo", {1, 5, 5}, 17, {Relu{}, MaxPool{2, 2, 1}}),
      between("AveragePool", {2, 6, 4}, 5, {AveragePool{2}}),
      between("AveragePoolLeftover", {2, 7, 5}, 17, {Relu{}, AveragePool{2}}),
      between("AverageOfAll", {2, 5, 7}, 5, {AveragePool{}}),
      normed("ResidualIdentity", {2, 5, 5}, 5, {first, Relu{}, identity, Relu{}}),
      normed("ResidualClip", {2, 5, 5}, 5,
             {first, Clip{0, 1}, identity, Clip{-0.5f, 1.5f}}),
      normed("ResidualLast", {2, 4, 4}, 17, {first, Relu{}, identity}),
      normed("ResidualBlock", {2, 5, 5}, 5,
             {first, Relu{},
              Residual{{same, second, Relu{},
                        Convolution{
                            .name = "again", .channels = 3, .kernel = 1, .bias = false},
                        third}},
              Relu{}}),
      normed("ResidualShortcut", {2, 7, 7}, 17,
             {first, Relu{}, Residual{{half, second}, {across, third}}, Relu{}}),
      normed("ResidualOfRelu", {2, 5, 5}, 5,
             {first, Relu{}, Residual{{same, second, Relu{}}}, Relu{}}),
      normed("ResidualWithoutNorm", {2, 5, 5}, 5, {Residual{{same}}, Relu{}}),
      normed("ResidualBeginsWithRelu", {2, 5, 5}, 5, {first, Residual{{Relu{}, same}}}),
      normed("ResidualInResidual", {2, 5, 5}, 5,
             {first,
              Residual{{identity, Relu{},
                        Convolution{
                            .name = "again", .channels = 3, .kernel = 1, .bias = false},
                        third}},
              Relu{}}),
      {"ResidualFirst", {3, 5, 5}, 5, {identity, Relu{}, Linear{"last", 3}}},
  };
}

/// So many channels that Winograd's forms pay.
GradientCase many_channels(const std::string& name, Shape input, std::size_t batch) {
  return {name,
          input,
          batch,
          {Convolution{.name = "front", .channels = 18, .kernel = 1},
           Convolution{.name = "middle", .channels = 17, .kernel = 3, .padding = 1},
           Relu{}, Linear{"behind", 3}}};
}

std::vector<GradientCase> gradient_cases() {
  const Convolution conv = {.name = "conv", .channels = 4, .kernel = 3};
  const Linear hidden = {"hidden", 7}, wide = {"wide", 261}, last = {"last", 3};
  return {
      {"LinearAlone", {1, 1, 5}, 1, {last}},
      {"LinearRelu", {2, 3, 3}, 17, {hidden, Relu{}, last}},
      {"LinearLinear", {2, 3, 3}, 5, {hidden, last}},
      {"LinearWiderThanOneStretch", {1, 17, 17}, 5, {wide, Relu{}, hidden, last}},
      {"LinearOfOnePixel", {1, 1, 1}, 5, {hidden, Relu{}, last}},
      {"LinearManyPacks", {1, 2, 3}, 49, {hidden, Relu{}, last}},
      {"FlattenAnywhere", {2, 5, 4}, 5, {Flatten{}, hidden, Flatten{}, Relu{}, last}},
      {"ConvolutionAlone", {1, 5, 5}, 5, {conv}},
      {"ConvolutionOneImage", {1, 5, 5}, 1, {conv, Relu{}, last}},
      {"ConvolutionManyPacks", {1, 4, 5}, 33, {conv, Relu{}, last}},
      between("Convolution", {2, 7, 7}, 5, {conv}),
      between("ConvolutionRelu", {2, 7, 7}, 17, {conv, Relu{}}),
      between("ConvolutionPool", {2, 8, 8}, 5, {conv, MaxPool{2}}),
      between("ConvolutionPoolStepAsWindow", {2, 8, 8}, 5, {conv, MaxPool{2, 2}}),
      between("ConvolutionReluPool", {2, 8, 8}, 17, {conv, Relu{}, MaxPool{2}}),
      between("ConvolutionPoolRelu", {2, 8, 8}, 5, {conv, MaxPool{2}, Relu{}}),
      between("ConvolutionPoolLeftover", {1, 9, 7}, 5, {conv, Relu{}, MaxPool{2}}),
      between("ConvolutionPoolOfThree", {1, 10, 9}, 5, {conv, MaxPool{3}}),
      between("ConvolutionPoolOfOne", {1, 5, 5}, 5, {conv, MaxPool{1}}),
      between("OverlappingPool", {2, 9, 9}, 5, {conv, MaxPool{3, 2}}),
      between("OverlappingPoolAfterRelu", {2, 9, 9}, 5, {conv, Relu{}, MaxPool{3, 2}}),
      between("OverlappingPoolLeftover", {1, 10, 8}, 17, {conv, MaxPool{3, 2}}),
      between("PoolThatSkips", {1, 9, 10}, 5, {conv, MaxPool{2, 3}}),
      between("PoolAfterPool", {1, 10, 10}, 5, {conv, MaxPool{2}, MaxPool{2}}),
      between("PoolAfterDropout", {1, 8, 8}, 5, {conv, Dropout{0.4f}, MaxPool{2}}),
      between("ReluTwice", {1, 6, 6}, 5, {conv, Relu{}, Relu{}}),
      {"PoolFirst", {2, 7, 6}, 5, {MaxPool{2}, hidden, last}},
      {"OverlappingPoolFirst", {2, 7, 7}, 5, {MaxPool{3, 1}, conv, last}},
      {"ReluFirst", {2, 4, 4}, 5, {Relu{}, conv, last}},
      {"DropoutFirst", {1, 6, 6}, 5, {Dropout{0.5f}, conv, Relu{}, last}},
      {"DropoutAfterLinear", {1, 4, 4}, 17, {hidden, Relu{}, Dropout{0.5f}, last}},
      {"DropoutOfNothing", {1, 4, 4}, 5, {hidden, Dropout{0.0f}, last}},
      between("DropoutAfterPool", {1, 8, 8}, 5, {conv, MaxPool{2}, Dropout{0.25f}}),
      windowed("KernelOne", {2, 5, 4}, 5, 5, {.kernel = 1}),
      windowed("KernelOneStrideTwo", {2, 5, 6}, 5, 5, {.kernel = 1, .stride = 2}),
      windowed("KernelOnePadded", {2, 3, 4}, 5, 2, {.kernel = 1, .padding = 1}),
      windowed("KernelTwo", {1, 6, 5}, 5, 4, {.kernel = 2}),
      windowed("KernelTwoPadded", {1, 5, 5}, 5, 4, {.kernel = 2, .padding = 1}),
      windowed("KernelTwoStrideTwo", {1, 6, 7}, 5, 4, {.kernel = 2, .stride = 2}),
      windowed("KernelTwoStrideThree", {1, 8, 7}, 5, 4, {.kernel = 2, .stride = 3}),
      windowed("KernelThreePaddedTwice", {7, 4, 5}, 5, 7, {.kernel = 3, .padding = 2}),
      windowed("KernelThreeStrideTwo", {3, 8, 8}, 17, 6, {.kernel = 3, .stride = 2}),
      windowed("KernelThreeStepTwoPadded", {3, 7, 9}, 5, 6,
               {.kernel = 3, .stride = 2, .padding = 1}),
      windowed("KernelThreeStrideThree", {1, 11, 9}, 5, 2,
               {.kernel = 3, .stride = 3, .padding = 2}),
      windowed("KernelFive", {2, 7, 6}, 5, 5, {.kernel = 5}),
      windowed("KernelFivePadded", {2, 6, 5}, 17, 5, {.kernel = 5, .padding = 2}),
      windowed("KernelFiveStrideTwo", {1, 9, 9}, 5, 3, {.kernel = 5, .stride = 2}),
      windowed("KernelFiveStrideThree", {1, 10, 11}, 5, 3,
               {.kernel = 5, .stride = 3, .padding = 2}),
      windowed("OnePixel", {4, 1, 1}, 5, 3, {.kernel = 1}),
      windowed("OnePixelInAFrame", {2, 1, 1}, 5, 3, {.kernel = 5, .padding = 2}),
      windowed("OneRow", {2, 1, 9}, 5, 3, {.kernel = 3, .stride = 2, .padding = 1}),
      windowed("OneColumn", {2, 9, 1}, 1, 3, {.kernel = 3, .padding = 1}),
      {"Odd", kOddInput, 17, odd_modules()},
      many_channels("Winograd", {2, 5, 3}, 3),
      many_channels("WinogradOfTwoPixels", {3, 2, 2}, 17),
      many_channels("WinogradOfOnePixel", {3, 1, 1}, 5),
  };
}

/// One tensor that two layers use.
GradientCase shared_tensor() {
  Model model("case", {2, 3, 3});
  model.add(Linear{"front", 6});
  model.add(Linear{"shared", 6});
  model.add(Relu{});
  model.add(Linear{"shared", 6});
  model.add(Linear{"behind", 3});
  return {"SharedTensor", 5, model};
}

/// A result that three layers read, one of them twice.
GradientCase branches() {
  Model model("case", {2, 3, 3});
  const LayerIndex x = model.add(Linear{"front", 6});
  const LayerIndex left = model.add(Linear{"left", 6}, {x});
  const LayerIndex right = model.add(Gelu{}, {x});
  const LayerIndex twice = model.add(Add{}, {x, x});
  const LayerIndex sum = model.add(Add{}, {left, right});
  model.add(Add{}, {sum, twice});
  model.add(Linear{"behind", 3});
  return {"Branches", 17, model};
}

/// Every layer of a transformer, with tokens that fill no pack.
GradientCase transformer() {
  Model model("case", {2, 6, 4});
  model.add(Patches{2});
  model.add(Linear{"embed", 6, true, {2, 2, 2}});
  model.add(ClassToken{});
  model.add(PositionEmbedding{});
  model.add(
      Residual({LayerNorm{"norm1"}, Linear{"qkv", 18}, Attention{2}, Linear{"proj", 6}}));
  model.add(Residual({LayerNorm{"norm2"}, Linear{"fc1", 9}, Gelu{}, Linear{"fc2", 6}}));
  model.add(TakeRow{0});
  model.add(LayerNorm{"norm"});
  model.add(Linear{"head", 3});
  return {"Transformer", 5, model};
}

constexpr RngKey kKey = {.seed = 3, .step = 7, .microbatch = 1};

/// Gives `expected` the masks that dropout layers have under kKey, as a network that ends
/// there shows them. An element that is zero before may have either factor.
void copy_dropout(const Model& model, const Layout& layout, const FlatBuffer& values,
                  const Samples& samples, ThreadTeam& team, DoubleModel& expected) {
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const auto* dropout = model.nodes[i].layer.get_if<Dropout>();
    if (dropout == nullptr) continue;
    Model start = model;
    start.nodes.erase(start.nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      start.nodes.end());
    const auto features = static_cast<std::size_t>(class_count(start));
    const std::vector<std::int32_t> labels(samples.count(), 0);
    Network network(start, layout, {.most_samples = samples.count()}, team);
    PassListener nobody;
    network.forward({samples.inputs, labels}, values, kKey, nobody);
    std::vector<double> factors;
    for (std::size_t n = 0; n < samples.count() * features; ++n) {
      const bool kept = network.logit(n / features, n % features) != 0;
      factors.push_back(kept ? 1 / (1 - static_cast<double>(dropout->probability)) : 0);
    }
    expected.set_dropout(i, std::move(factors));
  }
}

double root_mean_square(std::span<const float> numbers) {
  double squares = 0;
  for (const float number : numbers) squares += static_cast<double>(number) * number;
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

class Gradient : public testing::TestWithParam<GradientCase> {
 protected:
  Gradient()
      : model_(GetParam().model),
        layout_(build_layout(model_)),
        values_(made_up_values(layout_)),
        batch_(model_, GetParam().batch),
        expected_(model_, layout_, values_) {
    copy_dropout(model_, layout_, values_, batch_.samples(), team_, expected_);
    derivatives_.resize(layout_.size());
    for (const Segment& segment : layout_.segments()) {
      for (const std::size_t i : some_of(segment.range)) {
        derivatives_[i] = expected_.derivative(batch_.samples(), i);
      }
    }
  }

  /// So few that a difference for each is soon computed; the first and last among them.
  static std::vector<std::size_t> some_of(Range range) {
    const std::size_t most = std::min<std::size_t>(range.size(), 24);
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i + 1 < most; ++i) {
      some.push_back(range.begin + i * range.size() / most);
    }
    some.push_back(range.end - 1);
    return some;
  }

  void expect_forward(Network& network, const LossSum& loss) {
    const auto classes = static_cast<std::size_t>(class_count(model_));
    const auto all = expected_.logits(batch_.samples());
    for (std::size_t n = 0; n < GetParam().batch; ++n) {
      const std::vector<double>& logits = all[n];
      ASSERT_EQ(logits.size(), classes);
      for (std::size_t c = 0; c < classes; ++c) {
        ASSERT_NEAR(network.logit(n, c), logits[c], 1e-5) << "sample " << n;
      }
    }
    const double sum = expected_.loss(batch_.samples());
    EXPECT_NEAR(loss.loss, sum, 1e-5 * sum);
    EXPECT_EQ(loss.samples, GetParam().batch);
  }

  void expect_gradients(const FlatBuffer& gradients, double scale) {
    for (const Segment& segment : layout_.segments()) {
      const double size = root_mean_square(gradients.view(segment.range));
      EXPECT_GT(size, 0.0) << segment.name << " has no gradient: the case shows nothing";
      for (const std::size_t i : some_of(segment.range)) {
        const double expected = scale * derivatives_[i];
        EXPECT_NEAR(gradients.data()[i], expected, 1e-4 * (size + std::abs(expected)))
            << segment.name << ", element " << i - segment.range.begin;
      }
    }
    for (const std::size_t i : padding_of(layout_)) {
      EXPECT_EQ(gradients.data()[i], 0.0f) << "padding at " << i;
    }
  }

  Model model_;
  Layout layout_;
  FlatBuffer values_;
  MadeUpBatch batch_;
  ThreadTeam team_{2};
  DoubleModel expected_;
  std::vector<double> derivatives_;  // of some elements
};

TEST_P(Gradient, MatchesDifferencesOnAllKernels) {
  constexpr float kScale = 0.125f;

  for (const KernelSet kernels : available_kernel_sets()) {
    SCOPED_TRACE(name_of(kernels));
    FlatBuffer gradients(layout_);
    for (const Segment& segment : layout_.segments()) {
      std::ranges::fill(gradients.view(segment.range), 99.0f);  // to be overwritten
    }
    // Planned for more than it gets, as for the last batch of an epoch.
    Network network(model_, layout_,
                    {.most_samples = GetParam().batch + 20, .kernels = kernels}, team_);
    PassListener nobody;
    const LossSum loss = network.forward(batch_.samples(), values_, kKey, nobody);
    expect_forward(network, loss);
    network.backward(kScale, values_, gradients, nobody);
    expect_gradients(gradients, kScale);
  }
}

INSTANTIATE_TEST_SUITE_P(NormsAndResiduals, Gradient,
                         testing::ValuesIn(norm_and_residual_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Graphs, Gradient,
                         testing::Values(shared_tensor(), branches(), transformer()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Layers, Gradient, testing::ValuesIn(gradient_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace convoy
