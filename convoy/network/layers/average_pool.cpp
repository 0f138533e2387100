// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/average_pool.h"

#include <algorithm>

#include "convoy/network/average_stage.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// A window's way in one direction.
struct AverageAxis {
  int side;  // of the image
  int size, stride, before, after;
};

/// The windows of one direction. Those that reach beyond the padding do not count what is
/// there, as in PyTorch.
std::vector<AverageSpan> average_spans(const AverageAxis& axis, int positions,
                                       bool count_padding) {
  std::vector<AverageSpan> spans;
  for (int i = 0; i < positions; ++i) {
    const int first = i * axis.stride - axis.before;
    const int begin = std::max(first, 0), end = std::min(first + axis.size, axis.side);
    const int padded_end = std::min(first + axis.size, axis.side + axis.after);
    spans.push_back({begin, end, count_padding ? padded_end - first : end - begin});
  }
  return spans;
}

AverageWindows average_windows(const AveragePool& layer, Shape src) {
  const Window window = layer.real_window(src);
  const Extent positions = window.positions(src);
  const Padding& padding = window.padding;
  return {average_spans({src.height, window.size.height, window.stride.height,
                         padding.top, padding.bottom},
                        positions.height, layer.count_include_pad),
          average_spans({src.width, window.size.width, window.stride.width, padding.left,
                         padding.right},
                        positions.width, layer.count_include_pad)};
}

class AveragePoolKind final : public KindOf<AveragePool, AveragePoolKind> {
 public:
  AveragePoolKind() : KindOf({.name = "avg_pool", .operation = "AvgPool"}) {}

  static LayerDescription describe_options(const AveragePool& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    const Window window = layer.real_window(src);
    refuse_pool_window("avg_pool", src, window);
    const Extent positions = window.positions(src);
    LayerDescription result{
        .dst = {src.channels, positions.height, positions.width, src.rows},
        .details = window_details(window)};
    if (layer.window == 0) result.details = {{"window", "all"}};
    return result;
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<AverageStage>(
        context, average_windows(spec.options<AveragePool>(), spec.src[0]), spec.src[0],
        spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTwo", AveragePool{2}, {{3, 6, 4}}},
            {"Leftover", AveragePool{2}, {{2, 7, 5}}},
            {"OfAll", AveragePool{}, {{3, 5, 7}}},
            {"Overlapping", AveragePool{3, 2}, {{2, 9, 8}}},
            {"Padded", AveragePool{3, 1, 1}, {{2, 5, 6}}},
            {"PaddedByNothing", AveragePool{3, 2, 1, false, false}, {{2, 6, 7}}},
            {"NotSquare", AveragePool{{2, 3}, {1, 2}, {1, 0}}, {{2, 5, 6}}},
            {"PaddedOnTwoSides", AveragePool{3, 2, {0, 0, 1, 2}}, {{2, 6, 7}}},
            {"UpToTheEnd", AveragePool{3, 2, 1, true}, {{2, 6, 8}}},
            {"UpToTheEndOfPixels", AveragePool{3, 2, 0, true, false}, {{2, 6, 8}}}};
  }
};

const Registered<AveragePoolKind> kAveragePool;

}  // namespace
}  // namespace convoy
