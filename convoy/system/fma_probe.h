// SPDX-License-Identifier: Apache-2.0
//
// The FMA probe: measures the machine's current speed of multiply-adds.
//
// Virtual cores share physical ones, so their speed changes from minute to minute. A
// measured time is meaningful only together with the machine's speed at that time, which
// the probe measures, in vectors as wide as those of the kernels.

#pragma once

#include <string_view>
#include <vector>

#include "convoy/system/thread_team.h"

namespace convoy {

/// The vectors that the probe multiplies. Plain ones are those of any processor.
enum class FmaVectors { plain, avx2, avx512 };

/// "AVX2"
std::string_view name_of(FmaVectors vectors);

/// Those that a processor with these features has (CpuInfo::features), the widest first:
/// AVX-512 where Highway uses it, that is with F, BW, CD, DQ and VL.
std::vector<FmaVectors> fma_vectors(std::string_view features);

/// The widest of this processor.
FmaVectors widest_fma_vectors();

/// GFLOP/s of fused multiply-adds in registers on all threads of the team, over about
/// `milliseconds`. Requires: the processor has these vectors.
double fma_probe_gflops(ThreadTeam& team, double milliseconds = 50,
                        FmaVectors vectors = widest_fma_vectors());

}  // namespace convoy
