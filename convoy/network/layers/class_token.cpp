// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/class_token.h"

#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class ClassTokenStage final : public Stage {
 public:
  ClassTokenStage(Shape src, Shape dst) : src_(src), dst_(dst) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    const auto tokens = static_cast<std::size_t>(dst_.rows);
    copy_rows(pass, dst_, src[0].values, dst.values, [&](std::size_t row) {
      const std::size_t sample = row / tokens, token = row % tokens;
      return token == 0 ? kNoRow : static_cast<std::ptrdiff_t>(row - sample - 1);
    });
    const float* token = pass.parameters[0].values;
    const std::size_t features = dst_.features();
    for (std::size_t sample = 0; sample < pass.samples; ++sample) {
      float* to = dst.values + row_offset(sample * tokens, features);
      for (std::size_t f = 0; f < features; ++f) to[f * kPack] = token[f];
    }
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    const auto tokens = static_cast<std::size_t>(src_.rows);
    if (src[0].gradient != nullptr) {
      copy_rows(pass, src_, dst.gradient, src[0].gradient, [&](std::size_t row) {
        return static_cast<std::ptrdiff_t>(row + row / tokens + 1);
      });
    }
    if (pass.parameters[0].gradient != nullptr) sum_tokens(pass, dst.gradient);
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  /// Sums in the order of samples.
  void sum_tokens(const Pass& pass, const float* gradient) const {
    const std::size_t features = dst_.features();
    float* sums = pass.parameters[0].gradient;
    std::fill_n(sums, features, 0.0f);
    for (std::size_t sample = 0; sample < pass.samples; ++sample) {
      const float* from =
          gradient + row_offset(sample * static_cast<std::size_t>(dst_.rows), features);
      for (std::size_t f = 0; f < features; ++f) sums[f] += from[f * kPack];
    }
  }

  Shape src_, dst_;
};

class ClassTokenKind final : public KindOf<ClassToken, ClassTokenKind> {
 public:
  ClassTokenKind() : KindOf({.name = "class_token", .operation = "ConcatV2"}) {}

  static LayerDescription describe_options(const ClassToken& layer,
                                           const LayerContext& context) {
    Shape dst = context.first();
    ++dst.rows;
    return {.dst = dst,
            .parameters = {{layer.name,
                            {1, 1, dst.features()},
                            Role::embedding,
                            Initialization::normal(1e-6f)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    return std::make_unique<ClassTokenStage>(spec.src[0], spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", ClassToken{}, {{7, 1, 1, 5}}},
            {"OfOneRow", ClassToken{}, {{3, 1, 1, 1}}}};
  }
};

const Registered<ClassTokenKind> kClassToken;

}  // namespace
}  // namespace convoy
