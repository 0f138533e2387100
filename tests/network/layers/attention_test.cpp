// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/attention.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/network/layers/rearrange/image_rows.h"
#include "tests/ask_torch.h"
#include "tests/network/double_layer.h"
#include "tests/network/expect_as_torch.h"
#include "tests/network/made_up.h"

namespace convoy {
namespace {

/// One head of one window of one sample.
struct HeadView {
  const Attention& layer;
  const DoubleArguments& of;
  int sequence, head;

  int tokens() const { return of.dst.rows / layer.windows; }
  int size() const { return of.dst.channels / layer.heads; }

  double at(int part, int token, int f) const {
    return of.first().at(static_cast<std::size_t>(sequence * tokens() + token),
                         (part * layer.heads + head) * size() + f);
  }
  bool sees(int query, int key) const {
    if (layer.causal && key > query) return false;
    if (layer.regions.empty()) return true;
    const int* regions = layer.regions.data() + sequence % layer.windows * tokens();
    return regions[query] >= 0 && regions[query] == regions[key];
  }
  double bias(int query, int key) const {
    if (layer.name.empty()) return 0;
    const int pair = query * tokens() + key;
    const int at = layer.bias_index.empty() ? head * tokens() * tokens() + pair
                                            : layer.bias_index[pair] * layer.heads + head;
    return of.parameters[0][at];
  }
  double score(int query, int key) const {
    double score = 0;
    for (int f = 0; f < size(); ++f) score += at(0, query, f) * at(1, key, f);
    return score / std::sqrt(static_cast<double>(size())) + bias(query, key);
  }
  /// Zero, or what makes up for those that are.
  double kept(int query, int key) const {
    if (layer.dropout == 0) return 1;
    const RandomStream random(of.key.seed, RngStream::dropout, of.key.step,
                              of.key.microbatch << 16 | of.number);
    const int panels = (tokens() + kPack - 1) / kPack, lane = query % kPack;
    const int panel = (sequence * layer.heads + head) * panels + query / kPack;
    const std::uint32_t word =
        random.word(static_cast<std::uint64_t>(panel * tokens() + key) * kPack / 2 +
                    static_cast<std::uint64_t>(lane / 2));
    const double drawn = word >> (lane % 2 * 16) & 0xFFFF;
    return drawn < std::lround(layer.dropout * 65536) ? 0 : 1 / (1.0 - layer.dropout);
  }

