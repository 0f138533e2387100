// SPDX-License-Identifier: Apache-2.0
//
// KernelSet: one instruction set's kernels. All sets end at the same bits, so a set is
// only a question of speed: each rank of a job may use another.

#pragma once

#include <string>
#include <vector>

#include "convoy/network/kernels/kernel_set.h"
#include "convoy/network/kernels/kernels.h"

namespace convoy {

/// As the setting network.kernels names it: "avx2".
const char* name_of(KernelSet set);

/// Those that this processor can run, the best first; the last is the reference.
std::vector<KernelSet> available_kernel_sets();

/// Requires: the set is available.
const Kernels& kernels_of(KernelSet set);

/// The sets' names: "avx2, reference".
std::string names_of(const std::vector<KernelSet>& sets);

/// The vectorized kernels of a set: nullptr if this processor cannot run them. Defined in
/// fast.cpp.
const Kernels* vector_kernels(KernelSet set);

}  // namespace convoy
