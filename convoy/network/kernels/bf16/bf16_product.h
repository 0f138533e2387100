// SPDX-License-Identifier: Apache-2.0
//
// The product of product.h with operands of bf16: what the kernel sets avx512+bf16 and
// reference+bf16 have instead of the fp32 form. Their bits are those of the instruction
// VDPBF16PS, and other than those of the other sets:
//
// - a and b are rounded to bf16, to nearest even; subnormal numbers become zeros,
// - k and k + 1 are a pair, in each piece: the product of k + 1 is added to the sum, then
//   that of k, each by a fused multiply-add, whose result becomes zero if it is
//   subnormal; where a chain has an odd number of k, the last one's partner is zero.
//
// Chains and pieces are as in the fp32 form.

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

}  // namespace convoy
