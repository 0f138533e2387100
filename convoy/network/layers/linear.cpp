// SPDX-License-Identifier: Apache-2.0
//
// A linear layer, and the ReLU that may follow it.
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

#include "convoy/network/layers/linear.h"

#include <algorithm>
#include <cmath>

#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/product.h"
#include "convoy/network/layers/relu.h"
#include "convoy/network/stage_builder.h"

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

 private:
  void finish_dst_gradient(const Pass& pass, const Activation& dst) const;
  void weights_backward(const Pass& pass, const float* src, const float* dst_gradient);
  void source_backward(const Pass& pass, const float* dst_gradient, float* src_gradient);
  void pack_panels(const Pass& pass, const float* src);
  void gradients_to_tiles(const Pass& pass, const RowBlock& block,
                          const float* dst_gradient, float* tiles) const;
  void weights_to_tiles(const Pass& pass, const RowBlock& block, int output, int depth,
                        float* tiles) const;

  bool has_epilogue() const { return has_bias_ || relu_; }
  const float* bias_of(const Pass& pass, int first) const {
    return has_bias_ ? pass.parameters[kBias].values + first : no_bias_.data();
  }

  Shape src_;
  int features_, outputs_;
  bool has_bias_, relu_;
  std::vector<float> no_bias_;  // zeros for one task's outputs
  SlotId weight_tiles_{}, gradient_tiles_{}, panels_{};
};

void LinearStage::forward(const Pass& pass, Activations sources,
                          const Activation& result) {
  const float* src = sources[0].values;
  float* dst = result.values;
  const float clamp_min = relu_ ? 0 : kNoClamp;
  const std::size_t packs = pass.packs(src_);
  const auto features = static_cast<std::size_t>(features_);
  const float* weights = pass.parameters[kWeight].values;
  const ProductKernels& kernels = product_kernels(pass.kernels);
  const EpilogueKernels& epilogue = epilogue_kernels(pass.kernels);
  pass.team.run(RowBlock::count(outputs_), [&](std::size_t task, int) {
    const RowBlock block(task, outputs_);
    float* rows = dst + static_cast<std::size_t>(block.first) * kPack;
    const std::size_t dst_pack = static_cast<std::size_t>(outputs_) * kPack;
    for (int f = 0; f < features_; f += kDepth) {
      for (std::size_t pack = 0; pack < packs; ++pack) {
        kernels.product({.a = weights + block.first * features + f,
                         .a_row = features,
                         .b = src + (pack * features + f) * kPack,
                         .dst = rows + pack * dst_pack,
                         .dst_row = kPack,
                         .rows = block.rows,
                         .depth = std::min(kDepth, features_ - f),
                         .accumulate = f > 0});
      }
    }
    for (std::size_t pack = 0; has_epilogue() && pack < packs; ++pack) {
      epilogue.add_bias(
          {rows + pack * dst_pack, bias_of(pass, block.first), block.rows, clamp_min});
    }
  });
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
      const std::size_t from =
          pack * dst_pack + static_cast<std::size_t>(block.first) * kPack;
      if (relu_) {
        kernels.mask_by_sign({dst.gradient + from, dst.values + from,
                              static_cast<std::size_t>(block.rows) * kPack});
      }
      for (int i = 0; bias != nullptr && i < block.rows; ++i) {
        bias[block.first + i] +=
            kernels.sum(dst.gradient + from + static_cast<std::size_t>(i) * kPack, kPack);
      }
    }
  });
}

