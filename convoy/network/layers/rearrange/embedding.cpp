// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/embedding.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class EmbeddingStage final : public Stage {
 public:
  EmbeddingStage(const Embedding& layer, Shape src, Shape dst)
      : name_(layer.name),
        count_(static_cast<std::size_t>(layer.count)),
        channels_(static_cast<std::size_t>(layer.channels)),
        src_(src),
        dst_(dst) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    check_indices(pass, src[0].values);
    const float* table = pass.parameters[0].values;
    pass.team.run(pass.packs(dst_), [&](std::size_t pack, int) {
      float* to = dst.values + pack * pack_floats(dst_);
      const auto rows = static_cast<std::size_t>(pass.real_rows(dst_, pack));
      if (rows < kPack) std::fill_n(to, pack_floats(dst_), 0.0f);
      for (std::size_t lane = 0; lane < rows; ++lane) {
        const float* from =
            table + index_of(src[0].values, pack * kPack + lane) * channels_;
        for (std::size_t c = 0; c < channels_; ++c) to[c * kPack + lane] = from[c];
      }
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient != nullptr) {
      src[0].gradient.fill_zeros(0, pass.packs(src_) * pack_floats(src_));
    }
    if (pass.parameters[0].gradient != nullptr) {
      sum_gradients(pass, src[0].values, dst.gradient);
    }
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }

 private:
  static constexpr std::size_t kChannelsPerTask = 16;

  /// Of a row: a source of one number per row is one number after the other.
  static std::size_t index_of(const float* values, std::size_t row) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(values[row]));
  }

  /// Throws InputError. No task of a team may, so that this comes first.
  void check_indices(const Pass& pass, const float* values) const {
    for (std::size_t row = 0; row < pass.rows(src_); ++row) {
      const float value = values[row];
      if (value > -1 && value < static_cast<float>(count_)) continue;
      throw InputError(InputKind::data,
                       {.where = fmt::format("layer {}", name_),
                        .found = fmt::format("index {} in row {}", value, row),
                        .expected = fmt::format("an index below {}", count_),
                        .hint = "a table needs one row per index that the data has"});
    }
  }

  /// A task has some channels of the whole table, and adds to them in the order of rows.
  void sum_gradients(const Pass& pass, const float* values, const float* gradient) const {
    float* table = pass.parameters[0].gradient;
    const std::size_t tasks = (channels_ + kChannelsPerTask - 1) / kChannelsPerTask;
    pass.team.run(tasks, [&](std::size_t task, int) {
      const std::size_t first = task * kChannelsPerTask;
      const std::size_t count = std::min(kChannelsPerTask, channels_ - first);
      for (std::size_t i = 0; i < count_; ++i) {
        std::fill_n(table + i * channels_ + first, count, 0.0f);
      }
      for (std::size_t row = 0; row < pass.rows(src_); ++row) {
        float* sums = table + index_of(values, row) * channels_ + first;
        const float* from = gradient + row_offset(row, channels_, first);
        for (std::size_t c = 0; c < count; ++c) sums[c] += from[c * kPack];
      }
    });
  }

  std::string name_;
  std::size_t count_, channels_;
  Shape src_, dst_;
};

class EmbeddingKind final : public KindOf<Embedding, EmbeddingKind> {
 public:
  EmbeddingKind() : KindOf({.name = "embedding", .operation = "Gather"}) {}

  static LayerDescription describe_options(const Embedding& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    if (src.features() != 1 || layer.count < 1 || layer.channels < 1) {
      refuse_layer("embedding " + layer.name,
                   fmt::format("{} numbers per row, a table of {} x {}", src.features(),
                               layer.count, layer.channels),
                   "one number per row, and a table that is not empty");
    }
    return {.dst = {layer.channels, 1, 1, src.rows},
            .parameters = {{layer.name + ".weight",
                            {static_cast<std::size_t>(layer.count),
                             static_cast<std::size_t>(layer.channels)},
                            Role::embedding,
                            Initialization::normal(1)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<EmbeddingStage>(spec.options<Embedding>(), spec.src[0],
                                            spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", Embedding{"table", 5, 7}, {{1, 1, 1, 5}}},
            {"OfOneRow", Embedding{"table", 3, 19}, {{1, 1, 1, 1}}}};
  }
};

const Registered<EmbeddingKind> kEmbedding;

}  // namespace
}  // namespace convoy
