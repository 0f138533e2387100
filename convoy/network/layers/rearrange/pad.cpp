// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/pad.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class PadKind final : public KindOf<Pad, PadKind> {
 public:
  PadKind() : KindOf({.name = "pad", .operation = "PadV2"}) {}

  static LayerDescription describe_options(const Pad& layer,
                                           const LayerContext& context) {
    const int least = std::min({layer.top, layer.bottom, layer.left, layer.right});
    if (least < 0) refuse_layer("pad", fmt::format("{}", least), "0 or more");
    Shape dst = context.first();
    dst.height += layer.top + layer.bottom;
    dst.width += layer.left + layer.right;
    return {.dst = dst};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    const auto& layer = spec.options<Pad>();
    const Shape src = spec.src[0];
    Rearrangement result = rearranged_features(src, spec.dst(), [&](int c, int y, int x) {
      y -= layer.top;
      x -= layer.left;
      const bool inside = y >= 0 && y < src.height && x >= 0 && x < src.width;
      return inside ? feature_number(src, c, y, x) : kFilled;
    });
    result.fill = layer.value;
    return make_rearrange_stage(result);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Pad{1, 2, 3, 4, 0.5f}, {{3, 5, 4}}},
            {"OnOneSide", Pad{.right = 1}, {{2, 3, 3}}},
            {"OfRowsOfImages", Pad{.top = 1, .left = 1}, {{2, 3, 2, 3}}}};
  }
};

const Registered<PadKind> kPad;

}  // namespace
}  // namespace convoy
