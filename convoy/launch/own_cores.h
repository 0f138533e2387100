// SPDX-License-Identifier: Apache-2.0
//
// The cores of a rank that is already running: as its launcher says, or its fair share.

#pragma once

#include "convoy/launch/place.h"

namespace convoy {

/// How many threads this rank should have; keeps it on cores of its own if `pin`, it is
/// one of several here, and nobody else has bound it. Call it before there are threads.
///
/// convoy's launcher has bound its ranks, srun and mpirun may have: if as many masks as
/// this process has fit side by side on the machine, the mask is taken for a share.
/// torchrun binds nobody.
int take_cores(const Place& place, const Environment& environment, bool pin);

}  // namespace convoy
