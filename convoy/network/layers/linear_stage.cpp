// SPDX-License-Identifier: Apache-2.0
//
// Three products, each cut by its output so that no sum is shared by tasks:
//
//   forward          dst[o][n]   = sum over f of  weight[o][f] * src[f][n]
//   source backward  dsrc[f][n]  = sum over o of  weight[o][f] * ddst[o][n]
//   weights backward dweight[o][f] = sum over n of  ddst[o][n] * src[f][n]
//
// o: outputs, f: features, n: rows. Activations are laid out as [pack][f][16 rows], so in
// the first two a pack is the right operand as it is. For the third the source is packed
// into panels [f / 16][n][16 features].

#include "convoy/network/layers/linear_stage.h"

#include <algorithm>
#include <vector>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/product.h"

namespace convoy {
namespace {

// The parameters of the stage.
constexpr std::size_t kWeight = 0, kBias = 1;

// How much of a sum one call of the kernel adds: as much as lets the right operand,
// kDepth x 16 numbers, stay in the first-level cache.
constexpr int kDepth = 256;

// Tasks a product is cut into at most, and the smallest piece in rows.
constexpr int kTasks = 16;
constexpr int kLeastRows = 12;

int rows_per_task(int rows) {
  const int even = (rows + kTasks - 1) / kTasks;
  return static_cast<int>(
      round_up(static_cast<std::size_t>(std::max(even, kLeastRows)), kLeastRows));
}

/// Rows [first, first + rows) of a product's output: what one task computes.
struct RowBlock {
  RowBlock(std::size_t task, int total)
      : first(static_cast<int>(task) * rows_per_task(total)),
        rows(std::min(rows_per_task(total), total - first)) {}

  static std::size_t count(int total) {
    return static_cast<std::size_t>((total + rows_per_task(total) - 1) /
                                    rows_per_task(total));
  }

  int first, rows;
};

// Sums that a task has at a time where the result is of 16 bits: half of a second-level
// cache.
constexpr std::size_t kSumFloats = std::size_t{128} << 10;

/// The block's rows in some packs: fp32, whatever the result is stored as.
struct RowSums {
  float* first;
  std::size_t step;  // from one pack's to the next
};

class LinearStage final : public Stage {
 public:
  LinearStage(const StageContext& context, const Linear& layer, Shape src, bool relu)
      : src_(src),
        features_(static_cast<int>(src.features())),
        outputs_(layer.features),
        has_bias_(layer.bias),
        relu_(relu) {
    const auto block = [](int rows) {
      return static_cast<std::size_t>(rows_per_task(rows));
    };
    if (!has_bias_) no_bias_.resize(block(outputs_));
    const std::size_t most = std::max(block(features_), block(outputs_)) * kPack;
    sum_floats_ = std::min(std::max(kSumFloats, most), context.most_packs(src) * most);
    // Bf16 kernels may pack the weights that a task multiplies.
    packs_weights_ = context.activations == Dtype::bf16;
    context.ask_for_buffer(sum_floats_ + kDepth * kPack +
                           (packs_weights_ ? block(outputs_) * kDepth : 0));
    if (!context.training) return;
    const std::size_t rows = context.most_rows(src);
    weight_tiles_ = context.reserve_scratch(block(features_) * kDepth, context.backward);
    gradient_tiles_ = context.reserve_scratch(block(outputs_) * rows, context.backward);
    panels_ = context.plan.reserve(
        round_up(static_cast<std::size_t>(features_), kPack) * rows * sizeof(float),
        {context.backward, context.backward});
  }

  void forward(const Pass& pass, Activations sources, const Activation& result) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;
  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return relu_; }
  bool takes_stored() const override { return true; }

 private:
  void finish_dst_gradient(const Pass& pass, const Activation& dst) const;
  void weights_backward(const Pass& pass, const Stored& src, const Stored& dst_gradient);
  void source_backward(const Pass& pass, const Stored& dst_gradient,
                       const Stored& src_gradient);
  void pack_panels(const Pass& pass, const Stored& src);
  void gradients_to_tiles(const Pass& pass, const RowBlock& block,
                          const Stored& dst_gradient, float* tiles) const;
  void weights_to_tiles(const Pass& pass, const RowBlock& block, int output, int depth,
                        float* tiles) const;
  Product weights_in_rows(const Pass& pass, const RowBlock& block, int feature, int depth,
                          float* packed) const;

