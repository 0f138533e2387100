// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace convoy {

/// How a set multiplies matrices: by fp32 numbers, or by bf16 numbers as one of two
/// instructions does (bf16/bf16_product.h).
enum class Products { fp32, bf16_dot, bf16_amx };

/// One instruction set's kernels. All but the plain ones need fused multiply-adds in
/// vectors. Sets with the same kind of products end at the same bits.
///
/// The first four have fp32 products, the best first. The others are avx512 and the
/// reference with products of bf16: they are in the order of bf16_product_kernels().
enum class KernelSet {
  avx512,
  avx2,
  neon,
  reference,
  avx512_bf16,
  reference_bf16,
  avx512_amx,
  reference_amx
};

constexpr Products products_of(KernelSet set) {
  if (set < KernelSet::avx512_bf16) return Products::fp32;
  return set < KernelSet::avx512_amx ? Products::bf16_dot : Products::bf16_amx;
}

}  // namespace convoy