void LinearStage::pack_panels(const Pass& pass, const float* src) {
  const std::size_t count = round_up(static_cast<std::size_t>(features_), kPack) / kPack;
  float* panels = pass.arena.get(panels_);
  const ProductKernels& kernels = product_kernels(pass.kernels);
  pass.team.run(count, [&](std::size_t panel, int) {
    const int first = static_cast<int>(panel) * kPack;
    const int width = std::min(kPack, features_ - first);
    float* to = panels + panel * pass.packs(src_) * kPack * kPack;
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack, to += kPack * kPack) {
      const float* from = src + (pack * features_ + first) * kPack;
      if (width == kPack) {
        kernels.rows_to_tile({from, kPack, kPack, kPack, to});
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
  const std::size_t images = pass.packs(src_) * kPack;
  const ProductKernels& kernels = product_kernels(pass.kernels);
  const Tiles cut(block.rows, kernels.tile);
  for (int tile = 0; tile < cut.count; ++tile) {
    const int first = block.first + cut.begin(tile), size = cut.size(tile);
    float* to = tiles + static_cast<std::size_t>(cut.begin(tile)) * images;
    for (std::size_t pack = 0; pack < pass.packs(src_); ++pack, to += kPack * size) {
      kernels.rows_to_tile({.src = dst_gradient + (pack * outputs_ + first) * kPack,
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
                       .columns = std::min(kPack, features_ - f)});
    }
  });
}

void LinearStage::source_backward(const Pass& pass, const float* dst_gradient,
                                  float* src_gradient) {
  const auto features = static_cast<std::size_t>(features_);
  const auto outputs = static_cast<std::size_t>(outputs_);
  const std::size_t scratch = static_cast<std::size_t>(rows_per_task(features_)) * kDepth;
  const ProductKernels& kernels = product_kernels(pass.kernels);
  pass.team.run(RowBlock::count(features_), [&](std::size_t task, int thread) {
    const RowBlock block(task, features_);
    float* tiles = pass.arena.get(weight_tiles_) + thread * scratch;
    float* rows = src_gradient + static_cast<std::size_t>(block.first) * kPack;
    for (int o = 0; o < outputs_; o += kDepth) {
      const int depth = std::min(kDepth, outputs_ - o);
      weights_to_tiles(pass, block, o, depth, tiles);
      for (std::size_t pack = 0; pack < pass.packs(src_); ++pack) {
        kernels.product({.a = tiles,
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

class LinearKind final : public KindOf<Linear, LinearKind> {
 public:
  LinearKind()
      : KindOf({.name = "linear",
                .operation = "MatMul",
                .begins_unit = true,
                .flattens = true}) {}

  static std::vector<std::size_t> weight_shape(const Linear& layer, std::size_t inputs) {
    std::vector<std::size_t> shape = {static_cast<std::size_t>(layer.features)};
    if (layer.kernel.empty()) shape.push_back(inputs);
    shape.insert(shape.end(), layer.kernel.begin(), layer.kernel.end());
    return shape;
  }

  static LayerDescription describe_options(const Linear& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    const std::size_t inputs = src.features();
    const auto outputs = static_cast<std::size_t>(layer.features);
    const bool timm = context.weight_init == WeightInit::timm && layer.kernel.empty();
    const float bound = 1.0f / std::sqrt(static_cast<float>(inputs));
    LayerDescription result{.dst = {layer.features, 1, 1, src.rows}};
    result.parameters.push_back(
        {layer.name + ".weight", weight_shape(layer, inputs), Role::weight,
         timm ? Initialization::normal(0.02f) : Initialization::uniform(bound)});
    if (layer.bias) {
      result.parameters.push_back(
          {layer.name + ".bias",
           {outputs},
           Role::bias,
           timm ? Initialization::zeros() : Initialization::uniform(bound)});
    }
    result.flops = 2 * inputs * outputs * static_cast<std::size_t>(src.rows);
    return result;
  }
  bool joins(const StageSpec& stage, const LayerInfo& next) const override {
    return stage.joined<Relu>() == nullptr && next.layer.get_if<Relu>() != nullptr;
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<LinearStage>(context, spec.options<Linear>(), spec.src[0],
                                         spec.joined<Relu>() != nullptr);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfFeatures", Linear{"fc", 7}, {{5, 1, 1}}},
            {"OfImages", Linear{"fc", 13}, {{2, 3, 3}}},
            {"OfTokens", Linear{"fc", 19}, {{23, 1, 1, 5}}},
            {"WithoutBias", Linear{"fc", 6, false}, {{9, 1, 1, 3}}},
            {"OfPatches", Linear{"fc", 6, true, {3, 2, 2}}, {{12, 1, 1, 3}}},
            {"WiderThanOneStretch", Linear{"fc", 5}, {{1, 17, 17}}}};
  }
};

const Registered<LinearKind> kLinear;

}  // namespace
}  // namespace convoy
