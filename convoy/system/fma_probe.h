// SPDX-License-Identifier: Apache-2.0
//
// The FMA probe: measures the machine's current speed of multiply-adds.
//
// Virtual cores share physical ones, so their speed changes from minute to minute. A
// measured time is meaningful only together with the machine's speed at that time, which
// the probe measures.

#pragma once

#include "convoy/system/thread_team.h"

namespace convoy {

/// GFLOP/s of fused multiply-adds in registers on all threads of the team, over about
/// `milliseconds`.
double fma_probe_gflops(ThreadTeam& team, double milliseconds = 50);

}  // namespace convoy
