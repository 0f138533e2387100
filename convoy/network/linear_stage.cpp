// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/linear_stage.h"

#include <algorithm>
#include <limits>

namespace convoy {
namespace {

// How much of a sum one call of the kernel adds: as much as lets the right operand,
// kDepth x 16 numbers, stay in the first-level cache.
constexpr int kDepth = 256;

// Tasks a product is cut into at most, and the smallest piece in rows.
constexpr int kTasks = 16;
constexpr int kLeastRows = 12;

int rows_a_task(int rows) {
  const int even = (rows + kTasks - 1) / kTasks;
  return static_cast<int>(
      round_up(static_cast<std::size_t>(std::max(even, kLeastRows)), kLeastRows));
}

}  // namespace

/// Rows [first, first + rows) of a product's output: what one task computes.
struct LinearStage::RowBlock {
  RowBlock(std::size_t task, int total)
      : first(static_cast<int>(task) * rows_a_task(total)),
        rows(std::min(rows_a_task(total), total - first)) {}

  static std::size_t count(int total) {
    return static_cast<std::size_t>((total + rows_a_task(total) - 1) /
                                    rows_a_task(total));
  }

  int first, rows;
};

LinearStage::LinearStage(const StageContext& context, const Layout& layout,
                         const LinearOptions& options)
    : features_(static_cast<int>(context.src.size())),
      outputs_(options.layer.features),
      relu_(options.relu),
      weight_(layout.segment(options.weight).range),
      bias_(layout.segment(options.bias).range) {
  const auto block = [](int rows) { return static_cast<std::size_t>(rows_a_task(rows)); };
  if (!context.training) return;
  const std::size_t images = context.most_packs * kPack;
  weight_tiles_ = context.reserve_scratch(block(features_) * kDepth, context.backward);
  gradient_tiles_ = context.reserve_scratch(block(outputs_) * images, context.backward);
  panels_ = context.plan.reserve(
      round_up(static_cast<std::size_t>(features_), kPack) * images * sizeof(float),
      {context.backward, context.backward});
}

void LinearStage::forward(const Pass& pass, const float* src, float* dst) {
  const float clamp_min = relu_ ? 0 : -std::numeric_limits<float>::infinity();
  const auto features = static_cast<std::size_t>(features_);
  const float* weights = pass.values + weight_.begin;
  pass.team.run(RowBlock::count(outputs_), [&](std::size_t task, int) {
    const RowBlock block(task, outputs_);
    float* rows = dst + static_cast<std::size_t>(block.first) * kPack;
    const std::size_t dst_pack = static_cast<std::size_t>(outputs_) * kPack;
    for (int f = 0; f < features_; f += kDepth) {
      for (std::size_t pack = 0; pack < pass.packs; ++pack) {
        pass.kernels.product({.a = weights + block.first * features + f,
                              .a_row = features,
                              .b = src + (pack * features + f) * kPack,
                              .dst = rows + pack * dst_pack,
                              .dst_row = kPack,
                              .rows = block.rows,
                              .depth = std::min(kDepth, features_ - f),
                              .accumulate = f > 0});
      }
    }
    for (std::size_t pack = 0; pack < pass.packs; ++pack) {
      pass.kernels.add_bias(rows + pack * dst_pack,
                            pass.values + bias_.begin + block.first, block.rows,
                            clamp_min);
    }
  });
}

void LinearStage::backward(const Pass& pass, const Activation& src,
                           const Activation& dst) {
  finish_dst_gradient(pass, dst);
  weights_backward(pass, src.values, dst.gradient);
  if (src.gradient != nullptr) source_backward(pass, dst.gradient, src.gradient);
}

/// Takes the gradient back through the ReLU and sums it for the bias.
void LinearStage::finish_dst_gradient(const Pass& pass, const Activation& dst) const {
  const std::size_t dst_pack = static_cast<std::size_t>(outputs_) * kPack;
  pass.team.run(RowBlock::count(outputs_), [&](std::size_t task, int) {
    const RowBlock block(task, outputs_);
    std::fill_n(pass.gradients + bias_.begin + block.first, block.rows, 0.0f);
    for (std::size_t pack = 0; pack < pass.packs; ++pack) {
      const std::size_t from =
          pack * dst_pack + static_cast<std::size_t>(block.first) * kPack;
      if (relu_) {
        pass.kernels.mask_by_sign(dst.gradient + from, dst.values + from,
                                  static_cast<std::size_t>(block.rows) * kPack);
      }
      for (int i = 0; i < block.rows; ++i) {
        pass.gradients[bias_.begin + block.first + i] += pass.kernels.sum(
            dst.gradient + from + static_cast<std::size_t>(i) * kPack, kPack);
      }
    }
  });
}

void LinearStage::pack_panels(const Pass& pass, const float* src) {
  const std::size_t count = round_up(static_cast<std::size_t>(features_), kPack) / kPack;
  float* panels = pass.arena.get(panels_);
  pass.team.run(count, [&](std::size_t panel, int) {
    const int first = static_cast<int>(panel) * kPack;
    const int width = std::min(kPack, features_ - first);
    float* to = panels + panel * pass.packs * kPack * kPack;
    for (std::size_t pack = 0; pack < pass.packs; ++pack, to += kPack * kPack) {
      const float* from = src + (pack * features_ + first) * kPack;
      if (width == kPack) {
        pass.kernels.rows_to_tile({from, kPack, kPack, kPack, to});
        continue;
      }
      std::fill_n(to, kPack * kPack, 0.0f);
      for (int i = 0; i < width * kPack; ++i) to[i % kPack * kPack + i / kPack] = from[i];
    }
  });
}

/// The left operand of the weights' gradient: for each image, the block's outputs.
void LinearStage::gradients_to_tiles(const Pass& pass, const RowBlock& block,
                                     const float* dst_gradient, float* tiles) const {
  const std::size_t images = pass.packs * kPack;
  const Tiles cut(block.rows, pass.kernels.tile);
  for (int tile = 0; tile < cut.count; ++tile) {
    const int first = block.first + cut.begin(tile), size = cut.size(tile);
    float* to = tiles + static_cast<std::size_t>(cut.begin(tile)) * images;
    for (std::size_t pack = 0; pack < pass.packs; ++pack, to += kPack * size) {
      pass.kernels.rows_to_tile({.src = dst_gradient + (pack * outputs_ + first) * kPack,
                                 .src_row = kPack,
                                 .rows = size,
                                 .depth = kPack,
                                 .dst = to});
    }
  }
}

void LinearStage::weights_backward(const Pass& pass, const float* src,
                                   const float* dst_gradient) {
  pack_panels(pass, src);
  const std::size_t images = pass.packs * kPack;
  const float* panels = pass.arena.get(panels_);
  pass.team.run(RowBlock::count(outputs_), [&](std::size_t task, int thread) {
    const RowBlock block(task, outputs_);
    float* tiles = pass.arena.get(gradient_tiles_) +
                   static_cast<std::size_t>(thread) * rows_a_task(outputs_) * images;
    gradients_to_tiles(pass, block, dst_gradient, tiles);
    for (int f = 0; f < features_; f += kPack) {
      pass.kernels.product({.a = tiles,
                            .b = panels + static_cast<std::size_t>(f) * images,
                            .dst = pass.gradients + weight_.begin +
                                   static_cast<std::size_t>(block.first) * features_ + f,
                            .dst_row = static_cast<std::size_t>(features_),
                            .rows = block.rows,
                            .depth = static_cast<int>(images),
                            .columns = std::min(kPack, features_ - f)});
    }
  });
}

void LinearStage::source_backward(const Pass& pass, const float* dst_gradient,
                                  float* src_gradient) {
  const auto features = static_cast<std::size_t>(features_);
  const auto outputs = static_cast<std::size_t>(outputs_);
  const std::size_t scratch = static_cast<std::size_t>(rows_a_task(features_)) * kDepth;
  pass.team.run(RowBlock::count(features_), [&](std::size_t task, int thread) {
    const RowBlock block(task, features_);
    float* tiles = pass.arena.get(weight_tiles_) + thread * scratch;
    float* rows = src_gradient + static_cast<std::size_t>(block.first) * kPack;
    for (int o = 0; o < outputs_; o += kDepth) {
      const int depth = std::min(kDepth, outputs_ - o);
      weights_to_tiles(pass, block, o, depth, tiles);
      for (std::size_t pack = 0; pack < pass.packs; ++pack) {
        pass.kernels.product({.a = tiles,
                              .b = dst_gradient + (pack * outputs + o) * kPack,
                              .dst = rows + pack * features * kPack,
                              .dst_row = kPack,
                              .rows = block.rows,
                              .depth = depth,
                              .accumulate = o > 0});
      }
    }
  });
}

/// The left operand of the source's gradient: for each output, the block's features.
/// Read in place, its columns would all fall on the same few cache lines; so no more of
/// the weights' rows are copied at a time than such lines hold.
void LinearStage::weights_to_tiles(const Pass& pass, const RowBlock& block, int output,
                                   int depth, float* tiles) const {
  constexpr int kRowsATime = 8;
  const auto features = static_cast<std::size_t>(features_);
  const float* src = pass.values + weight_.begin + output * features + block.first;
  const Tiles cut(block.rows, pass.kernels.tile);
  for (int k = 0; k < depth; k += kRowsATime, src += kRowsATime * features) {
    for (int tile = 0; tile < cut.count; ++tile) {
      const auto first = static_cast<std::size_t>(cut.begin(tile));
      pass.kernels.columns_to_tile({.src = src + first,
                                    .src_row = features,
                                    .rows = cut.size(tile),
                                    .depth = std::min(kRowsATime, depth - k),
                                    .dst = tiles + first * depth + k * cut.size(tile)});
    }
  }
}

}  // namespace convoy
