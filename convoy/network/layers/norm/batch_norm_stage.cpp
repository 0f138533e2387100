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
#include "convoy/network/layers/norm/channel_sums.h"

namespace convoy {
namespace {

// The parameters of the stage, and its statistics.
constexpr std::size_t kScale = 0, kShift = 1;
constexpr std::size_t kMean = 0, kVariance = 1;

class BatchNormStage final : public Stage {
 public:
  BatchNormStage(const StageContext& context, const BatchNormOptions& options, Shape src);

  void forward(const Pass& pass, Activations src, const Activation& dst) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;
  bool backward_reads_src(std::size_t source) const override { return source == 0; }
  bool backward_reads_dst() const override { return masks_by_dst(); }
  bool takes_stored() const override { return true; }

 private:
  /// A thread's memory: rows before the pool, and buffers for numbers that are widened.
  struct Memory {
    float* rows;
    float *src, *gradient, *dst;
  };

  /// Where y alone decides what the clamp let through, the mask follows from it; else
  /// from the result.
  bool masks_by_dst() const {
    return options_.clamps() && (options_.residual || options_.pool > 0);
  }
  bool masks_by_src() const { return options_.clamps() && !masks_by_dst(); }
  NormMask mask_of(const Pass& pass, std::size_t channel) const;
  ChannelLine line(const Pass& pass, std::size_t channel, ChannelMoments moments) const;

  ChannelMoments measure(const Pass& pass, const Stored& src, std::size_t channel) const;
  ChannelMoments running(const Pass& pass, std::size_t channel) const;
  void normalize(const Pass& pass, std::size_t pack, std::size_t channel,
                 ChannelMoments moments, Activations src, const Stored& dst,
                 const Memory& memory) const;
  void pool_rows(const Pass& pass, std::size_t dst_plane, const Memory& memory, int row,
                 const Stored& dst) const;
  void mask(const Pass& pass, std::size_t pack, std::size_t channel, Activations src,
            const Activation& dst) const;
  ChannelCoefficients sum_gradients(const Pass& pass, std::size_t channel,
                                    const Stored& src, const Stored& dst_gradient,
                                    const Memory& memory) const;
  ChannelCoefficients constant_moments(const Pass& pass, std::size_t channel) const;
  /// In evaluation, and in training if the norm is frozen.
  static bool uses_running(const Pass& pass) {
    return pass.statistics[kMean].running != nullptr;
  }
  void source_backward(const Pass& pass, std::size_t pack, std::size_t channel,
                       const ChannelCoefficients& coefficients, const Activation& src,
                       const Stored& dst_gradient, const Memory& memory) const;

  /// Calls work(source offset, size, gradient) for the planes of one channel, a pack or,
  /// where there is a pool to undo, a few rows at a time; numbers of 16 bits, a piece.
  template <class Work>
  void for_gradients(const Pass& pass, std::size_t pack, std::size_t channel,
                     const Stored& dst_gradient, const Memory& memory,
                     const Work& work) const;

