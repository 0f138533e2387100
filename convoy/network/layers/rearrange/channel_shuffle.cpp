// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/channel_shuffle.h"

#include <fmt/format.h>

#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class ChannelShuffleKind final : public KindOf<ChannelShuffle, ChannelShuffleKind> {
 public:
  ChannelShuffleKind() : KindOf({.name = "channel_shuffle", .operation = "Transpose"}) {}

  static LayerDescription describe_options(const ChannelShuffle& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    if (layer.groups < 1 || src.channels % layer.groups != 0) {
      refuse_layer("channel_shuffle: groups", fmt::format("{}", layer.groups),
                   fmt::format("a divisor of {} channels", src.channels));
    }
    return {.dst = src};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    const Shape shape = spec.src[0];
    const int groups = spec.options<ChannelShuffle>().groups;
    const int of_group = shape.channels / groups;
    return make_rearrange_stage(
        rearranged_features(shape, shape, [&](int c, int y, int x) {
          return feature_number(shape, c % groups * of_group + c / groups, y, x);
        }));
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", ChannelShuffle{3}, {{6, 5, 3}}},
            {"OfTokens", ChannelShuffle{2}, {{10, 1, 1, 3}}}};
  }
};

const Registered<ChannelShuffleKind> kChannelShuffle;

}  // namespace
}  // namespace convoy
