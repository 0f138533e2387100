// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace convoy {

/// One instruction set's kernels. The best comes first. All but the last need fused
/// multiply-adds in vectors. All sets end at the same bits.
enum class KernelSet { avx512, avx2, neon, reference };

}  // namespace convoy
