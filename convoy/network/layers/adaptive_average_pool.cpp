// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/adaptive_average_pool.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/network/average_stage.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// Window i begins at the pixel where share i of the side begins, and ends with the pixel
/// where it ends.
std::vector<AverageSpan> adaptive_spans(int side, int positions) {
  std::vector<AverageSpan> spans;
  for (int i = 0; i < positions; ++i) {
    const int begin = i * side / positions;
    const int end = ((i + 1) * side + positions - 1) / positions;
    spans.push_back({begin, end, end - begin});
  }
  return spans;
}

class AdaptiveAveragePoolKind final
    : public KindOf<AdaptiveAveragePool, AdaptiveAveragePoolKind> {
 public:
  AdaptiveAveragePoolKind()
      : KindOf({.name = "adaptive_avg_pool", .operation = "AdaptiveAvgPool"}) {}

  static LayerDescription describe_options(const AdaptiveAveragePool& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    const std::string size = fmt::format("{} x {}", layer.height, layer.width);
    if (layer.height < 1 || layer.width < 1) {
      throw InputError(InputKind::settings, {.where = "model: adaptive_avg_pool",
                                             .found = "an output of " + size,
                                             .expected = "at least 1 x 1",
                                             .hint = ""});
    }
    return {.dst = {src.channels, layer.height, layer.width, src.rows},
            .details = {{"output", size}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    const Shape src = spec.src[0], dst = spec.dst();
    return std::make_unique<AverageStage>(
        context,
        AverageWindows{adaptive_spans(src.height, dst.height),
                       adaptive_spans(src.width, dst.width)},
        src, dst);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfAll", AdaptiveAveragePool{}, {{3, 5, 7}}},
            {"Even", AdaptiveAveragePool{3, 2}, {{2, 6, 4}}},
            {"Overlapping", AdaptiveAveragePool{3, 5}, {{2, 7, 7}}},
            {"Larger", AdaptiveAveragePool{4, 3}, {{2, 3, 2}}}};
  }
};

const Registered<AdaptiveAveragePoolKind> kAdaptiveAveragePool;

}  // namespace
}  // namespace convoy
