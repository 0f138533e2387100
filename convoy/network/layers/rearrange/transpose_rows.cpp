// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/transpose_rows.h"

#include <fmt/format.h>

#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class TransposeRowsStage final : public Stage {
 public:
  TransposeRowsStage(Shape src, Shape dst) : src_(src), dst_(dst) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    transpose(pass, dst_, src[0].values, dst.values);
  }
  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient != nullptr) transpose(pass, src_, dst.gradient, src[0].gradient);
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  /// Row i of a sample takes channel i of all rows of the source, which lie next to each
  /// other there.
  static void transpose(const Pass& pass, Shape to_shape, const float* from, float* to) {
    const auto rows = static_cast<std::size_t>(to_shape.rows);
    const auto channels = static_cast<std::size_t>(to_shape.channels);
    pass.team.run(pass.packs(to_shape), [&](std::size_t pack, int) {
      float* pack_to = to + pack * channels * kPack;
      const auto real = static_cast<std::size_t>(pass.real_rows(to_shape, pack));
      if (real < kPack) std::fill_n(pack_to, channels * kPack, 0.0f);
      for (std::size_t lane = 0; lane < real; ++lane) {
        const std::size_t row = pack * kPack + lane;
        const std::size_t first = row / rows * channels, feature = row % rows;
        for (std::size_t c = 0; c < channels; ++c) {
          pack_to[c * kPack + lane] = from[row_offset(first + c, rows, feature)];
        }
      }
    });
  }

  Shape src_, dst_;
};

class TransposeRowsKind final : public KindOf<TransposeRows, TransposeRowsKind> {
 public:
  TransposeRowsKind() : KindOf({.name = "transpose_rows", .operation = "Transpose"}) {}

  static LayerDescription describe_options(const TransposeRows&,
                                           const LayerContext& context) {
    const Shape src = context.first();
    if (src.pixels() != 1) {
      refuse_layer("transpose_rows",
                   fmt::format("rows of {} x {} pixels", src.height, src.width),
                   "rows of channels alone");
    }
    return {.dst = {src.rows, 1, 1, src.channels}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<TransposeRowsStage>(spec.src[0], spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", TransposeRows{}, {{7, 1, 1, 5}}},
            {"OfManyTokens", TransposeRows{}, {{3, 1, 1, 35}}},
            {"OfOneRow", TransposeRows{}, {{6, 1, 1, 1}}}};
  }
};

const Registered<TransposeRowsKind> kTransposeRows;

}  // namespace
}  // namespace convoy
