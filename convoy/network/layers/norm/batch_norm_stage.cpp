// SPDX-License-Identifier: Apache-2.0
//
//   forward    y -> mean and variance -> scale * y + shift (+ residual) -> clamp -> pool
//   backward   undo pool and clamp -> sums over the batch -> gradient of y
//
// A task takes one channel through the whole batch, so its numbers are read again while
// they are in cache, and no sum is shared by tasks. A pool is done and undone a few rows
// at a time in the thread's scratch. Images that only fill up the last pack are left out
// of all sums, and their gradient is zero.

#include "convoy/network/layers/norm/batch_norm_stage.h"

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/batch_norm.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/point/pixels.h"
#include "convoy/network/kernels/pool.h"

namespace convoy {
namespace {

// The parameters of the stage, and its statistics.
constexpr std::size_t kScale = 0, kShift = 1;
constexpr std::size_t kMean = 0, kVariance = 1;

/// Two sums for each of the sixteen images of a pack.
struct PackSums {
  double first[kPack] = {}, second[kPack] = {};
};

struct Sums {
  double first = 0, second = 0;

  void add(const PackSums& pack_sums, int images) {
    for (int i = 0; i < images; ++i) {
      first += pack_sums.first[i];
      second += pack_sums.second[i];
    }
  }
};

class BatchNormStage final : public Stage {
 public:
  BatchNormStage(const StageContext& context, const BatchNormOptions& options, Shape src);

  void forward(const Pass& pass, Activations src, const Activation& dst) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;
  bool backward_reads_src(std::size_t source) const override { return source == 0; }
  bool backward_reads_dst() const override { return masks_by_dst(); }

 private:
  /// A channel is normalised as (y - mean) * inverse, inverse being 1 / standard
  /// deviation.
  struct Moments {
    float mean, inverse;
  };
  /// d(y) = from_gradient * g + from_source * (y - mean) + constant.
  struct Coefficients {
    float from_gradient, from_source, constant;
  };

  /// scale * y + shift.
  struct Line {
    float scale, shift;
  };

  /// Where y alone decides what the clamp let through, the mask follows from it; else
  /// from the result.
  bool masks_by_dst() const {
    return options_.clamps() && (options_.residual || options_.pool > 0);
  }
  bool masks_by_src() const { return options_.clamps() && !masks_by_dst(); }
  NormMask mask_of(const Pass& pass, std::size_t channel) const;
  Line line(const Pass& pass, std::size_t channel, Moments moments) const;

  Moments measure(const Pass& pass, const float* src, std::size_t channel) const;
  Moments running(const Pass& pass, std::size_t channel) const;
  void normalize(const Pass& pass, std::size_t pack, std::size_t channel, Moments moments,
                 Activations src, float* dst, float* rows) const;
  void pool_rows(const Pass& pass, std::size_t dst_plane, float* rows, int row,
                 float* dst) const;
  void mask(const Pass& pass, std::size_t pack, std::size_t channel, Activations src,
            const Activation& dst) const;
  Coefficients sum_gradients(const Pass& pass, std::size_t channel, const float* src,
                             const float* dst_gradient, float* rows) const;
  Coefficients constant_moments(const Pass& pass, std::size_t channel) const;
  /// In evaluation, and in training if the norm is frozen.
  static bool uses_running(const Pass& pass) {
    return pass.statistics[kMean].running != nullptr;
  }
  void source_backward(const Pass& pass, std::size_t pack, std::size_t channel,
                       const Coefficients& coefficients, const Activation& src,
                       const float* dst_gradient, float* rows) const;

  /// Calls work(source offset, size, gradient) for the planes of one channel, a pack or,
  /// where there is a pool to undo, a few rows at a time.
  template <class Work>
  void for_gradients(const Pass& pass, std::size_t pack, std::size_t channel,
                     const float* dst_gradient, float* rows, const Work& work) const;

  std::size_t plane(Shape shape, std::size_t pack, std::size_t channel) const {
    return (pack * static_cast<std::size_t>(shape.channels) + channel) * shape.pixels() *
           kPack;
  }
  bool is_large(const Pass& pass) const {
    return convoy::is_large(pass.packs(src_) * pack_floats(src_));
  }
  double numbers_in_channel(const Pass& pass) const;
  float* thread_rows(const Pass& pass, SlotId scratch, int thread) const;

