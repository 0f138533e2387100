// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/convolution/depthwise_stage.h"

#include <algorithm>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/point/pixels.h"
#include "convoy/network/weight_shares.h"

namespace convoy {
namespace {

constexpr std::size_t kPlaneTaps = 0, kPlaneBias = 1;
// Rows of outputs from which both gradients are computed while they are in the cache.
constexpr int kRowsAtATime = 4;

}  // namespace

DepthwiseStage::DepthwiseStage(const StageContext& context, const Convolution& layer,
                               Shape src)
    : src_(src),
      dst_(output_shape(layer, src)),
      rows_(WindowAxis::rows_of(layer.window())),
      columns_(WindowAxis::columns_of(layer.window())),
      taps_(layer.kernel.pixels()),
      weights_(static_cast<std::size_t>(layer.channels) * taps_),
      biases_(layer.bias ? static_cast<std::size_t>(layer.channels) : 0) {
  // Whole planes, and in forward a row of results instead of the latter.
  context.ask_for_buffer(2 * src_plane() + multiplier() * dst_plane());
  if (!context.training) return;
  std::size_t taps = 0;
  for (int i = 0; i < rows_.stride * columns_.stride; ++i) {
    const int a = i / columns_.stride, b = i % columns_.stride;
    phases_.push_back({rows_.phase(a), columns_.phase(b), columns_.first_pixel(b), taps});
    taps += static_cast<std::size_t>(phases_[i].rows.count) * phases_[i].columns.count;
  }
  shares_ =
      context.plan.reserve(context.most_packs(src) * (weights_ + biases_) * sizeof(float),
                           {context.backward, context.backward});
  scratch_ = context.reserve_scratch(thread_floats(), context.backward);
}

void DepthwiseStage::forward(const Pass& pass, Activations src, const Activation& dst) {
  const DepthwiseKernels& kernels = depthwise_kernels(pass.kernels);
  const auto channels = static_cast<std::size_t>(dst_.channels);
  const auto multiplier = static_cast<std::size_t>(this->multiplier());
  const std::size_t row_floats = static_cast<std::size_t>(dst_.width) * kPack;
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int thread) {
    const std::size_t channel = plane % channels;
    float* buffer = pass.fp32_buffer(thread);
    DepthwiseRow row = {
        .src = src[0].values.read(plane / multiplier * src_plane(), src_plane(), buffer),
        .src_height = src_.height,
        .src_width = src_.width,
        .taps = pass.parameters[kPlaneTaps].values + channel * taps_,
        .taps_high = rows_.taps,
        .taps_wide = columns_.taps,
        .dilation_high = rows_.dilation,
        .dilation_wide = columns_.dilation,
        .start = biases_ > 0 ? pass.parameters[kPlaneBias].values[channel] : 0,
        .top = -rows_.padding,
        .left = -columns_.padding,
        .stride = columns_.stride,
        .dst = nullptr,
        .columns = dst_.width,
        .dst_column = kPack,
        .stream = dst.values.is_fp32() && is_large(pass.packs(dst_) * pack_floats(dst_))};
    for (int y = 0; y < dst_.height; ++y) {
      const std::size_t to = plane * dst_plane() + y * row_floats;
      row.dst = dst.values.target(to, buffer + src_plane());
      kernels.row(row);
      dst.values.store(to, row_floats, row.dst);
      row.top += rows_.stride;
    }
    if (row.stream) pixel_kernels(pass.kernels).finish_stream();
  });
}

void DepthwiseStage::backward(const Pass& pass, Activations src, const Activation& dst) {
  const auto channels = static_cast<std::size_t>(src_.channels);
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int thread) {
    float* scratch =
        pass.arena.get(scratch_) + static_cast<std::size_t>(thread) * thread_floats();
    float* buffer = pass.fp32_buffer(thread);
    const std::size_t from = plane * src_plane(), dst_size = multiplier() * dst_plane();
    const Stored& src_gradient = src[0].gradient;
    const Plane of = {
        .pack = plane / channels,
        .channel = static_cast<int>(plane % channels),
        .src = src[0].values.read(from, src_plane(), buffer),
        .gradient =
            dst.gradient.read(plane * dst_size, dst_size, buffer + 2 * src_plane()),
        .src_gradient = src_gradient == nullptr
                            ? nullptr
                            : src_gradient.target(from, buffer + src_plane()),
        .sums = scratch,
        .reversed = scratch + taps_ * kPack};
    plane_backward(pass, of);
    if (src_gradient != nullptr) src_gradient.store(from, src_plane(), of.src_gradient);
  });
  const WeightShares shares = {pass.arena.get(shares_), weights_ + biases_,
                               pass.packs(src_)};
  add_shares(pass, shares, {pass.parameters[kPlaneTaps].gradient, weights_});
  if (biases_ == 0) return;
  add_shares(pass, {shares.first + weights_, shares.step, shares.packs},
             {pass.parameters[kPlaneBias].gradient, biases_});
}

