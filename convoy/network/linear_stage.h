// SPDX-License-Identifier: Apache-2.0
//
// LinearStage: a linear layer with bias, and the ReLU that may follow it.
//
// Three products, each cut by its output so that no sum is shared by tasks:
//
//   forward          dst[o][n]   = sum over f of  weight[o][f] * src[f][n]
//   source backward  dsrc[f][n]  = sum over o of  weight[o][f] * ddst[o][n]
//   weights backward dweight[o][f] = sum over n of  ddst[o][n] * src[f][n]
//
// o: outputs, f: features, n: images. Activations are laid out as [pack][f][16 images],
// so in the first two a pack is the right operand as it is. For the third the source is
// packed into panels [f / 16][n][16 features].

#pragma once

#include "convoy/network/model.h"
#include "convoy/network/stage.h"

namespace convoy {

struct LinearOptions {
  Linear layer;
  bool relu = false;
  SegmentId weight, bias;
};

class LinearStage final : public Stage {
 public:
  LinearStage(const StageContext& context, const Layout& layout,
              const LinearOptions& options);

  void forward(const Pass& pass, const float* src, float* dst) override;
  void backward(const Pass& pass, const Activation& src, const Activation& dst) override;

  bool backward_reads_src() const override { return true; }
  bool backward_reads_dst() const override { return relu_; }

 private:
  struct RowBlock;

  void finish_dst_gradient(const Pass& pass, const Activation& dst) const;
  void weights_backward(const Pass& pass, const float* src, const float* dst_gradient);
  void source_backward(const Pass& pass, const float* dst_gradient, float* src_gradient);
  void pack_panels(const Pass& pass, const float* src);
  void gradients_to_tiles(const Pass& pass, const RowBlock& block,
                          const float* dst_gradient, float* tiles) const;
  void weights_to_tiles(const Pass& pass, const RowBlock& block, int output, int depth,
                        float* tiles) const;

  int features_, outputs_;
  bool relu_;
  Range weight_, bias_;  // in the flat buffer
  SlotId weight_tiles_, gradient_tiles_, panels_;
};

}  // namespace convoy
