// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/network/layers/heads/attention_bias.h"
#include "convoy/network/layers/heads/attention_stage.h"

namespace convoy {
namespace {

/// Refuses an attention whose options do not fit its source.
class AttentionCheck {
 public:
  AttentionCheck(const Attention& layer, Shape src) : layer_(layer), src_(src) {}

  /// Throws InputError.
  void run() const {
    expect(layer_.heads >= 1, "heads", layer_.heads, "a number from 1");
    expect(src_.pixels() == 1 && src_.channels % (3 * layer_.heads) == 0, "source",
           fmt::format("{} x {} x {}", src_.channels, src_.height, src_.width),
           fmt::format("rows of query, key and value of {} heads", layer_.heads));
    expect(layer_.dropout >= 0 && layer_.dropout < 1, "dropout", layer_.dropout,
           "a number from 0 and below 1");
    expect(layer_.windows >= 1 && src_.rows % layer_.windows == 0, "windows",
           layer_.windows, fmt::format("a divisor of {} rows", src_.rows));
    expect(layer_.regions.empty() || layer_.regions.size() == rows(), "regions",
           fmt::format("{} numbers", layer_.regions.size()),
           fmt::format("one for each of {} rows", src_.rows));
    if (!layer_.bias_index.empty()) check_index();
  }

 private:
  std::size_t rows() const { return static_cast<std::size_t>(src_.rows); }

  void check_index() const {
    const std::size_t tokens = tokens_of(layer_, src_), pairs = tokens * tokens;
    expect(!layer_.name.empty(), "bias_index", "no name",
           "the name of the parameter that it is an index of");
    expect(layer_.bias_index.size() == pairs, "bias_index",
           fmt::format("{} numbers", layer_.bias_index.size()),
           fmt::format("one for each of {} x {} pairs", tokens, tokens));
    const auto [least, most] = std::ranges::minmax(layer_.bias_index);
    expect(least >= 0 && static_cast<std::size_t>(most) < pairs, "bias_index",
           fmt::format("numbers of {} .. {}", least, most),
           fmt::format("numbers from 0 and below {}", pairs));
  }

  template <class Found>
  void expect(bool fits, const char* option, const Found& found,
              const std::string& expected) const {
    if (fits) return;
    refuse_layer(fmt::format("attention: {}", option), fmt::format("{}", found),
                 expected);
  }

  const Attention& layer_;
  Shape src_;
};

class AttentionKind final : public KindOf<Attention, AttentionKind> {
 public:
  AttentionKind() : KindOf({.name = "attention", .operation = "Attention"}) {}

  static LayerDescription describe_options(const Attention& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    AttentionCheck(layer, src).run();
    const Shape dst = {src.channels / 3, 1, 1, src.rows};
    const std::size_t tokens = tokens_of(layer, src);
    return {.dst = dst,
            .parameters = parameters(layer, tokens),
            .flops = 4 * std::uint64_t{tokens} * dst.size(),
            .details = details(layer)};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return make_attention_stage(spec, context);
  }
  std::vector<LayerExample> examples() const override;

 private:
  static std::vector<TensorSpec> parameters(const Attention& layer, std::size_t tokens) {
    if (layer.name.empty()) return {};
    const auto heads = static_cast<std::size_t>(layer.heads);
    std::vector<std::size_t> shape = {heads, tokens, tokens};
    if (!layer.bias_index.empty()) shape = {bias_table_rows(layer, tokens), heads};
    return {{layer.name, shape, Role::embedding, Initialization::normal(0.02f)}};
  }

  static std::map<std::string, std::string> details(const Attention& layer) {
    std::map<std::string, std::string> result = {
        {"heads", fmt::format("{}", layer.heads)}};
    if (layer.dropout > 0) result["dropout"] = fmt::format("{}", layer.dropout);
    if (layer.windows > 1) result["windows"] = fmt::format("{}", layer.windows);
    if (layer.causal) result["causal"] = "true";
    return result;
  }
};

std::vector<LayerExample> AttentionKind::examples() const {
  const std::vector<int> two_parts = {0, 0, 1, 1, -1, 0};
  const std::vector<int> pairs = relative_positions(2, 3);
  return {
      {"OneHead", Attention{1}, {{12, 1, 1, 5}}},
      {"TwoHeads", Attention{2}, {{18, 1, 1, 16}}},
      {"ManyTokens", Attention{2}, {{30, 1, 1, 37}}},
      {"Dropout", Attention{.heads = 2, .dropout = 0.4f}, {{12, 1, 1, 7}}},
      {"Causal", Attention{.heads = 2, .causal = true}, {{12, 1, 1, 18}}},
      {"Windows", Attention{.heads = 2, .windows = 3}, {{12, 1, 1, 15}}},
      {"Regions", Attention{.regions = two_parts}, {{9, 1, 1, 6}}},
      {"Bias", Attention{.heads = 2, .name = "bias"}, {{12, 1, 1, 18}}},
      {"IndexedBias",
       Attention{.heads = 2, .name = "table", .bias_index = pairs},
       {{12, 1, 1, 6}}},
      {"ShiftedWindows",
       Attention{.heads = 3,
                 .dropout = 0.2f,
                 .windows = 2,
                 .regions = {0, 0, 1, 1, -1, 0, 2, 1, 2, 1, 2, 1},
                 .name = "table",
                 .bias_index = pairs},
       {{18, 1, 1, 12}}},
      {"CausalBiasDropout",
       Attention{.heads = 1, .dropout = 0.3f, .causal = true, .name = "bias"},
       {{9, 1, 1, 18}}},
  };
}

const Registered<AttentionKind> kAttention;

}  // namespace

std::vector<int> relative_positions(int height, int width) {
  const int tokens = height * width;
  std::vector<int> rows;
  for (int pair = 0; pair < tokens * tokens; ++pair) {
    const int query = pair / tokens, key = pair % tokens;
    const int down = query / width - key / width, right = query % width - key % width;
    rows.push_back((down + height - 1) * (2 * width - 1) + right + width - 1);
  }
  return rows;
}

}  // namespace convoy
