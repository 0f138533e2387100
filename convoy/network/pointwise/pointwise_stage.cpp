// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/pointwise/pointwise_stage.h"

#include <algorithm>

#include "convoy/network/kernels/point/pixels.h"
#include "convoy/network/weight_shares.h"
#include "convoy/network/winograd_sizes.h"

namespace convoy {
namespace {

// What a task of a direction gathers: a few pixels of many channels, or many of a few.
constexpr std::size_t kGatheredFloats = std::size_t{8} << 10;
constexpr std::size_t kFewestPixels = 8;
// Rows of the matrix that a pixel should serve at least, once it is gathered.
constexpr int kGroupsATask = 4;
// The most memory that shares of the taps' gradient take.
constexpr std::size_t kSharesFloats = std::size_t{2} << 20;
constexpr std::size_t kChunksAThread = 3;

std::size_t weights(Shape src, Shape dst) {
  return static_cast<std::size_t>(src.channels) * dst.channels;
}

}  // namespace

bool PointwiseStage::fits(const StageContext& context, const Convolution& layer,
                          Shape src) {
  return !layer.bias && src.pixels() * context.most_packs(src) > kFewColumns;
}

PointwiseStage::Direction PointwiseStage::direction(Shape from, Shape to) {
  const std::size_t fit = kGatheredFloats / Gathered::pixel_floats(from.channels);
  const std::size_t most = std::clamp(fit, kFewestPixels, kMostPixelsAtATime);
  const std::size_t blocks = round_up(from.pixels(), most) / most;
  return {from, to, GroupedMatrix(to.channels, from.channels),
          (from.pixels() + blocks - 1) / blocks};
}

PointwiseStage::PointwiseStage(const StageContext& context, const Convolution& layer,
                               Shape src)
    : plan_(WinogradForm::p1, src, output_shape(layer, src), 0),
      shares_chunks_(plan_.chunks(context.most_packs(src)) *
                         weights(src, output_shape(layer, src)) <=
                     kSharesFloats),
      together_(shares_chunks_ &&
                plan_.chunks(context.most_packs(src)) >=
                    kChunksAThread * static_cast<std::size_t>(context.threads)),
      taps_(plan_, src, output_shape(layer, src), together_),
      forward_(direction(src, output_shape(layer, src))),
      backward_(direction(output_shape(layer, src), src)) {
  const auto reserve = [&](std::size_t floats, int moment) {
    return context.plan.reserve(floats * sizeof(float), {moment, moment});
  };
  forward_.factors = reserve(forward_.matrix.floats(), context.forward);
  forward_.scratch = context.reserve_scratch(forward_.scratch_floats(), context.forward);
  if (!context.training) return;
  backward_.factors = reserve(backward_.matrix.floats(), context.backward);
  scratch_floats_ = round_up(
      std::max(backward_.scratch_floats(), taps_.scratch_floats() + kTileFloats), kPack);
  backward_.scratch = context.reserve_scratch(scratch_floats_, context.backward);
  if (!shares_chunks_) return;
  shares_ =
      reserve(plan_.chunks(context.most_packs(src)) * taps_.taps(), context.backward);
}

/// Fewer channels in a task where there would not be tasks enough for all threads.
PointwiseStage::Tasks PointwiseStage::tasks(const Pass& pass,
                                            const Direction& direction) {
  const std::size_t pixels = direction.from.pixels();
  const std::size_t blocks = (pixels + direction.pixels - 1) / direction.pixels;
  const std::size_t packs = pass.packs(direction.from);
  const int groups = direction.matrix.groups().count;
  const bool enough = blocks * packs >= 8 * static_cast<std::size_t>(pass.team.threads());
  return {blocks, packs, Tiles(groups, enough ? groups : kGroupsATask)};
}

void PointwiseStage::run_task(const Pass& pass, const Direction& direction,
                              const Tasks& tasks, std::size_t task, const Stored& from,
                              float* scratch, const Stored& to) {
  const std::size_t block = task % tasks.blocks;
  const std::size_t pack = task / tasks.blocks % tasks.packs;
  const int groups = static_cast<int>(task / tasks.blocks / tasks.packs);
  const std::size_t first = block * direction.pixels;
  const PixelRun run = {pack, first,
                        std::min(direction.pixels, direction.from.pixels() - first)};
  const Gathered gathered = {scratch, Gathered::pixel_floats(direction.matrix.depth())};
  gather(pass, from, direction.from, {0, direction.matrix.depth()}, run, gathered);
  float* tile = scratch + direction.pixels * gathered.pixel;
  multiply_run(pass, direction, tasks.groups.range(groups), run, gathered, tile, to);
}

void PointwiseStage::multiply_run(const Pass& pass, const Direction& direction,
                                  Range groups, const PixelRun& run,
                                  const Gathered& gathered, float* tile,
                                  const Stored& to) {
  const bool large = is_large(pass.packs(direction.to) * pack_floats(direction.to));
  multiply(pass.kernels,
           {.matrix = direction.matrix,
            .factors = pass.arena.get(direction.factors),
            .groups = groups,
            .src = gathered,
            .pixels = run.count,
            .dst = to,
            .dst_first = run.pack * pack_floats(direction.to) + run.first * kPack,
            .dst_row = direction.to.pixels() * kPack,
            .tile = large || !to.is_fp32() ? tile : nullptr});
}

void PointwiseStage::forward(const Pass& pass, Activations src, const Activation& dst) {
  forward_.matrix.copy_rows(pass, pass.parameters[0].values,
                            pass.arena.get(forward_.factors));
  const Tasks tasks = this->tasks(pass, forward_);
  pass.team.run(tasks.count(), [&](std::size_t task, int thread) {
    float* scratch = pass.arena.get(forward_.scratch) +
                     static_cast<std::size_t>(thread) * forward_.scratch_floats();
    run_task(pass, forward_, tasks, task, src[0].values, scratch, dst.values);
  });
}

float* PointwiseStage::backward_scratch(const Pass& pass, int thread) const {
  return pass.arena.get(backward_.scratch) +
         static_cast<std::size_t>(thread) * scratch_floats_;
}

void PointwiseStage::backward(const Pass& pass, Activations src, const Activation& dst) {
  float* gradient = pass.parameters[0].gradient;
  if (src[0].gradient != nullptr) {
    backward_.matrix.copy_columns(pass, pass.parameters[0].values,
                                  pass.arena.get(backward_.factors));
  }
  if (together_ && src[0].gradient != nullptr && gradient != nullptr) {
    chunks_backward(pass, src[0], dst.gradient);
  } else {
    apart_backward(pass, src[0], dst.gradient);
  }
  if (!shares_chunks_) return;
  add_shares(
      pass,
      {pass.arena.get(shares_), taps_.taps(), plan_.chunks(pass.packs(forward_.from))},
      {gradient, taps_.taps()});
}

void PointwiseStage::chunks_backward(const Pass& pass, const Activation& src,
                                     const Stored& dst_gradient) const {
  const std::size_t packs = pass.packs(forward_.from);
  const Range groups = {0, static_cast<std::size_t>(backward_.matrix.groups().count)};
  pass.team.run(plan_.chunks(packs), [&](std::size_t chunk, int thread) {
    float* tile = backward_scratch(pass, thread) + taps_.scratch_floats();
    taps_.run(pass,
              {.chunk = plan_.chunk(chunk, packs),
               .part = 0,
               .src = src.values,
               .dst_gradient = dst_gradient,
               .scratch = backward_scratch(pass, thread),
               .taps = pass.arena.get(shares_) + chunk * taps_.taps(),
               .accumulate = false},
              [&](const PixelRun& run, const Gathered& gathered) {
                multiply_run(pass, backward_, groups, run, gathered, tile, src.gradient);
              });
  });
}

/// Taps first: theirs are the larger tasks, and the smaller ones fill up the end.
void PointwiseStage::apart_backward(const Pass& pass, const Activation& src,
                                    const Stored& dst_gradient) const {
  const std::size_t chunks = shares_chunks_ ? plan_.chunks(pass.packs(forward_.from)) : 1;
  const bool frozen = pass.parameters[0].gradient == nullptr;
  const std::size_t taps_tasks = frozen ? 0 : chunks * taps_.parts();
  const Tasks tasks = this->tasks(pass, backward_);
  const std::size_t source_tasks = src.gradient == nullptr ? 0 : tasks.count();
  pass.team.run(taps_tasks + source_tasks, [&](std::size_t task, int thread) {
    float* scratch = backward_scratch(pass, thread);
    if (task < taps_tasks) {
      taps_backward(pass, task, src.values, dst_gradient, scratch);
    } else {
      run_task(pass, backward_, tasks, task - taps_tasks, dst_gradient, scratch,
               src.gradient);
    }
  });
}

/// One part of the taps' gradient: a chunk's share, or the sum over all chunks.
void PointwiseStage::taps_backward(const Pass& pass, std::size_t task, const Stored& src,
                                   const Stored& dst_gradient, float* scratch) const {
  const std::size_t packs = pass.packs(forward_.from);
  const std::size_t first = task / taps_.parts();
  const Range chunks = {first, shares_chunks_ ? first + 1 : plan_.chunks(packs)};
  for (std::size_t chunk = chunks.begin; chunk < chunks.end; ++chunk) {
    float* share = shares_chunks_ ? pass.arena.get(shares_) + chunk * taps_.taps()
                                  : pass.parameters[0].gradient;
    taps_.run(pass,
              {.chunk = plan_.chunk(chunk, packs),
               .part = task % taps_.parts(),
               .src = src,
               .dst_gradient = dst_gradient,
               .scratch = scratch,
               .taps = share,
               .accumulate = chunk > 0 && !shares_chunks_},
              [](const PixelRun&, const Gathered&) {});
  }
}

}  // namespace convoy