  BatchNormOptions options_;
  Shape src_, dst_;
  std::size_t row_floats_;  // of the source
  SlotId moments_, argmax_, forward_rows_, backward_rows_;
};

BatchNormStage::BatchNormStage(const StageContext& context,
                               const BatchNormOptions& options, Shape src)
    : options_(options),
      src_(src),
      dst_(src),
      row_floats_(static_cast<std::size_t>(src_.width) * kPack) {
  if (options.pool > 0) dst_.height /= options.pool, dst_.width /= options.pool;
  const auto channels = static_cast<std::size_t>(src_.channels);
  moments_ = context.reserve_kept(channels * sizeof(Moments));
  argmax_ = context.reserve_kept(
      options.pool > 0 ? context.most_packs(dst_) * pack_floats(dst_) : 0);
  forward_rows_ = context.reserve_scratch(row_floats_ * options.pool, context.forward);
  backward_rows_ = context.reserve_scratch(row_floats_ * options.pool, context.backward);
}

float* BatchNormStage::thread_rows(const Pass& pass, SlotId scratch, int thread) const {
  return pass.arena.get(scratch) + thread * row_floats_ * options_.pool;
}

void BatchNormStage::forward(const Pass& pass, Activations src, const Activation& dst) {
  auto* moments = pass.arena.get<Moments>(moments_);
  pass.team.run(static_cast<std::size_t>(src_.channels), [&](std::size_t c, int thread) {
    moments[c] = uses_running(pass) ? running(pass, c) : measure(pass, src[0].values, c);
    float* rows = thread_rows(pass, forward_rows_, thread);
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
      normalize(pass, pack, c, moments[c], src, dst.values, rows);
    }
  });
}

BatchNormStage::Moments BatchNormStage::running(const Pass& pass,
                                                std::size_t channel) const {
  const float variance = pass.statistics[kVariance].running[channel];
  return {pass.statistics[kMean].running[channel],
          1.0f / std::sqrt(variance + options_.epsilon)};
}

/// At least one: a micro-batch may have no samples, and then all sums are zero.
double BatchNormStage::numbers_in_channel(const Pass& pass) const {
  return static_cast<double>(std::max<std::size_t>(1, pass.rows(src_) * src_.pixels()));
}

/// The batch's moments; remembers them as the statistics of this pass.
BatchNormStage::Moments BatchNormStage::measure(const Pass& pass, const float* src,
                                                std::size_t channel) const {
  // Sums of squares around some value of the channel instead of zero: they do not cancel
  // where the mean is far larger than the standard deviation.
  const float around = src[plane(src_, 0, channel)];
  Sums sums;
  for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
    PackSums pack_sums;
    batch_norm_kernels(pass.kernels)
        .add_moments({.src = src + plane(src_, pack, channel),
                      .size = src_.pixels() * kPack,
                      .around = around,
                      .sums = pack_sums.first,
                      .squares = pack_sums.second});
    sums.add(pack_sums, pass.real_rows(src_, pack));
  }
  const double count = numbers_in_channel(pass);
  const double shifted = sums.first / count;
  const double variance = std::max(0.0, sums.second / count - shifted * shifted);
  const auto mean = static_cast<float>(around + shifted);
  pass.statistics[kMean].batch[channel] = mean;
  // One number has no unbiased variance: it counts as none.
  pass.statistics[kVariance].batch[channel] =
      static_cast<float>(variance * count / std::max(1.0, count - 1));
  return {mean, static_cast<float>(1.0 / std::sqrt(variance + options_.epsilon))};
}

BatchNormStage::Line BatchNormStage::line(const Pass& pass, std::size_t channel,
                                          Moments moments) const {
  const float scale = pass.parameters[kScale].values[channel] * moments.inverse;
  return {scale, pass.parameters[kShift].values[channel] - moments.mean * scale};
}

void BatchNormStage::normalize(const Pass& pass, std::size_t pack, std::size_t channel,
                               Moments moments, Activations src, float* dst,
                               float* rows) const {
  const auto [scale, shift] = line(pass, channel, moments);
  ScaleShift work = {.src = src[0].values + plane(src_, pack, channel),
                     .scale = scale,
                     .shift = shift,
                     .clamp_min = options_.clamp_min,
                     .clamp_max = options_.clamp_max,
                     .dst = dst + plane(dst_, pack, channel),
                     .size = src_.pixels() * kPack,
                     .stream = options_.pool == 0 && is_large(pass)};
  if (options_.residual) {
    work.residual = src[1].values + plane(src_, pack, channel);
  }
  if (options_.pool == 0) {
    epilogue_kernels(pass.kernels).scale_shift(work);
    return;
  }
  const float* plane_src = work.src;
  work.clamp_min = kNoClamp;  // the pool has it
  work.dst = rows;
  work.size = row_floats_ * options_.pool;
  for (int row = 0; row < dst_.height; ++row) {
    work.src = plane_src + static_cast<std::size_t>(row) * work.size;
    epilogue_kernels(pass.kernels).scale_shift(work);
    pool_rows(pass, plane(dst_, pack, channel), rows, row, dst);
  }
}

void BatchNormStage::pool_rows(const Pass& pass, std::size_t dst_plane, float* rows,
                               int row, float* dst) const {
  const std::size_t to = dst_plane + static_cast<std::size_t>(row) * dst_.width * kPack;
  pool_kernels(pass.kernels)
      .row({.src = rows,
            .src_row = row_floats_,
            .window = options_.pool,
            .stride = options_.pool,
            .columns = dst_.width,
            .clamp_min = options_.clamp_min,
            .dst = dst + to,
            .argmax = pass.arena.get<std::uint8_t>(argmax_) + to});
}

