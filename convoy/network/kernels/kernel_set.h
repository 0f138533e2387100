// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace convoy {

/// One instruction set's kernels. The best comes first. All but the reference need fused
/// multiply-adds in vectors. All of them end at the same bits.
///
/// The last two are avx512 and the reference with other matrix products, those of bf16
/// (bf16/bf16_product.h): they end at the same bits as each other, which differ from
/// those of the sets before.
enum class KernelSet { avx512, avx2, neon, reference, avx512_bf16, reference_bf16 };

constexpr bool has_bf16_products(KernelSet set) {
  return set == KernelSet::avx512_bf16 || set == KernelSet::reference_bf16;
}

}  // namespace convoy