  std::size_t plane(Shape shape, std::size_t pack, std::size_t channel) const {
    return (pack * static_cast<std::size_t>(shape.channels) + channel) * shape.pixels() *
           kPack;
  }
  bool is_large(const Pass& pass) const {
    return convoy::is_large(pass.packs(src_) * pack_floats(src_));
  }
  double numbers_in_channel(const Pass& pass) const;
  /// Rows of the source under one row of the pool's result.
  std::size_t window_floats() const { return row_floats_ * options_.pool; }
  std::size_t buffer_floats() const { return std::max(window_floats(), kPieceFloats); }
  Memory thread_memory(const Pass& pass, SlotId scratch, int thread) const;

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
  moments_ = context.reserve_kept(channels * sizeof(ChannelMoments));
  argmax_ = context.reserve_kept(
      options.pool > 0 ? context.most_packs(dst_) * pack_floats(dst_) : 0);
  forward_rows_ = context.reserve_scratch(row_floats_ * options.pool, context.forward);
  backward_rows_ = context.reserve_scratch(row_floats_ * options.pool, context.backward);
  context.ask_for_buffer(3 * buffer_floats());
}

BatchNormStage::Memory BatchNormStage::thread_memory(const Pass& pass, SlotId scratch,
                                                     int thread) const {
  float* buffer = pass.fp32_buffer(thread);
  return {pass.arena.get(scratch) + thread * window_floats(), buffer,
          buffer + buffer_floats(), buffer + 2 * buffer_floats()};
}

void BatchNormStage::forward(const Pass& pass, Activations src, const Activation& dst) {
  auto* moments = pass.arena.get<ChannelMoments>(moments_);
  pass.team.run(static_cast<std::size_t>(src_.channels), [&](std::size_t c, int thread) {
    moments[c] = uses_running(pass) ? running(pass, c) : measure(pass, src[0].values, c);
    const Memory memory = thread_memory(pass, forward_rows_, thread);
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
      normalize(pass, pack, c, moments[c], src, dst.values, memory);
    }
  });
}

ChannelMoments BatchNormStage::running(const Pass& pass, std::size_t channel) const {
  const float variance = pass.statistics[kVariance].running[channel];
  return {pass.statistics[kMean].running[channel],
          1.0f / std::sqrt(variance + options_.epsilon)};
}

/// At least one: a micro-batch may have no samples, and then all sums are zero.
double BatchNormStage::numbers_in_channel(const Pass& pass) const {
  return static_cast<double>(std::max<std::size_t>(1, pass.rows(src_) * src_.pixels()));
}

/// The batch's moments; remembers them as the statistics of this pass.
ChannelMoments BatchNormStage::measure(const Pass& pass, const Stored& src,
                                       std::size_t channel) const {
  // Sums of squares around some value of the channel instead of zero: they do not cancel
  // where the mean is far larger than the standard deviation.
  const float around = src.at(plane(src_, 0, channel));
  ChannelSums sums;
  for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
    PackSums pack_sums;
    for_pieces(pass.activations, plane(src_, pack, channel), src_.pixels() * kPack,
               [&](std::size_t from, std::size_t size) {
                 Piece piece;
                 batch_norm_kernels(pass.kernels)
                     .add_moments({.src = src.read(from, size, piece.numbers),
                                   .size = size,
                                   .around = around,
                                   .sums = pack_sums.first,
                                   .squares = pack_sums.second});
               });
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

ChannelLine BatchNormStage::line(const Pass& pass, std::size_t channel,
                                 ChannelMoments moments) const {
  const float scale = pass.parameters[kScale].values[channel] * moments.inverse;
  return {scale, pass.parameters[kShift].values[channel] - moments.mean * scale};
}

void BatchNormStage::normalize(const Pass& pass, std::size_t pack, std::size_t channel,
                               ChannelMoments moments, Activations src, const Stored& dst,
                               const Memory& memory) const {
  const auto [scale, shift] = line(pass, channel, moments);
  ScaleShift work = {.src = nullptr,
                     .scale = scale,
                     .shift = shift,
                     .clamp_min = options_.clamp_min,
                     .clamp_max = options_.clamp_max,
                     .dst = memory.rows,
                     .size = window_floats(),
                     .stream = options_.pool == 0 && dst.is_fp32() && is_large(pass)};
  const std::size_t first = plane(src_, pack, channel);
  const auto normalize_piece = [&](std::size_t from, std::size_t size) {
    work.src = src[0].values.read(from, size, memory.src);
    if (options_.residual) {
      work.residual = src[1].values.read(from, size, memory.gradient);
    }
    work.dst = dst.target(from, memory.dst);
    work.size = size;
    epilogue_kernels(pass.kernels).scale_shift(work);
    dst.store(from, size, work.dst);
  };
  if (options_.pool == 0) {
    for_pieces(pass.activations, first, src_.pixels() * kPack, normalize_piece);
    return;
  }
  work.clamp_min = kNoClamp;  // the pool has it
  for (int row = 0; row < dst_.height; ++row) {
    work.src = src[0].values.read(first + static_cast<std::size_t>(row) * work.size,
                                  work.size, memory.src);
    epilogue_kernels(pass.kernels).scale_shift(work);
    pool_rows(pass, plane(dst_, pack, channel), memory, row, dst);
  }
}

void BatchNormStage::pool_rows(const Pass& pass, std::size_t dst_plane,
                               const Memory& memory, int row, const Stored& dst) const {
  const std::size_t size = static_cast<std::size_t>(dst_.width) * kPack;
  const std::size_t to = dst_plane + static_cast<std::size_t>(row) * size;
  float* pooled = dst.target(to, memory.dst);
  pool_kernels(pass.kernels)
      .row({.src = memory.rows,
            .src_row = row_floats_,
            .window = options_.pool,
            .stride = options_.pool,
            .columns = dst_.width,
            .clamp_min = options_.clamp_min,
            .dst = pooled,
            .argmax = pass.arena.get<std::uint8_t>(argmax_) + to});
  dst.store(to, size, pooled);
}

void BatchNormStage::backward(const Pass& pass, Activations src, const Activation& dst) {
  pass.team.run(static_cast<std::size_t>(src_.channels), [&](std::size_t c, int thread) {
    const Memory memory = thread_memory(pass, backward_rows_, thread);
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack)
      mask(pass, pack, c, src, dst);
    const ChannelCoefficients coefficients =
        uses_running(pass) ? constant_moments(pass, c)
                           : sum_gradients(pass, c, src[0].values, dst.gradient, memory);
    if (src[0].gradient == nullptr) return;
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
      source_backward(pass, pack, c, coefficients, src[0], dst.gradient, memory);
    }
  });
}