  /// Calls work(packs, sums) for all packs, several at a time, to compute the block's
  /// rows of `dst`, which has `total`.
  template <class Work>
  void for_sums(const Pass& pass, const RowBlock& block, int total, const Stored& dst,
                float* buffer, const Work& work) const;

  bool has_epilogue() const { return has_bias_ || relu_; }
  const float* bias_of(const Pass& pass, int first) const {
    return has_bias_ ? pass.parameters[kBias].values + first : no_bias_.data();
  }

  Shape src_;
  int features_, outputs_;
  bool has_bias_, relu_;
  std::vector<float> no_bias_;  // zeros for one task's outputs
  std::size_t sum_floats_;      // of a thread's buffer
  bool packs_weights_;          // in forward, if the kernels do
  SlotId weight_tiles_{}, gradient_tiles_{}, panels_{};
};

/// Packs `rows` of a left operand that is in tiles, if the kernels do.
void pack_tiles(const ProductKernels& kernels, int rows, int depth, float* tiles) {
  const Tiles cut(rows, kernels.tile);
  for (int tile = 0; kernels.packs(depth) && tile < cut.count; ++tile) {
    kernels.pack_left({tiles + cut.begin(tile) * static_cast<std::size_t>(depth),
                       cut.size(tile), depth});
  }
}

template <class Work>
void LinearStage::for_sums(const Pass& pass, const RowBlock& block, int total,
                           const Stored& dst, float* buffer, const Work& work) const {
  const std::size_t all = pass.packs(src_);
  const std::size_t size = static_cast<std::size_t>(block.rows) * kPack;
  const std::size_t step = static_cast<std::size_t>(total) * kPack;
  const std::size_t first = static_cast<std::size_t>(block.first) * kPack;
  const std::size_t most = dst.is_fp32() ? all : sum_floats_ / size;
  for (std::size_t pack = 0; pack < all; pack += most) {
    const Range packs = {pack, std::min(all, pack + most)};
    const RowSums sums = {dst.target(pack * step + first, buffer),
                          dst.is_fp32() ? step : size};
    work(packs, sums);
    for (std::size_t i = 0; i < packs.size(); ++i) {
      dst.store((pack + i) * step + first, size, sums.first + i * sums.step);
    }
  }
}

void LinearStage::forward(const Pass& pass, Activations sources,
                          const Activation& result) {
  const Stored& src = sources[0].values;
  const float clamp_min = relu_ ? 0 : kNoClamp;
  const auto features = static_cast<std::size_t>(features_);
  const ProductKernels& kernels = product_kernels(pass.kernels);
  const EpilogueKernels& epilogue = epilogue_kernels(pass.kernels);
  pass.team.run(RowBlock::count(outputs_), [&](std::size_t task, int thread) {
    const RowBlock block(task, outputs_);
    float* buffer = pass.fp32_buffer(thread);
    const auto compute = [&](Range packs, const RowSums& sums) {
      for (int f = 0; f < features_; f += kDepth) {
        const int depth = std::min(kDepth, features_ - f);
        Product product =
            weights_in_rows(pass, block, f, depth, buffer + sum_floats_ + kDepth * kPack);
        for (std::size_t pack = packs.begin; pack < packs.end; ++pack) {
          product.b =
              src.read((pack * features + f) * kPack,
                       static_cast<std::size_t>(depth) * kPack, buffer + sum_floats_);
          product.dst = sums.first + (pack - packs.begin) * sums.step;
          kernels.product(product);
        }
      }
      for (std::size_t i = 0; has_epilogue() && i < packs.size(); ++i) {
        epilogue.add_bias({sums.first + i * sums.step, bias_of(pass, block.first),
                           block.rows, clamp_min});
      }
    };
    for_sums(pass, block, outputs_, result.values, buffer, compute);
  });
}

/// A product of the block's weights from `feature` on, as they are or packed.
Product LinearStage::weights_in_rows(const Pass& pass, const RowBlock& block, int feature,
                                     int depth, float* packed) const {
  const ProductKernels& kernels = product_kernels(pass.kernels);
  const auto features = static_cast<std::size_t>(features_);
  Product product = {
      .a = pass.parameters[kWeight].values + block.first * features + feature,
      .a_row = features,
      .b = nullptr,
      .dst = nullptr,
      .dst_row = kPack,
      .rows = block.rows,
      .depth = depth,
      .accumulate = feature > 0,
      .a_packed = packs_weights_ && kernels.packs(depth)};
  if (!product.a_packed) return product;
  const Tiles cut(block.rows, kernels.tile);
  for (int tile = 0; tile < cut.count; ++tile) {
    const auto first = static_cast<std::size_t>(cut.begin(tile));
    kernels.rows_to_tile({.src = product.a + first * features,
                          .src_row = features,
                          .rows = cut.size(tile),
                          .depth = depth,
                          .dst = packed + first * static_cast<std::size_t>(depth)});
  }
  pack_tiles(kernels, block.rows, depth, packed);
  product.a = packed;
  product.a_row = 0;
  return product;
}

void LinearStage::backward(const Pass& pass, Activations src, const Activation& dst) {
  finish_dst_gradient(pass, dst);
  if (pass.parameters[kWeight].gradient != nullptr) {
    weights_backward(pass, src[0].values, dst.gradient);
  }
  if (src[0].gradient != nullptr) source_backward(pass, dst.gradient, src[0].gradient);
}

/// Takes the gradient back through the ReLU and sums it for the bias.
void LinearStage::finish_dst_gradient(const Pass& pass, const Activation& dst) const {
  const std::size_t dst_pack = static_cast<std::size_t>(outputs_) * kPack;
  float* bias = has_bias_ ? pass.parameters[kBias].gradient : nullptr;
  if (!relu_ && bias == nullptr) return;
  const EpilogueKernels& kernels = epilogue_kernels(pass.kernels);
  pass.team.run(RowBlock::count(outputs_), [&](std::size_t task, int) {
    const RowBlock block(task, outputs_);
    if (bias != nullptr) std::fill_n(bias + block.first, block.rows, 0.0f);
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
      const std::size_t first =
          pack * dst_pack + static_cast<std::size_t>(block.first) * kPack;
      const auto finish = [&](std::size_t from, std::size_t size) {
        Piece a, b;
        float* gradient = dst.gradient.edit(from, size, a.numbers);
        if (relu_) {
          kernels.mask_by_sign({gradient, dst.values.read(from, size, b.numbers), size});
          dst.gradient.store(from, size, gradient);
        }
        const std::size_t row = block.first + (from - first) / kPack;
        for (std::size_t i = 0; bias != nullptr && i < size / kPack; ++i) {
          bias[row + i] += kernels.sum(gradient + i * kPack, kPack);
        }
      };
      for_pieces(pass.activations, first, static_cast<std::size_t>(block.rows) * kPack,
                 finish);
    }
  });
}

