// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/row_mean.h"

#include <algorithm>

#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// A task takes some features of sixteen samples, whose rows are whole packs.
class RowMeanStage final : public Stage {
 public:
  RowMeanStage(Shape src, Shape dst)
      : src_(src),
        dst_(dst),
        rows_(static_cast<std::size_t>(src.rows)),
        features_(src.features()) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    for_features(pass, [&](std::size_t pack, std::size_t f, std::size_t samples) {
      float* to = dst.values + (pack * features_ + f) * kPack;
      for (std::size_t sample = 0; sample < kPack; ++sample) {
        float sum = 0;
        const std::size_t first = (pack * kPack + sample) * rows_;
        for (std::size_t row = first; sample < samples && row < first + rows_; ++row) {
          sum += src[0].values[row_offset(row, features_, f)];
        }
        to[sample] = sum / static_cast<float>(rows_);
      }
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    copy_rows(pass, src_, dst.gradient, src[0].gradient,
              [&](std::size_t row) { return static_cast<std::ptrdiff_t>(row / rows_); });
    const std::size_t size = pack_floats(src_);
    pass.team.run(pass.packs(src_), [&](std::size_t pack, int) {
      float* gradient = src[0].gradient + pack * size;
      const auto rows = static_cast<float>(rows_);
      std::transform(gradient, gradient + size, gradient,
                     [rows](float value) { return value / rows; });
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  static constexpr std::size_t kFeaturesPerTask = 16;

  template <class Work>
  void for_features(const Pass& pass, const Work& work) const {
    const std::size_t parts = (features_ + kFeaturesPerTask - 1) / kFeaturesPerTask;
    pass.team.run(pass.packs(dst_) * parts, [&](std::size_t task, int) {
      const std::size_t pack = task / parts, first = task % parts * kFeaturesPerTask;
      const auto samples = static_cast<std::size_t>(pass.real_rows(dst_, pack));
      const std::size_t end = std::min(features_, first + kFeaturesPerTask);
      for (std::size_t f = first; f < end; ++f) work(pack, f, samples);
    });
  }

  Shape src_, dst_;
  std::size_t rows_, features_;
};

class RowMeanKind final : public KindOf<RowMean, RowMeanKind> {
 public:
  RowMeanKind() : KindOf({.name = "row_mean", .operation = "Mean"}) {}

  static LayerDescription describe_options(const RowMean&, const LayerContext& context) {
    Shape dst = context.first();
    dst.rows = 1;
    return {.dst = dst};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<RowMeanStage>(spec.src[0], spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", RowMean{}, {{7, 1, 1, 5}}},
            {"OfManyTokens", RowMean{}, {{19, 1, 1, 35}}},
            {"OfRowsOfImages", RowMean{}, {{2, 3, 2, 3}}}};
  }
};

const Registered<RowMeanKind> kRowMean;

}  // namespace
}  // namespace convoy
