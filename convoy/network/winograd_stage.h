// SPDX-License-Identifier: Apache-2.0
//
// WinogradStage: a 3x3 convolution in one of Winograd's forms, with its bias and the ReLU
// that follows it. See kernels/winograd.h for the formula, winograd_plan.h for columns.
//
//   forward    sources to products; then a task multiplies them with the taps of a group
//              of output channels and turns the products into outputs
//   backward   sources and output gradients to products; then some tasks turn them into
//              the gradient of the source, others into that of the taps
//
// Where columns are few, most of the work is reading taps: each task transforms those of
// its group for itself, a slab of channels at a time, so that they stay in cache. Where
// columns are many, all taps are transformed once, before. In images of one pixel most
// taps see only padding: the few others are kept from forward, rather than picked out
// twice.

#pragma once

#include "convoy/network/convolution/band.h"
#include "convoy/network/kernels/product.h"
#include "convoy/network/layers/convolution.h"
#include "convoy/network/stage.h"
#include "convoy/network/winograd_plan.h"

namespace convoy {

struct WinogradOptions {
  Convolution layer;
  WinogradForm form;
  bool relu = false;
};

/// The parameters of the stage.
inline constexpr std::size_t kWinogradTaps = 0, kWinogradBias = 1;

class WinogradStage final : public Stage {
 public:
  WinogradStage(const StageContext& context, const WinogradOptions& options, Shape src);

  void forward(const Pass& pass, Activations src, const Activation& dst) override;
  void backward(const Pass& pass, Activations src, const Activation& dst) override;

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return relu_; }
  bool takes_stored() const override { return true; }

 private:
  /// An operand of the matrix products of one chunk, in blocks of sixteen channels:
  /// [product][block][column][16 channels][16 images]. So both a sum over channels and
  /// one over columns run through memory in long stretches.
  struct Panels {
    SlotId slot{};
    std::size_t block = 0, product = 0;  // strides

    std::size_t at(int t, std::size_t channel, std::size_t column) const {
      return t * product + channel / kPack * block + column * kPack * kPack;
    }
  };
  /// Transformed taps: [product][row][channel].
  struct Taps {
    const float* first;
    std::size_t row, product;
  };
  /// When taps are transformed, and where to.
  struct TapsPlan {
    bool kept = false;        // from forward for backward
    bool at_once = false;     // before the products, not by each task
    std::size_t scratch = 0;  // floats of a thread's scratch that are for taps
  };
  /// The memory of one direction.
  struct Workspace {
    SlotId taps{};     // of all channels
    SlotId scratch{};  // of one thread
    std::size_t scratch_floats = 0;
  };
  /// What a task computes of a product: some channels in some columns of the chunk.
  struct Part {
    Range channels, columns;

    // Strides of its products, [product][column][channel][16].
    std::size_t column() const { return channels.size() * kPack; }
    std::size_t product() const { return columns.size() * column() + 3 * kPack; }
  };

  /// Rows of the source's gradient to which a task adds: some channels of some packs.
  struct GradientBands {
    float* first;
    int top;                  // the number of the first row
    std::size_t plane, pack;  // strides
    std::size_t first_pack;
  };

  std::size_t forward_buffer() const;
  std::size_t backward_buffer(const StageContext& context) const;
  Panels plan_panels(const StageContext& context, int channels, int moment) const;
  std::size_t taps_product() const;
  std::size_t packs_a_part(const Chunk& chunk) const;
  std::size_t column_parts(const Chunk& chunk) const;
  Range column_part(const Chunk& chunk, std::size_t number) const;
  /// What is transformed has more bits than bf16; a single tap is not transformed, and
  /// has the products of PointwiseStage.
  const ProductKernels& product_table(const Pass& pass) const;
  void multiply(const Pass& pass, Product product, const Panels& panels, int t,
                Range columns, std::size_t i, Range channels) const;
  Tiles channel_groups(int channels, std::size_t parts, int threads) const;

  void transform_all_taps(const Pass& pass, SlotId to) const;
  Taps taps_of(const Pass& pass, SlotId all, Range rows, Range channels, float* scratch,
               std::size_t scratch_row) const;

  Band source_band(const Chunk& chunk, const Stored& src, std::size_t pack,
                   Range channels, float* buffer) const;
  void transform_sources(const Pass& pass, const Chunk& chunk, const Stored& src,
                         std::size_t pack, Range channels, float* buffer) const;
  void multiply_forward(const Pass& pass, const Part& part, float* scratch,
                        float* products) const;
  void write_outputs(const Pass& pass, const Chunk& chunk, const Part& part,
                     const float* products, const Stored& dst, float* buffer) const;
  void store_tile(const TilePlace& place, Range channels, const float* tile,
                  const Stored& dst) const;

  void finish_gradient(const Pass& pass, std::size_t pack, Range channels,
                       const Activation& dst) const;
  void transform_gradients(const Pass& pass, const Chunk& chunk, const Stored& gradient,
                           std::size_t pack, Range channels, float* buffer) const;
  void transpose_sources(const Pass& pass, const Chunk& chunk, const Band& images,
                         Range channels, float* turned) const;
  void transform_turned_sources(const Pass& pass, const Chunk& chunk, const Band& images,
                                std::size_t pack, Range channels, float* panels,
                                float* scratch) const;
  void transform_for_backward(const Pass& pass, const Chunk& chunk, Range turned,
                              const Activation& src, const Activation& dst) const;
  void multiply_backward(const Pass& pass, const Part& part, float* scratch,
                         float* products) const;
  void add_source_gradients(const Pass& pass, const Chunk& chunk, const Part& part,
                            const float* products, const GradientBands& bands) const;
  GradientBands gradient_bands(const Chunk& chunk, Range channels, Range packs,
                               const Stored& src_gradient, float* buffer) const;
  void store_bands(const Chunk& chunk, Range channels, Range packs,
                   const GradientBands& bands, const Stored& src_gradient) const;
  void source_backward(const Pass& pass, const Chunk& chunk, const Part& part,
                       float* scratch, const Stored& src_gradient, float* buffer) const;
  void multiply_columns(const Pass& pass, int t, Range columns, std::size_t row,
                        std::size_t channel, const float* next, float* dst) const;
  void taps_backward(const Pass& pass, const Chunk& chunk, Range rows, Range channels,
                     std::size_t first_turned, bool accumulate, float* scratch) const;
  void gradients_from_products(const Pass& pass, const Chunk& chunk, Range turned,
                               bool accumulate, const Stored& src_gradient) const;
  void add_bias_shares(const Pass& pass) const;

  WinogradPlan plan_;
  Shape src_, dst_;
  bool relu_;
  bool has_bias_;
  TapsPlan taps_;
  std::size_t block_;  // columns multiplied at a time
  int turned_;         // source channels whose taps' gradient is computed at a time
  Panels sources_, turned_sources_, gradients_;
  Workspace forward_, backward_;
  SlotId bias_shares_{};  // [pack][channel]
};

}  // namespace convoy
