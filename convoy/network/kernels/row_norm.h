// SPDX-License-Identifier: Apache-2.0
//
// Normalisation of rows over their features: what a layer norm computes, one pack of
// sixteen rows at a time.

#pragma once

#include <cstddef>

#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// Mean and 1 / standard deviation of sixteen rows.
struct RowMoments {
  float mean[16];
  float inverse[16];
};

/// dst = (src - mean) * inverse * scale + shift, for [features][16].
struct NormalizeRows {
  const float* src;
  std::size_t features;
  const float* scale;  // [features]
  const float* shift;
  float epsilon;  // added to the variance
  float* dst;
  RowMoments* moments;  // found here
};

/// The gradient of the source, from that of the result.
struct NormalizeRowsGradient {
  const float* dst_gradient;
  const float* src;
  std::size_t features;
  const float* scale;
  const RowMoments* moments;
  float* src_gradient;
};

/// Adds to sums[f] the gradients of feature f, and to products[f] those times the
/// normalised source, row by row: [features][16].
struct AddRowNormSums {
  const float* dst_gradient;
  const float* src;
  std::size_t features;
  const RowMoments* moments;
  float* sums;
  float* products;
};

struct RowNormKernels {
  void (*normalize)(const NormalizeRows&);
  void (*gradient)(const NormalizeRowsGradient&);
  void (*add_sums)(const AddRowNormSums&);
};

const RowNormKernels& row_norm_kernels(KernelSet set);

}  // namespace convoy
