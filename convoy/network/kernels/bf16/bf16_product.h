// SPDX-License-Identifier: Apache-2.0
//
// The product of product.h with operands of bf16: a and b are rounded to bf16, to nearest
// even, and subnormal numbers become zeros, as do subnormal results of every operation.
// Chains and pieces are as in the fp32 form. k and k + 1 are a pair, in each piece; where
// a chain has an odd number of k, the last one's partner is zero. There are two kinds,
// each with bits of its own, which are those of an instruction:
//
// - VDPBF16PS, in the kernel sets avx512+bf16 and reference+bf16: the product of k + 1 is
//   added to the sum, then that of k, each by a fused multiply-add.
// - TDPBF16PS, in avx512+amx and reference+amx: of sixteen pairs, the products of all k
//   are one chain of fused multiply-adds, those of all k + 1 another; the sum of both is
//   added to that of the pairs before. The last pairs of a chain are filled up with
//   zeros.

#pragma once

#include "convoy/network/kernels/product.h"

namespace convoy {

/// The table of a set with bf16 products; its tiles and copies are those of fp32.
const ProductKernels& bf16_product_kernels(KernelSet set);

/// Whether avx512+bf16 is compiled, and the processor has its instructions besides those
/// of avx512.
bool has_avx512_bf16();

/// Requires: has_avx512_bf16().
void avx512_bf16_product(const Product& product);

/// The same of avx512+amx; the operating system must let the process use them, too.
bool has_amx();

// Require: has_amx().
void amx_product(const Product& product);
void amx_pack_left(const ToPack& tile);
void amx_pack_right(const ToPack& b);

}  // namespace convoy
