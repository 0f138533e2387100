// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/pool_stages.h"

#include <algorithm>
#include <limits>

namespace convoy {
MaxPoolStage::MaxPoolStage(const StageContext& context, const MaxPool& layer, Shape dst)
    : layer_(layer),
      src_(context.src),
      dst_(dst),
      framed_row_(static_cast<std::size_t>(src_.width + 2 * layer.padding) * kPack),
      argmax_(context.plan.reserve(
          context.most_packs * pack_floats(dst),
          {context.forward, std::max(context.forward, context.backward)})) {
  if (layer_.stride == 0) layer_.stride = layer_.window;
  const std::size_t frame = layer.padding > 0 ? framed_floats() : 0;
  forward_frame_ = context.reserve_scratch(frame, context.forward);
  backward_frame_ = context.reserve_scratch(frame, context.backward);
}

/// A plane with a frame around it that no maximum takes; the plane itself without
/// padding.
const float* MaxPoolStage::framed(const Pass& pass, const float* plane,
                                  int thread) const {
  const int padding = layer_.padding;
  if (padding == 0) return plane;
  float* copy = pass.arena.get(forward_frame_) + thread * framed_floats();
  std::fill_n(copy, framed_floats(), kNoClamp);
  const std::size_t row = static_cast<std::size_t>(src_.width) * kPack;
  for (int y = 0; y < src_.height; ++y) {
    std::copy_n(plane + y * row, row,
                copy + (y + padding) * framed_row_ + padding * kPack);
  }
  return copy;
}

void MaxPoolStage::forward(const Pass& pass, const float* src, float* dst) {
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const auto channels = static_cast<std::size_t>(src_.channels);
  auto* argmax = pass.arena.get<std::uint8_t>(argmax_);
  pass.team.run(pass.packs * channels, [&](std::size_t plane, int thread) {
    const float* from = framed(pass, src + plane * src_.pixels() * kPack, thread);
    for (int row = 0; row < dst_.height; ++row) {
      const std::size_t to = (plane * dst_.height + row) * dst_row;
      pass.kernels.pool_row({.src = from + row * layer_.stride * framed_row_,
                             .src_row = framed_row_,
                             .window = layer_.window,
                             .stride = layer_.stride,
                             .columns = dst_.width,
                             .clamp_min = kNoClamp,
                             .dst = dst + to,
                             .argmax = argmax + to});
    }
  });
}

void MaxPoolStage::backward(const Pass& pass, const Activation& src,
                            const Activation& dst) {
  if (src.gradient == nullptr) return;
  const std::size_t dst_row = static_cast<std::size_t>(dst_.width) * kPack;
  const std::size_t src_row = static_cast<std::size_t>(src_.width) * kPack;
  const auto channels = static_cast<std::size_t>(src_.channels);
  const int padding = layer_.padding;
  const auto* argmax = pass.arena.get<std::uint8_t>(argmax_);
  pass.team.run(pass.packs * channels, [&](std::size_t plane, int thread) {
    float* gradient = src.gradient + plane * src_.pixels() * kPack;
    float* to = padding == 0 ? gradient
                             : pass.arena.get(backward_frame_) + thread * framed_floats();
    std::fill_n(to, framed_floats(), 0.0f);
    for (int row = 0; row < dst_.height; ++row) {
      const std::size_t from = (plane * dst_.height + row) * dst_row;
      pass.kernels.unpool_row({dst.gradient + from, argmax + from, layer_.window,
                               layer_.stride, dst_.width, /*accumulate=*/true,
                               to + row * layer_.stride * framed_row_, framed_row_});
    }
    if (padding == 0) return;
    for (int y = 0; y < src_.height; ++y) {
      std::copy_n(to + (y + padding) * framed_row_ + padding * kPack, src_row,
                  gradient + y * src_row);
    }
  });
}

template <class Work>
void AveragePoolStage::for_pixels(std::size_t plane, const Work& work) const {
  for (int y = 0; y < dst_.height * window_.height; ++y) {
    for (int x = 0; x < dst_.width * window_.width; ++x) {
      const std::size_t pixel = plane * src_.pixels() + y * src_.width + x;
      const std::size_t mean =
          plane * dst_.pixels() + y / window_.height * dst_.width + x / window_.width;
      work(pixel * kPack, mean * kPack);
    }
  }
}

void AveragePoolStage::forward(const Pass& pass, const float* src, float* dst) {
  const float part = 1.0f / static_cast<float>(window_.pixels());
  const auto channels = static_cast<std::size_t>(src_.channels);
  pass.team.run(pass.packs * channels, [&](std::size_t plane, int) {
    float* means = dst + plane * dst_.pixels() * kPack;
    std::fill_n(means, dst_.pixels() * kPack, 0.0f);
    for_pixels(plane, [&](std::size_t from, std::size_t to) {
      for (int i = 0; i < kPack; ++i) dst[to + i] += src[from + i];
    });
    for (std::size_t i = 0; i < dst_.pixels() * kPack; ++i) means[i] *= part;
  });
}

void AveragePoolStage::backward(const Pass& pass, const Activation& src,
                                const Activation& dst) {
  if (src.gradient == nullptr) return;
  const float part = 1.0f / static_cast<float>(window_.pixels());
  const auto channels = static_cast<std::size_t>(src_.channels);
  pass.team.run(pass.packs * channels, [&](std::size_t plane, int) {
    std::fill_n(src.gradient + plane * src_.pixels() * kPack, src_.pixels() * kPack,
                0.0f);
    for_pixels(plane, [&](std::size_t to, std::size_t from) {
      for (int i = 0; i < kPack; ++i) {
        src.gradient[to + i] = part * dst.gradient[from + i];
      }
    });
  });
}

}  // namespace convoy
