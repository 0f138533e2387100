// SPDX-License-Identifier: Apache-2.0
//
// With r = 1 / sqrt(mean(x^2) + epsilon) of a row of F features:
//
//   forward          y  = x * r * weight
//   source backward  dx = r * (dy * weight - x * r * mean(dy * weight * x * r))
//   weight backward  dweight[f] = sum over rows of  dy * x * r
//
// A task takes one pack of rows through the first two, and some features through all
// packs for the third, so that no sum is shared by tasks. Rows are lanes: the loops over
// sixteen lanes are plain ones, which the compiler turns into vectors.

#include "convoy/network/layers/norm/rms_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

using Lanes = std::array<float, kPack>;

/// The mean over features of what term(feature, lane) gives, for each lane. Sums of a few
/// features are added up, which is closer to the exact sum than one long chain.
template <class Term>
Lanes mean_over_features(std::size_t features, const Term& term) {
  constexpr std::size_t kFeaturesPerSum = 16;
  Lanes mean{};
  for (std::size_t first = 0; first < features; first += kFeaturesPerSum) {
    Lanes sum{};
    for (std::size_t f = first; f < std::min(features, first + kFeaturesPerSum); ++f) {
      for (std::size_t i = 0; i < kPack; ++i) sum[i] += term(f, i);
    }
    for (std::size_t i = 0; i < kPack; ++i) mean[i] += sum[i];
  }
  for (float& one : mean) one /= static_cast<float>(features);
  return mean;
}

class RmsNormStage final : public Stage {
 public:
  RmsNormStage(const StageContext& context, const RmsNorm& layer, Shape shape)
      : shape_(shape),
        epsilon_(layer.epsilon),
        inverse_(context.reserve_kept(context.most_packs(shape) * sizeof(Lanes))) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int) {
      const std::size_t from = pack * pack_floats(shape_);
      normalize(pass, src[0].values + from, dst.values + from, inverse(pass)[pack]);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (pass.parameters[0].gradient != nullptr) {
      weight_gradient(pass, src[0].values, dst.gradient);
    }
    if (src[0].gradient == nullptr) return;
    pass.team.run(pass.packs(shape_), [&](std::size_t pack, int) {
      const std::size_t from = pack * pack_floats(shape_);
      source_gradient(pass, src[0].values + from, dst.gradient + from,
                      inverse(pass)[pack], src[0].gradient + from);
    });
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }
  bool is_cheap() const override { return true; }

 private:
  static constexpr std::size_t kFeaturesPerTask = 32;

  Lanes* inverse(const Pass& pass) const { return pass.arena.get<Lanes>(inverse_); }

  /// Calls work(index, feature, lane) for every number of a pack.
  template <class Work>
  void for_numbers(const Work& work) const {
    for (std::size_t f = 0; f < shape_.features(); ++f) {
      for (std::size_t i = 0; i < kPack; ++i) work(f * kPack + i, f, i);
    }
  }

  void normalize(const Pass& pass, const float* src, float* dst, Lanes& kept) const {
    const float* weight = pass.parameters[0].values;
    Lanes inverse =
        mean_over_features(shape_.features(), [&](std::size_t f, std::size_t i) {
          return src[f * kPack + i] * src[f * kPack + i];
        });
    for (float& one : inverse) one = 1.0f / std::sqrt(one + epsilon_);
    for_numbers([&](std::size_t at, std::size_t f, std::size_t i) {
      dst[at] = src[at] * inverse[i] * weight[f];
    });
    kept = inverse;
  }

  void source_gradient(const Pass& pass, const float* src, const float* dst_gradient,
                       const Lanes& kept, float* src_gradient) const {
    const float* weight = pass.parameters[0].values;
    const Lanes inverse = kept;
    const Lanes mean =
        mean_over_features(shape_.features(), [&](std::size_t f, std::size_t i) {
          const std::size_t at = f * kPack + i;
          return dst_gradient[at] * weight[f] * (src[at] * inverse[i]);
        });
    for_numbers([&](std::size_t at, std::size_t f, std::size_t i) {
      const float normal = src[at] * inverse[i];
      src_gradient[at] = (dst_gradient[at] * weight[f] - normal * mean[i]) * inverse[i];
    });
  }

  void weight_gradient(const Pass& pass, const float* src,
                       const float* dst_gradient) const {
    const std::size_t features = shape_.features();
    const std::size_t tasks = (features + kFeaturesPerTask - 1) / kFeaturesPerTask;
    pass.team.run(tasks, [&](std::size_t task, int) {
      const std::size_t first = task * kFeaturesPerTask;
      const std::size_t count = std::min(kFeaturesPerTask, features - first);
      std::array<Lanes, kFeaturesPerTask> sums{};
      for (std::size_t pack = 0; pack < pass.packs(shape_); ++pack) {
        const Lanes inverse = this->inverse(pass)[pack];
        std::size_t at = (pack * features + first) * kPack;
        for (std::size_t f = 0; f < count; ++f, at += kPack) {
          for (std::size_t i = 0; i < kPack; ++i) {
            sums[f][i] += dst_gradient[at + i] * (src[at + i] * inverse[i]);
          }
        }
      }
      for (std::size_t f = 0; f < count; ++f) {
        pass.parameters[0].gradient[first + f] =
            std::accumulate(sums[f].begin(), sums[f].end(), 0.0f);
      }
    });
  }

  Shape shape_;
  float epsilon_;
  SlotId inverse_;  // r of every row
};

class RmsNormKind final : public KindOf<RmsNorm, RmsNormKind> {
 public:
  RmsNormKind() : KindOf({.name = "rms_norm", .operation = "RMSNorm"}) {}

  static LayerDescription describe_options(const RmsNorm& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    return {.dst = src,
            .parameters = {{layer.name + ".weight",
                            {src.features()},
                            Role::norm_scale,
                            Initialization::ones()}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<RmsNormStage>(context, spec.options<RmsNorm>(), spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", RmsNorm{"norm"}, {{7, 1, 1, 5}}},
            {"OfImages", RmsNorm{"norm", 1e-2f}, {{3, 5, 4}}},
            {"OfManyFeatures", RmsNorm{"norm"}, {{133, 1, 1, 2}}}};
  }
};

const Registered<RmsNormKind> kRmsNorm;

}  // namespace
}  // namespace convoy