  /// The weights of all values for one query.
  std::vector<double> weights(int query) const {
    std::vector<double> weights;
    double sum = 0;
    for (int key = 0; key < tokens(); ++key) {
      weights.push_back(sees(query, key) ? std::exp(score(query, key)) : 0);
      sum += weights.back();
    }
    for (int key = 0; key < tokens(); ++key) {
      weights[key] *= sum == 0 ? 0 : kept(query, key) / sum;
    }
    return weights;
  }
};

const DoubleLayer<Attention> kAttention("attention", [](const Attention& layer,
                                                        const DoubleArguments& of) {
  DoubleBatch dst(of.dst, of.samples());
  for (int i = 0; i < static_cast<int>(dst.rows()) * layer.heads; ++i) {
    const int row = i / layer.heads, tokens = of.dst.rows / layer.windows;
    const HeadView view = {layer, of, row / tokens, i % layer.heads};
    const std::vector<double> weights = view.weights(row % tokens);
    for (int f = 0; f < view.size(); ++f) {
      double sum = 0;
      for (int key = 0; key < tokens; ++key) sum += weights[key] * view.at(2, key, f);
      dst.at(static_cast<std::size_t>(row), view.head * view.size() + f) = sum;
    }
  }
  return dst;
});

std::string attention_refusal(const Attention& options, Shape shape = {12, 1, 1, 6}) {
  const Layer layer = options;
  try {
    layer.kind().describe(layer, {.src = {&shape, 1}});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Attention, RefusesOptionsThatDoNotFitItsSource) {
  using testing::HasSubstr;
  EXPECT_THAT(attention_refusal({.heads = 0}),
              HasSubstr("attention: heads\n  found:    0"));
  EXPECT_THAT(attention_refusal({.heads = 3}),
              HasSubstr("query, key and value of 3 heads"));
  EXPECT_THAT(attention_refusal({.heads = 1}, {12, 2, 1, 6}), HasSubstr("12 x 2 x 1"));
  EXPECT_THAT(attention_refusal({.dropout = 1}), HasSubstr("from 0 and below 1"));
  EXPECT_THAT(attention_refusal({.dropout = kNan}), HasSubstr("from 0 and below 1"));
  EXPECT_THAT(attention_refusal({.windows = 4}), HasSubstr("a divisor of 6 rows"));
  EXPECT_THAT(attention_refusal({.windows = 0}), HasSubstr("a divisor of 6 rows"));
  EXPECT_THAT(attention_refusal({.regions = {1, 2}}),
              HasSubstr("one for each of 6 rows"));
  EXPECT_THAT(attention_refusal({.bias_index = {1}}),
              HasSubstr("the name of the parameter"));
  EXPECT_THAT(attention_refusal({.windows = 3, .name = "table", .bias_index = {0, 1, 2}}),
              HasSubstr("one for each of 2 x 2 pairs"));
  EXPECT_THAT(
      attention_refusal({.windows = 3, .name = "table", .bias_index = {0, 1, 2, 4}}),
      HasSubstr("from 0 and below 4"));
  EXPECT_THAT(
      attention_refusal({.windows = 3, .name = "table", .bias_index = {0, -1, 2, 3}}),
      HasSubstr("from 0 and below 4"));
  EXPECT_EQ(
      attention_refusal({.windows = 3, .name = "table", .bias_index = {0, 1, 2, 3}}),
      "no error");
}

TEST(Attention, CountsRelativePositionsAsSwinDoes) {
  // Of a window of 1 x 3: by how far the query is to the right of the key.
  EXPECT_THAT(relative_positions(1, 3), testing::ElementsAre(2, 1, 0, 3, 2, 1, 4, 3, 2));
  const std::vector<int> pairs = relative_positions(7, 7);
  EXPECT_EQ(pairs.size(), 49u * 49u);
  EXPECT_EQ(pairs.front(), 84);  // Swin's relative_position_index[0][0]
  EXPECT_EQ(std::ranges::max(pairs), 168);
}

/// Attention with mask and bias between two layers whose gradients show its own.
struct TorchAttention {
  std::string name;
  Attention layer;
  int rows, channels;
};

nlohmann::json request_of(const TorchAttention& of) {
  return {{"heads", of.layer.heads},
          {"windows", of.layer.windows},
          {"causal", of.layer.causal},
          {"regions", of.layer.regions},
          {"bias", !of.layer.name.empty()},
          {"index", of.layer.bias_index},
          {"rows", of.rows},
          {"channels", of.channels}};
}

Model between_linear_layers(const TorchAttention& of) {
  return {"attention",
          {3, 1, of.rows},
          {ImageToRows{}, Linear{"qkv", 3 * of.channels}, of.layer,
           RowsToImage{1, of.rows}, Linear{"head", 10}}};
}

/// What a network of one attention makes of a batch, with and without training.
class AttentionPass : public testing::Test {
 protected:
  std::vector<float> logits(const Attention& layer, bool training) {
    const Model model = between_linear_layers({"", layer, /*rows=*/6, /*channels=*/4});
    const Layout layout = build_layout(model);
    const FlatBuffer values = made_up_values(layout);
    const MadeUpBatch batch(model, kSamples);
    ThreadTeam team(2);
    Network network(model, layout, {.most_samples = kSamples, .training = training},
                    team);
    PassListener nobody;
    network.forward(batch.samples(), values, {}, nobody);
    std::vector<float> result;
    for (std::size_t i = 0; i < kSamples * 10; ++i) {
      result.push_back(network.logit(i / 10, i % 10));
    }
    return result;
  }

  static constexpr std::size_t kSamples = 3;
};

TEST_F(AttentionPass, DropsProbabilitiesInTrainingAlone) {
  const Attention plain{.heads = 2}, dropping{.heads = 2, .dropout = 0.5f};

  EXPECT_EQ(logits(dropping, /*training=*/false), logits(plain, /*training=*/false));
  EXPECT_NE(logits(dropping, /*training=*/true), logits(plain, /*training=*/true));
  EXPECT_EQ(logits(dropping, /*training=*/true), logits(dropping, /*training=*/true));
}

TEST_F(AttentionPass, GivesZerosToAQueryThatSeesNothing) {
  const std::vector<float> found =
      logits({.heads = 2, .regions = std::vector<int>(6, -1)}, /*training=*/true);
  for (std::size_t i = 10; i < found.size(); ++i) EXPECT_EQ(found[i], found[i % 10]);
  EXPECT_FALSE(std::isnan(found[0]));
}

TEST(Attention, GivesWhatTorchGivesWithMaskAndBias) {
  const std::vector<int> pairs = relative_positions(3, 6);
  std::vector<int> regions;
  for (int row = 0; row < 36; ++row) regions.push_back(row % 18 / 6 * 2 + row % 5 / 3);
  const std::vector<TorchAttention> cases = {
      {"plain", {.heads = 2}, 36, 12},
      {"causal", {.heads = 2, .causal = true}, 36, 12},
      {"bias", {.heads = 3, .name = "bias"}, 19, 12},
      {"swin", {.heads = 3, .windows = 2, .name = "table", .bias_index = pairs}, 36, 12},
      {"shifted swin",
       {.heads = 3,
        .windows = 2,
        .regions = regions,
        .name = "table",
        .bias_index = pairs},
       36,
       12}};
  nlohmann::json request = nlohmann::json::array();
  for (const TorchAttention& of : cases) request.push_back(request_of(of));
  const nlohmann::json expected = ask_torch("network/torch_attention.py", request);
  ASSERT_EQ(expected.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].name);
    expect_as_torch(between_linear_layers(cases[i]), /*samples=*/5, expected[i]);
  }
}

}  // namespace
}  // namespace convoy
