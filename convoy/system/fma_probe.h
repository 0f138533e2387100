// SPDX-License-Identifier: Apache-2.0
//
// The FMA probe: how fast this machine multiplies and adds at this moment.
//
// Virtual cores share real ones, from one minute to the next. A measured time is
// meaningful only together with the machine's speed at that moment, which the probe
// measures.

#pragma once

#include "convoy/system/thread_team.h"

namespace convoy {

/// GFLOP/s of fused multiply-adds in registers on all threads of the team, over about
/// `milliseconds`.
double fma_probe_gflops(ThreadTeam& team, double milliseconds = 50);

}  // namespace convoy