void LinearStage::pack_panels(const Pass& pass, const Stored& src) {
  const std::size_t count = round_up(static_cast<std::size_t>(features_), kPack) / kPack;
  float* panels = pass.arena.get(panels_);
  const ProductKernels& kernels = product_kernels(pass.kernels);
  pass.team.run(count, [&](std::size_t panel, int) {
    const int first = static_cast<int>(panel) * kPack;
    const int width = std::min(kPack, features_ - first);
    float* to = panels + panel * pass.packs(src_) * kPack * kPack;
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack, to += kPack * kPack) {
      Piece buffer;
      const float* from =
          src.read((pack * features_ + first) * kPack,
                   static_cast<std::size_t>(width) * kPack, buffer.numbers);
      if (width == kPack) {
        kernels.rows_to_tile({from, kPack, kPack, kPack, to});
        continue;
      }
      std::fill_n(to, kPack * kPack, 0.0f);
      for (int i = 0; i < width * kPack; ++i) to[i % kPack * kPack + i / kPack] = from[i];
    }
    const int images = static_cast<int>(pass.packs(src_)) * kPack;
    if (kernels.packs(images)) {
      kernels.pack_right(
          {panels + panel * pass.packs(src_) * kPack * kPack, kPack, images});
    }
  });
}

/// The left operand of the weights' gradient: for each image, the block's outputs.
void LinearStage::gradients_to_tiles(const Pass& pass, const RowBlock& block,
                                     const Stored& dst_gradient, float* tiles) const {
  const std::size_t images = pass.packs(src_) * kPack;
  const ProductKernels& kernels = product_kernels(pass.kernels);
  const Tiles cut(block.rows, kernels.tile);
  for (int tile = 0; tile < cut.count; ++tile) {
    const int first = block.first + cut.begin(tile), size = cut.size(tile);
    float* to = tiles + static_cast<std::size_t>(cut.begin(tile)) * images;
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack, to += kPack * size) {
      Piece buffer;
      kernels.rows_to_tile({.src = dst_gradient.read(
                                (pack * outputs_ + first) * kPack,
                                static_cast<std::size_t>(size) * kPack, buffer.numbers),
                            .src_row = kPack,
                            .rows = size,
                            .depth = kPack,
                            .dst = to});
    }
  }
  pack_tiles(kernels, block.rows, static_cast<int>(images), tiles);
}

