// SPDX-License-Identifier: Apache-2.0
//
// AverageStage: the means of windows of each channel, which need not be of one size.

#pragma once

#include <vector>

#include "convoy/network/stage.h"

namespace convoy {

/// A window's pixels [begin, end) in one direction, and how many it counts for.
struct AverageSpan {
  int begin, end;
  int count;
};

/// The windows of the rows of results, and of their columns.
struct AverageWindows {
  std::vector<AverageSpan> rows, columns;
};

class AverageStage final : public Stage {
 public:
  AverageStage(const StageContext& context, AverageWindows windows, Shape src, Shape dst);

  void forward(const Pass& pass, Activations sources, const Activation& result) override;
  void backward(const Pass& pass, Activations sources, const Activation& dst) override;
  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }
  bool takes_stored() const override { return true; }

 private:
  void average(const AverageSpan& rows, const AverageSpan& columns, const float* plane,
               float* mean) const;
  void pass_back(const AverageSpan& rows, const AverageSpan& columns,
                 const float* gradient, float* plane) const;

  AverageWindows windows_;
  Shape src_, dst_;
  bool overlap_;
};

}  // namespace convoy
