// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/take_row.h"

#include <fmt/format.h>

#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class TakeRowStage final : public Stage {
 public:
  TakeRowStage(const TakeRow& layer, Shape src, Shape dst)
      : row_(static_cast<std::size_t>(layer.row)),
        rows_(static_cast<std::size_t>(src.rows)),
        src_(src),
        dst_(dst) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    copy_rows(pass, dst_, src[0].values, dst.values, [&](std::size_t sample) {
      return static_cast<std::ptrdiff_t>(sample * rows_ + row_);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    copy_rows(pass, src_, dst.gradient, src[0].gradient, [&](std::size_t row) {
      return row % rows_ == row_ ? static_cast<std::ptrdiff_t>(row / rows_) : kNoRow;
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  std::size_t row_, rows_;
  Shape src_, dst_;
};

class TakeRowKind final : public KindOf<TakeRow, TakeRowKind> {
 public:
  TakeRowKind() : KindOf({.name = "take_row", .operation = "Gather"}) {}

  static LayerDescription describe_options(const TakeRow& layer,
                                           const LayerContext& context) {
    Shape dst = context.first();
    if (layer.row < 0 || layer.row >= dst.rows) {
      refuse_layer("take_row", fmt::format("row {} of {}", layer.row, dst.rows),
                   "a row that is there, counted from 0");
    }
    dst.rows = 1;
    return {.dst = dst};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<TakeRowStage>(spec.options<TakeRow>(), spec.src[0],
                                          spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"First", TakeRow{0}, {{7, 1, 1, 5}}}, {"Last", TakeRow{4}, {{3, 1, 1, 5}}}};
  }
};

const Registered<TakeRowKind> kTakeRow;

}  // namespace
}  // namespace convoy
