// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/roll.h"

#include <fmt/format.h>

#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// Where element `i` of a rolled axis comes from.
int unrolled(int i, int shift, int extent) {
  const int source = (i - shift % extent) % extent;
  return source < 0 ? source + extent : source;
}

class RollKind final : public KindOf<Roll, RollKind> {
 public:
  RollKind() : KindOf({.name = "roll", .operation = "Roll"}) {}

  static LayerDescription describe_options(const Roll& layer,
                                           const LayerContext& context) {
    const bool features = layer.channels != 0 || layer.height != 0 || layer.width != 0;
    if (features && layer.rows != 0) {
      refuse_layer("roll", "shifts of rows and of other axes",
                   "rows in a layer of their own");
    }
    return {.dst = context.first()};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    const auto& layer = spec.options<Roll>();
    const Shape shape = spec.src[0];
    if (layer.rows != 0) return rows_stage(layer, shape);
    return make_rearrange_stage(
        rearranged_features(shape, shape, [&](int c, int y, int x) {
          return feature_number(shape, unrolled(c, layer.channels, shape.channels),
                                unrolled(y, layer.height, shape.height),
                                unrolled(x, layer.width, shape.width));
        }));
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Roll{.height = -2, .width = 3}, {{3, 5, 4}}},
            {"OfChannels", Roll{.channels = 9}, {{7, 2, 1}}},
            {"OfTokens", Roll{.rows = -2}, {{3, 1, 1, 5}}},
            {"OfManyTokens", Roll{.rows = 7}, {{3, 1, 1, 19}}}};
  }

 private:
  static std::unique_ptr<Stage> rows_stage(const Roll& layer, Shape shape) {
    Rearrangement result{.src = shape, .dst = shape, .of_rows = true, .source = {}};
    for (int i = 0; i < shape.rows; ++i) {
      result.source.push_back(unrolled(i, layer.rows, shape.rows));
    }
    return make_rearrange_stage(result);
  }
};

const Registered<RollKind> kRoll;

}  // namespace
}  // namespace convoy