NormMask BatchNormStage::mask_of(const Pass& pass, std::size_t channel) const {
  const auto [scale, shift] =
      line(pass, channel, pass.arena.get<ChannelMoments>(moments_)[channel]);
  return {scale, shift, options_.clamp_min, options_.clamp_max};
}

/// Takes the gradient back through the clamp, in place; that is the residual's, too.
void BatchNormStage::mask(const Pass& pass, std::size_t pack, std::size_t channel,
                          Activations src, const Activation& dst) const {
  const bool shares = options_.residual && src[1].gradient != nullptr;
  if (!masks_by_dst() && !shares) return;
  const auto mask_piece = [&](std::size_t from, std::size_t size) {
    Piece a, b;
    float* gradient = dst.gradient.edit(from, size, a.numbers);
    if (masks_by_dst()) {
      epilogue_kernels(pass.kernels)
          .mask_by_range({gradient, dst.values.read(from, size, b.numbers), size,
                          options_.clamp_min, options_.clamp_max});
      dst.gradient.store(from, size, gradient);
    }
    if (shares) src[1].gradient.copy_from(gradient, size, from);
  };
  for_pieces(pass.activations, plane(dst_, pack, channel), dst_.pixels() * kPack,
             mask_piece);
}

template <class Work>
void BatchNormStage::for_gradients(const Pass& pass, std::size_t pack,
                                   std::size_t channel, const Stored& dst_gradient,
                                   const Memory& memory, const Work& work) const {
  const std::size_t src = plane(src_, pack, channel), dst = plane(dst_, pack, channel);
  const std::size_t size = src_.pixels() * kPack;
  if (options_.pool == 0) {
    for_pieces(pass.activations, src, size, [&](std::size_t from, std::size_t piece) {
      work(from, piece, dst_gradient.read(from, piece, memory.gradient));
    });
    return;
  }
  const std::size_t window = window_floats();
  float* rows = memory.rows;
  const bool covered = dst_.width * options_.pool == src_.width;
  for (int row = 0; row < dst_.height; ++row) {
    const std::size_t from = dst + static_cast<std::size_t>(row) * dst_.width * kPack;
    if (!covered) std::fill_n(rows, window, 0.0f);
    pool_kernels(pass.kernels)
        .unpool_row(
            {.dst_gradient = dst_gradient.read(
                 from, static_cast<std::size_t>(dst_.width) * kPack, memory.gradient),
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

ChannelCoefficients BatchNormStage::sum_gradients(const Pass& pass, std::size_t channel,
                                                  const Stored& src,
                                                  const Stored& dst_gradient,
                                                  const Memory& memory) const {
  const ChannelMoments moments = pass.arena.get<ChannelMoments>(moments_)[channel];
  const BatchNormKernels& kernels = batch_norm_kernels(pass.kernels);
  const NormMask mask = mask_of(pass, channel);
  ChannelSums sums;
  for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
    PackSums pack_sums;
    for_gradients(pass, pack, channel, dst_gradient, memory,
                  [&](std::size_t from, std::size_t size, const float* gradient) {
                    kernels.add_sums({.gradient = gradient,
                                      .src = src.read(from, size, memory.src),
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
ChannelCoefficients BatchNormStage::constant_moments(const Pass& pass,
                                                     std::size_t channel) const {
  const ChannelMoments moments = pass.arena.get<ChannelMoments>(moments_)[channel];
  return {pass.parameters[kScale].values[channel] * moments.inverse, 0, 0};
}

void BatchNormStage::source_backward(const Pass& pass, std::size_t pack,
                                     std::size_t channel,
                                     const ChannelCoefficients& coefficients,
                                     const Activation& src, const Stored& dst_gradient,
                                     const Memory& memory) const {
  const BatchNormKernels& kernels = batch_norm_kernels(pass.kernels);
  const float mean = pass.arena.get<ChannelMoments>(moments_)[channel].mean;
  const NormMask mask = mask_of(pass, channel);
  const bool stream = src.gradient.is_fp32() && is_large(pass);
  for_gradients(pass, pack, channel, dst_gradient, memory,
                [&](std::size_t from, std::size_t size, const float* gradient) {
                  float* to = src.gradient.target(from, memory.dst);
                  kernels.gradient({.gradient = gradient,
                                    .src = src.values.read(from, size, memory.src),
                                    .size = size,
                                    .mean = mean,
                                    .from_gradient = coefficients.from_gradient,
                                    .from_source = coefficients.from_source,
                                    .constant = coefficients.constant,
                                    .images = pass.real_rows(src_, pack),
                                    .dst = to,
                                    .mask = masks_by_src() ? &mask : nullptr,
                                    .stream = stream});
                  src.gradient.store(from, size, to);
                });
}

}  // namespace

std::unique_ptr<Stage> make_batch_norm_stage(const StageContext& context,
                                             const BatchNormOptions& options, Shape src) {
  return std::make_unique<BatchNormStage>(context, options, src);
}

}  // namespace convoy
