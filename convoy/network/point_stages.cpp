// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/point_stages.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "convoy/base/random.h"

namespace convoy {

void ReluStage::forward(const Pass& pass, const float* src, float* dst) {
  pass.team.run(pass.packs, [&](std::size_t pack, int) {
    std::transform(src + pack * size_, src + (pack + 1) * size_, dst + pack * size_,
                   [](float value) { return value < 0 ? 0.0f : value; });
  });
}

void ReluStage::backward(const Pass& pass, const Activation& src, const Activation& dst) {
  if (src.gradient == nullptr) return;
  pass.team.run(pass.packs, [&](std::size_t pack, int) {
    const std::size_t from = pack * size_;
    std::copy_n(dst.gradient + from, size_, src.gradient + from);
    pass.kernels.mask_by_sign(src.gradient + from, dst.values + from, size_);
  });
}

void GeluStage::forward(const Pass& pass, const float* src, float* dst) {
  pass.team.run(pass.packs * planes_, [&](std::size_t plane, int) {
    pass.kernels.gelu(src + plane * plane_, dst + plane * plane_, plane_);
  });
}

void GeluStage::backward(const Pass& pass, const Activation& src, const Activation& dst) {
  if (src.gradient == nullptr) return;
  pass.team.run(pass.packs * planes_, [&](std::size_t plane, int) {
    const std::size_t from = plane * plane_;
    pass.kernels.gelu_gradient(src.values + from, dst.gradient + from,
                               src.gradient + from, plane_);
  });
}

void AddStage::forward(const Pass& pass, const float* src, float* dst) {
  pass.team.run(pass.packs, [&](std::size_t pack, int) {
    const std::size_t from = pack * size_;
    pass.kernels.scale_shift(
        {.src = src + from,
         .scale = 1,
         .shift = 0,
         .residual = pass.residual.values + from,
         .clamp_min = relu_ ? 0 : -std::numeric_limits<float>::infinity(),
         .dst = dst + from,
         .size = size_});
  });
}

void AddStage::backward(const Pass& pass, const Activation& src, const Activation& dst) {
  pass.team.run(pass.packs, [&](std::size_t pack, int) {
    const std::size_t from = pack * size_;
    float* gradient = dst.gradient + from;
    if (relu_) pass.kernels.mask_by_sign(gradient, dst.values + from, size_);
    for (float* to : {src.gradient, pass.residual.gradient}) {
      if (to != nullptr) std::copy_n(gradient, size_, to + from);
    }
  });
}

DropoutStage::DropoutStage(const StageContext& context, const Dropout& layer)
    : probability_(layer.probability),
      features_(context.src.size()),
      number_(context.number),
      kept_(context.plan.reserve(
          context.most_packs * features_ * sizeof(std::uint16_t),
          {context.forward, std::max(context.forward, context.backward)})) {}

void DropoutStage::scale_kept(const Pass& pass, const float* from, float* to,
                              bool draw) const {
  constexpr std::size_t kChunk = 64;
  const RandomStream random(pass.key.seed, RngStream::dropout, pass.key.step,
                            pass.key.microbatch << 16 | number_);
  const auto threshold = static_cast<std::uint32_t>(std::lround(probability_ * 65536));
  auto* kept = pass.arena.get<std::uint16_t>(kept_);
  const std::size_t rows = pass.packs * features_;
  pass.team.run((rows + kChunk - 1) / kChunk, [&](std::size_t chunk, int) {
    const std::size_t first = chunk * kChunk, count = std::min(kChunk, rows - first);
    if (draw) pass.kernels.draw_kept({random, first, count, threshold, kept + first});
    pass.kernels.scale_kept({.src = from + first * kPack,
                             .kept = kept + first,
                             .rows = count,
                             .factor = 1.0f / (1.0f - probability_),
                             .dst = to + first * kPack});
  });
}

void DropoutStage::forward(const Pass& pass, const float* src, float* dst) {
  scale_kept(pass, src, dst, /*draw=*/true);
}

void DropoutStage::backward(const Pass& pass, const Activation& src,
                            const Activation& dst) {
  if (src.gradient != nullptr)
    scale_kept(pass, dst.gradient, src.gradient, /*draw=*/false);
}

}  // namespace convoy
