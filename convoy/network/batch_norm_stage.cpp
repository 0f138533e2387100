// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/batch_norm_stage.h"

#include <cmath>
#include <limits>

namespace convoy {
namespace {

/// Two sums for each of the sixteen images of a pack.
struct PackSums {
  double first[kPack] = {};
  double second[kPack] = {};
};

struct Sums {
  double first = 0;
  double second = 0;

  void add(const PackSums& pack_sums, int images) {
    for (int i = 0; i < images; ++i) {
      first += pack_sums.first[i];
      second += pack_sums.second[i];
    }
  }
};

}  // namespace

BatchNormStage::BatchNormStage(const StageContext& context,
                               const BatchNormOptions& options)
    : options_(options),
      src_(context.src),
      dst_(context.src),
      row_floats_(static_cast<std::size_t>(src_.width) * kPack) {
  if (options.pool > 0) dst_.height /= options.pool, dst_.width /= options.pool;
  const Lifetime until_backward = {context.forward,
                                   std::max(context.forward, context.backward)};
  const auto channels = static_cast<std::size_t>(src_.channels);
  moments_ = context.plan.reserve(channels * sizeof(Moments), until_backward);
  argmax_ = context.plan.reserve(
      options.pool > 0 ? context.most_packs * pack_floats(dst_) : 0, until_backward);
  forward_rows_ = context.reserve_scratch(row_floats_ * options.pool, context.forward);
  backward_rows_ = context.reserve_scratch(row_floats_ * options.pool, context.backward);
}

float* BatchNormStage::thread_rows(const Pass& pass, SlotId scratch, int thread) const {
  return pass.arena.get(scratch) + thread * row_floats_ * options_.pool;
}

void BatchNormStage::forward(const Pass& pass, const float* src, float* dst) {
  auto* moments = pass.arena.get<Moments>(moments_);
  pass.team.run(static_cast<std::size_t>(src_.channels), [&](std::size_t c, int thread) {
    moments[c] = pass.statistics != nullptr ? running(pass, c) : measure(pass, src, c);
    float* rows = thread_rows(pass, forward_rows_, thread);
    for (std::size_t pack = 0; pack < pass.packs; ++pack) {
      normalize(pass, pack, c, moments[c], src, dst, rows);
    }
  });
}

BatchNormStage::Moments BatchNormStage::running(const Pass& pass,
                                                std::size_t channel) const {
  const float variance = pass.statistics[options_.variance.begin + channel];
  return {pass.statistics[options_.mean.begin + channel],
          1.0f / std::sqrt(variance + kNormEpsilon)};
}

/// At least one: a micro-batch may have no samples, and then all sums are zero.
double BatchNormStage::numbers_in_channel(const Pass& pass) const {
  return static_cast<double>(std::max<std::size_t>(1, pass.samples * src_.pixels()));
}

/// The batch's moments; remembers them as the statistics of this pass.
BatchNormStage::Moments BatchNormStage::measure(const Pass& pass, const float* src,
                                                std::size_t channel) const {
  // Sums of squares around some value of the channel instead of zero: they do not cancel
  // where the mean is far larger than the standard deviation.
  const float around = src[plane(src_, 0, channel)];
  Sums sums;
  for (std::size_t pack = 0; pack < pass.packs; ++pack) {
    PackSums pack_sums;
    pass.kernels.add_moments({.src = src + plane(src_, pack, channel),
                              .size = src_.pixels() * kPack,
                              .around = around,
                              .sums = pack_sums.first,
                              .squares = pack_sums.second});
    sums.add(pack_sums, pass.images(pack));
  }
  const double count = numbers_in_channel(pass);
  const double shifted = sums.first / count;
  const double variance = std::max(0.0, sums.second / count - shifted * shifted);
  const auto mean = static_cast<float>(around + shifted);
  pass.batch_statistics[options_.mean.begin + channel] = mean;
  // One number has no unbiased variance: it counts as none.
  pass.batch_statistics[options_.variance.begin + channel] =
      static_cast<float>(variance * count / std::max(1.0, count - 1));
  return {mean, static_cast<float>(1.0 / std::sqrt(variance + kNormEpsilon))};
}

void BatchNormStage::normalize(const Pass& pass, std::size_t pack, std::size_t channel,
                               Moments moments, const float* src, float* dst,
                               float* rows) const {
  const float scale = pass.values[options_.scale.begin + channel] * moments.inverse;
  ScaleShift work = {
      .src = src + plane(src_, pack, channel),
      .scale = scale,
      .shift = pass.values[options_.shift.begin + channel] - moments.mean * scale,
      .clamp_min = options_.relu ? 0 : kNoClamp,
      .dst = dst + plane(dst_, pack, channel),
      .size = src_.pixels() * kPack};
  if (options_.residual) {
    work.residual = pass.residual.values + plane(src_, pack, channel);
  }
  if (options_.pool == 0) {
    pass.kernels.scale_shift(work);
    return;
  }
  const float* plane_src = work.src;
  work.clamp_min = kNoClamp;  // the pool has it
  work.dst = rows;
  work.size = row_floats_ * options_.pool;
  for (int row = 0; row < dst_.height; ++row) {
    work.src = plane_src + static_cast<std::size_t>(row) * work.size;
    pass.kernels.scale_shift(work);
    pool_rows(pass, plane(dst_, pack, channel), rows, row, dst);
  }
}

void BatchNormStage::pool_rows(const Pass& pass, std::size_t dst_plane, float* rows,
                               int row, float* dst) const {
  const std::size_t to = dst_plane + static_cast<std::size_t>(row) * dst_.width * kPack;
  pass.kernels.pool_row({.src = rows,
                         .src_row = row_floats_,
                         .window = options_.pool,
                         .stride = options_.pool,
                         .columns = dst_.width,
                         .clamp_min = options_.relu ? 0 : kNoClamp,
                         .dst = dst + to,
                         .argmax = pass.arena.get<std::uint8_t>(argmax_) + to});
}

void BatchNormStage::backward(const Pass& pass, const Activation& src,
                              const Activation& dst) {
  pass.team.run(static_cast<std::size_t>(src_.channels), [&](std::size_t c, int thread) {
    float* rows = thread_rows(pass, backward_rows_, thread);
    for (std::size_t pack = 0; pack < pass.packs; ++pack) mask(pass, pack, c, dst);
    const Coefficients coefficients =
        sum_gradients(pass, c, src.values, dst.gradient, rows);
    if (src.gradient == nullptr) return;
    for (std::size_t pack = 0; pack < pass.packs; ++pack) {
      source_backward(pass, pack, c, coefficients, src, dst.gradient, rows);
    }
  });
}

/// Takes the gradient back through the ReLU, in place; that is the residual's, too.
void BatchNormStage::mask(const Pass& pass, std::size_t pack, std::size_t channel,
                          const Activation& dst) const {
  const std::size_t from = plane(dst_, pack, channel), size = dst_.pixels() * kPack;
  if (options_.relu) {
    pass.kernels.mask_by_sign(dst.gradient + from, dst.values + from, size);
  }
  if (options_.residual && pass.residual.gradient != nullptr) {
    std::copy_n(dst.gradient + from, size, pass.residual.gradient + from);
  }
}

template <class Work>
void BatchNormStage::for_gradients(const Pass& pass, std::size_t pack,
                                   std::size_t channel, const float* dst_gradient,
                                   float* rows, const Work& work) const {
  const std::size_t src = plane(src_, pack, channel), dst = plane(dst_, pack, channel);
  const std::size_t size = src_.pixels() * kPack;
  if (options_.pool == 0) {
    work(src, size, dst_gradient + dst);
    return;
  }
  const std::size_t window = row_floats_ * options_.pool;
  const bool covered = dst_.width * options_.pool == src_.width;
  for (int row = 0; row < dst_.height; ++row) {
    const std::size_t from = dst + static_cast<std::size_t>(row) * dst_.width * kPack;
    if (!covered) std::fill_n(rows, window, 0.0f);
    pass.kernels.unpool_row({.dst_gradient = dst_gradient + from,
                             .argmax = pass.arena.get<std::uint8_t>(argmax_) + from,
                             .window = options_.pool,
                             .stride = options_.pool,
                             .columns = dst_.width,
                             .accumulate = false,
                             .src_gradient = rows,
                             .src_row = row_floats_});
    work(src + static_cast<std::size_t>(row) * window, window, rows);
  }
  // Rows that no window reaches, because the height is no multiple of it.
  const std::size_t rest = size - static_cast<std::size_t>(dst_.height) * window;
  std::fill_n(rows, rest, 0.0f);
  if (rest > 0) work(src + size - rest, rest, rows);
}

BatchNormStage::Coefficients BatchNormStage::sum_gradients(const Pass& pass,
                                                           std::size_t channel,
                                                           const float* src,
                                                           const float* dst_gradient,
                                                           float* rows) const {
  const Moments moments = pass.arena.get<Moments>(moments_)[channel];
  Sums sums;
  for (std::size_t pack = 0; pack < pass.packs; ++pack) {
    PackSums pack_sums;
    for_gradients(pass, pack, channel, dst_gradient, rows,
                  [&](std::size_t from, std::size_t size, const float* gradient) {
                    pass.kernels.add_norm_sums({.gradient = gradient,
                                                .src = src + from,
                                                .size = size,
                                                .mean = moments.mean,
                                                .sums = pack_sums.first,
                                                .products = pack_sums.second});
                  });
    sums.add(pack_sums, pass.images(pack));
  }
  pass.gradients[options_.shift.begin + channel] = static_cast<float>(sums.first);
  pass.gradients[options_.scale.begin + channel] =
      static_cast<float>(sums.second * moments.inverse);
  const double count = numbers_in_channel(pass);
  const double inverse = moments.inverse;
  const double scale = pass.values[options_.scale.begin + channel] * inverse;
  return {static_cast<float>(scale),
          static_cast<float>(-scale * inverse * inverse * sums.second / count),
          static_cast<float>(-scale * sums.first / count)};
}

void BatchNormStage::source_backward(const Pass& pass, std::size_t pack,
                                     std::size_t channel,
                                     const Coefficients& coefficients,
                                     const Activation& src, const float* dst_gradient,
                                     float* rows) const {
  const float mean = pass.arena.get<Moments>(moments_)[channel].mean;
  for_gradients(pass, pack, channel, dst_gradient, rows,
                [&](std::size_t from, std::size_t size, const float* gradient) {
                  pass.kernels.norm_gradient({.gradient = gradient,
                                              .src = src.values + from,
                                              .size = size,
                                              .mean = mean,
                                              .from_gradient = coefficients.from_gradient,
                                              .from_source = coefficients.from_source,
                                              .constant = coefficients.constant,
                                              .images = pass.images(pack),
                                              .dst = src.gradient + from});
                });
}

}  // namespace convoy