/// One source channel: output after output and, in each, a few rows at a time, which are
/// then in the cache for both gradients.
void DepthwiseStage::plane_backward(const Pass& pass, const Plane& of) const {
  const bool stream = streams_gradient(pass);
  for (int i = 0; i < multiplier(); ++i) {
    const int channel = of.channel * multiplier() + i;
    const float* gradient = of.gradient + static_cast<std::size_t>(i) * dst_plane();
    bias_backward(pass, of.pack, channel, gradient);
    copy_reversed(pass.parameters[kPlaneTaps].values + channel * taps_, of.reversed);
    Range rows;
    for (int y = 0; y < dst_.height; y += kRowsAtATime) {
      const int end = std::min(dst_.height, y + kRowsAtATime);
      taps_backward(pass, of, channel, gradient,
                    {static_cast<std::size_t>(y), static_cast<std::size_t>(end)});
      rows = {rows.end, complete_rows(end)};
      source_backward(pass, of, gradient, rows, /*accumulate=*/i > 0, stream);
    }
  }
  if (stream) pixel_kernels(pass.kernels).finish_stream();
}

/// Only where nothing is added to it later.
bool DepthwiseStage::streams_gradient(const Pass& pass) const {
  return multiplier() == 1 && pass.activations == Dtype::fp32 &&
         is_large(pass.packs(src_) * pack_floats(src_));
}

/// Rows of the source that no output from row `end` on passes a gradient to.
std::size_t DepthwiseStage::complete_rows(int end) const {
  if (end == dst_.height) return static_cast<std::size_t>(src_.height);
  return static_cast<std::size_t>(
      std::clamp(end * rows_.stride - rows_.padding, 0, src_.height));
}

void DepthwiseStage::bias_backward(const Pass& pass, std::size_t pack, int channel,
                                   const float* gradient) const {
  if (biases_ == 0) return;
  float* share = pass.arena.get(shares_) + pack * (weights_ + biases_);
  share[weights_ + channel] = epilogue_kernels(pass.kernels).sum(gradient, dst_plane());
}

/// Adds some rows of outputs to the share of a channel's taps.
void DepthwiseStage::taps_backward(const Pass& pass, const Plane& of, int channel,
                                   const float* gradient, Range rows) const {
  if (pass.parameters[kPlaneTaps].gradient == nullptr) return;
  float* share = pass.arena.get(shares_) + of.pack * (weights_ + biases_);
  depthwise_kernels(pass.kernels)
      .taps({.src = of.src,
             .src_height = src_.height,
             .src_width = src_.width,
             .dst_gradient = gradient,
             .dst_height = dst_.height,
             .dst_width = dst_.width,
             .taps_high = rows_.taps,
             .taps_wide = columns_.taps,
             .dilation_high = rows_.dilation,
             .dilation_wide = columns_.dilation,
             .stride_high = rows_.stride,
             .stride_wide = columns_.stride,
             .top = rows_.padding,
             .left = columns_.padding,
             .sums = of.sums,
             .gradient = share + channel * taps_,
             .rows = rows});
}

/// Some rows of a source channel's gradient: what one output passes back.
void DepthwiseStage::source_backward(const Pass& pass, const Plane& of,
                                     const float* gradient, Range rows, bool accumulate,
                                     bool stream) const {
  if (of.src_gradient == nullptr) return;
  for (int y = static_cast<int>(rows.begin); y < static_cast<int>(rows.end); ++y) {
    const int first = rows_.phase_number(y) * columns_.stride;
    for (int b = 0; b < columns_.stride; ++b) {
      const Phase& phase = phases_.at(static_cast<unsigned>(first + b));
      if (phase.first_x >= src_.width) continue;
      DepthwiseRow row = phase_row(phase, of.reversed);
      row.src = gradient;
      row.accumulate = accumulate;
      row.stream = stream;
      row.top = rows_.first_output(phase.rows, y);
      row.dst = of.src_gradient +
                (static_cast<std::size_t>(y) * src_.width + phase.first_x) * kPack;
      depthwise_kernels(pass.kernels).row(row);
    }
  }
}

/// Phase by phase.
void DepthwiseStage::copy_reversed(const float* taps, float* reversed) const {
  for (const Phase& phase : phases_) {
    for (int i = phase.rows.count - 1; i >= 0; --i) {
      const int r = phase.rows.first + i * phase.rows.step;
      for (int j = phase.columns.count - 1; j >= 0; --j) {
        const int s = phase.columns.first + j * phase.columns.step;
        *reversed++ = taps[r * columns_.taps + s];
      }
    }
  }
}

DepthwiseRow DepthwiseStage::phase_row(const Phase& phase, const float* reversed) const {
  const int pixels = src_.width - phase.first_x;
  return {.src = nullptr,
          .src_height = dst_.height,
          .src_width = dst_.width,
          .taps = reversed + phase.first_taps,
          .taps_high = phase.rows.count,
          .taps_wide = phase.columns.count,
          .dilation_high = phase.rows.dilation,
          .dilation_wide = phase.columns.dilation,
          .top = 0,
          .left = columns_.first_output(phase.columns, phase.first_x),
          .stride = 1,
          .dst = nullptr,
          .columns = (pixels + columns_.stride - 1) / columns_.stride,
          .dst_column = static_cast<std::size_t>(columns_.stride) * kPack};
}

}  // namespace convoy