void LinearStage::weights_backward(const Pass& pass, const Stored& src,
                                   const Stored& dst_gradient) {
  pack_panels(pass, src);
  const std::size_t images = pass.packs(src_) * kPack;
  const float* panels = pass.arena.get(panels_);
  const ProductKernels& kernels = product_kernels(pass.kernels);
  pass.team.run(RowBlock::count(outputs_), [&](std::size_t task, int thread) {
    const RowBlock block(task, outputs_);
    float* tiles = pass.arena.get(gradient_tiles_) +
                   static_cast<std::size_t>(thread) * rows_per_task(outputs_) * images;
    gradients_to_tiles(pass, block, dst_gradient, tiles);
    for (int f = 0; f < features_; f += kPack) {
      kernels.product({.a = tiles,
                       .b = panels + static_cast<std::size_t>(f) * images,
                       .dst = pass.parameters[kWeight].gradient +
                              static_cast<std::size_t>(block.first) * features_ + f,
                       .dst_row = static_cast<std::size_t>(features_),
                       .rows = block.rows,
                       .depth = static_cast<int>(images),
                       .columns = std::min(kPack, features_ - f),
                       .a_packed = kernels.packs(static_cast<int>(images)),
                       .b_packed = kernels.packs(static_cast<int>(images))});
    }
  });
}

void LinearStage::source_backward(const Pass& pass, const Stored& dst_gradient,
                                  const Stored& src_gradient) {
  const auto outputs = static_cast<std::size_t>(outputs_);
  const std::size_t scratch = static_cast<std::size_t>(rows_per_task(features_)) * kDepth;
  const ProductKernels& kernels = product_kernels(pass.kernels);
  pass.team.run(RowBlock::count(features_), [&](std::size_t task, int thread) {
    const RowBlock block(task, features_);
    float* tiles = pass.arena.get(weight_tiles_) + thread * scratch;
    float* buffer = pass.fp32_buffer(thread);
    const auto compute = [&](Range packs, const RowSums& sums) {
      for (int o = 0; o < outputs_; o += kDepth) {
        const int depth = std::min(kDepth, outputs_ - o);
        weights_to_tiles(pass, block, o, depth, tiles);
        pack_tiles(kernels, block.rows, depth, tiles);
        for (std::size_t pack = packs.begin; pack < packs.end; ++pack) {
          kernels.product({.a = tiles,
                           .b = dst_gradient.read((pack * outputs + o) * kPack,
                                                  static_cast<std::size_t>(depth) * kPack,
                                                  buffer + sum_floats_),
                           .dst = sums.first + (pack - packs.begin) * sums.step,
                           .dst_row = kPack,
                           .rows = block.rows,
                           .depth = depth,
                           .accumulate = o > 0,
                           .a_packed = kernels.packs(depth)});
        }
      }
    };
    for_sums(pass, block, features_, src_gradient, buffer, compute);
  });
}

/// The left operand of the source's gradient: for each output, the block's features.
/// Read in place, its columns would all fall on the same few cache lines; so no more of
/// the weights' rows are copied at a time than such lines hold.
void LinearStage::weights_to_tiles(const Pass& pass, const RowBlock& block, int output,
                                   int depth, float* tiles) const {
  constexpr int kRowsAtOnce = 8;
  const auto features = static_cast<std::size_t>(features_);
  const float* src = pass.parameters[kWeight].values + output * features + block.first;
  const ProductKernels& kernels = product_kernels(pass.kernels);
  const Tiles cut(block.rows, kernels.tile);
  for (int k = 0; k < depth; k += kRowsAtOnce, src += kRowsAtOnce * features) {
    for (int tile = 0; tile < cut.count; ++tile) {
      const auto first = static_cast<std::size_t>(cut.begin(tile));
      kernels.columns_to_tile({.src = src + first,
                               .src_row = features,
                               .rows = cut.size(tile),
                               .depth = std::min(kRowsAtOnce, depth - k),
                               .dst = tiles + first * depth + k * cut.size(tile)});
    }
  }
}

}  // namespace

std::unique_ptr<Stage> make_linear_stage(const StageContext& context, const Linear& layer,
                                         Shape src, bool relu) {
  return std::make_unique<LinearStage>(context, layer, src, relu);
}

}  // namespace convoy
