// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/slice.h"

#include <fmt/format.h>

#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// The extent of an axis, by its name. Throws InputError.
int& extent_of(Shape& shape, const std::string& axis) {
  if (axis == "channels") return shape.channels;
  if (axis == "height") return shape.height;
  if (axis == "width") return shape.width;
  if (axis == "rows") return shape.rows;
  refuse_layer("slice: axis", axis, "one of channels, height, width, rows");
}

/// A slice of an axis of so many elements.
struct SlicedAxis {
  SlicedAxis(const Slice& slice, int extent)
      : begin(slice.begin < 0 ? slice.begin + extent : slice.begin),
        end(slice.end <= 0 ? slice.end + extent : slice.end),
        step(slice.step) {
    if (begin >= 0 && begin < end && end <= extent && step >= 1) return;
    refuse_layer("slice",
                 fmt::format("[{}:{}:{}] of {}", slice.begin, slice.end, step, extent),
                 fmt::format("a part of the {} {}", extent, slice.axis));
  }

  int count() const { return (end - begin + step - 1) / step; }
  int source(int i) const { return begin + i * step; }

  int begin, end, step;
};

class SliceKind final : public KindOf<Slice, SliceKind> {
 public:
  SliceKind() : KindOf({.name = "slice", .operation = "StridedSlice"}) {}

  static LayerDescription describe_options(const Slice& layer,
                                           const LayerContext& context) {
    Shape dst = context.first();
    int& extent = extent_of(dst, layer.axis);
    extent = SlicedAxis(layer, extent).count();
    return {.dst = dst, .details = {{"axis", layer.axis}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    const auto& layer = spec.options<Slice>();
    Shape src = spec.src[0];
    const SlicedAxis axis(layer, extent_of(src, layer.axis));
    if (layer.axis == "rows") return rows_stage(src, spec.dst(), axis);
    return make_rearrange_stage(
        rearranged_features(src, spec.dst(), [&](int c, int y, int x) {
          if (layer.axis == "channels") return feature_number(src, axis.source(c), y, x);
          if (layer.axis == "height") return feature_number(src, c, axis.source(y), x);
          return feature_number(src, c, y, axis.source(x));
        }));
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfChannels", Slice{"channels", 1, 4}, {{5, 3, 2}}},
            {"OfManyChannels", Slice{"channels", 100}, {{301, 2, 1}}},
            {"OfEverySecondRowOfPixels", Slice{"height", 1, 0, 2}, {{2, 6, 3}}},
            {"OfEverySecondColumn", Slice{"width", 0, 0, 2}, {{2, 3, 7}}},
            {"OfTheLastTokens", Slice{"rows", -2}, {{3, 1, 1, 5}}},
            {"OfEveryThirdToken", Slice{"rows", 1, 19, 3}, {{3, 1, 1, 20}}},
            {"OfTokensChannels", Slice{"channels", 2, -1}, {{7, 1, 1, 5}}}};
  }

 private:
  static std::unique_ptr<Stage> rows_stage(Shape src, Shape dst, const SlicedAxis& axis) {
    Rearrangement result{.src = src, .dst = dst, .of_rows = true, .source = {}};
    for (int i = 0; i < axis.count(); ++i) result.source.push_back(axis.source(i));
    return make_rearrange_stage(result);
  }
};

const Registered<SliceKind> kSlice;

}  // namespace
}  // namespace convoy