void BatchNormStage::backward(const Pass& pass, Activations src, const Activation& dst) {
  pass.team.run(static_cast<std::size_t>(src_.channels), [&](std::size_t c, int thread) {
    float* rows = thread_rows(pass, backward_rows_, thread);
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack)
      mask(pass, pack, c, src, dst);
    const Coefficients coefficients =
        uses_running(pass) ? constant_moments(pass, c)
                           : sum_gradients(pass, c, src[0].values, dst.gradient, rows);
    if (src[0].gradient == nullptr) return;
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
      source_backward(pass, pack, c, coefficients, src[0], dst.gradient, rows);
    }
  });
}

NormMask BatchNormStage::mask_of(const Pass& pass, std::size_t channel) const {
  const auto [scale, shift] =
      line(pass, channel, pass.arena.get<Moments>(moments_)[channel]);
  return {scale, shift, options_.clamp_min, options_.clamp_max};
}

/// Takes the gradient back through the clamp, in place; that is the residual's, too.
void BatchNormStage::mask(const Pass& pass, std::size_t pack, std::size_t channel,
                          Activations src, const Activation& dst) const {
  const std::size_t from = plane(dst_, pack, channel), size = dst_.pixels() * kPack;
  if (masks_by_dst()) {
    epilogue_kernels(pass.kernels)
        .mask_by_range({dst.gradient + from, dst.values + from, size, options_.clamp_min,
                        options_.clamp_max});
  }
  if (options_.residual && src[1].gradient != nullptr) {
    std::copy_n(dst.gradient + from, size, src[1].gradient + from);
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
    pool_kernels(pass.kernels)
        .unpool_row({.dst_gradient = dst_gradient + from,
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
  const BatchNormKernels& kernels = batch_norm_kernels(pass.kernels);
  const NormMask mask = mask_of(pass, channel);
  Sums sums;
  for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
    PackSums pack_sums;
    for_gradients(pass, pack, channel, dst_gradient, rows,
                  [&](std::size_t from, std::size_t size, const float* gradient) {
                    kernels.add_sums({.gradient = gradient,
                                      .src = src + from,
                                      .size = size,
                                      .mean = moments.mean,
                                      .sums = pack_sums.first,
                                      .products = pack_sums.second,
                                      .mask = masks_by_src() ? &mask : nullptr});
                  });
    sums.add(pack_sums, pass.real_rows(src_, pack));
  }
  float* shift = pass.parameters[kShift].gradient;
  float* scale = pass.parameters[kScale].gradient;
  if (shift != nullptr) shift[channel] = static_cast<float>(sums.first);
  if (scale != nullptr)
    scale[channel] = static_cast<float>(sums.second * moments.inverse);
  const double count = numbers_in_channel(pass);
  const double inverse = moments.inverse;
  const double factor = pass.parameters[kScale].values[channel] * inverse;
  return {static_cast<float>(factor),
          static_cast<float>(-factor * inverse * inverse * sums.second / count),
          static_cast<float>(-factor * sums.first / count)};
}

/// A frozen norm is the same scale and shift for every batch.
BatchNormStage::Coefficients BatchNormStage::constant_moments(const Pass& pass,
                                                              std::size_t channel) const {
  const Moments moments = pass.arena.get<Moments>(moments_)[channel];
  return {pass.parameters[kScale].values[channel] * moments.inverse, 0, 0};
}

void BatchNormStage::source_backward(const Pass& pass, std::size_t pack,
                                     std::size_t channel,
                                     const Coefficients& coefficients,
                                     const Activation& src, const float* dst_gradient,
                                     float* rows) const {
  const BatchNormKernels& kernels = batch_norm_kernels(pass.kernels);
  const float mean = pass.arena.get<Moments>(moments_)[channel].mean;
  const NormMask mask = mask_of(pass, channel);
  for_gradients(pass, pack, channel, dst_gradient, rows,
                [&](std::size_t from, std::size_t size, const float* gradient) {
                  kernels.gradient({.gradient = gradient,
                                    .src = src.values + from,
                                    .size = size,
                                    .mean = mean,
                                    .from_gradient = coefficients.from_gradient,
                                    .from_source = coefficients.from_source,
                                    .constant = coefficients.constant,
                                    .images = pass.real_rows(src_, pack),
                                    .dst = src.gradient + from,
                                    .mask = masks_by_src() ? &mask : nullptr,
                                    .stream = is_large(pass)});
                });
}

}  // namespace

std::unique_ptr<Stage> make_batch_norm_stage(const StageContext& context,
                                             const BatchNormOptions& options, Shape src) {
  return std::make_unique<BatchNormStage>(context, options, src);
}

}  // namespace convoy
