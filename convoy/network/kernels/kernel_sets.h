// SPDX-License-Identifier: Apache-2.0
//
// Which kernel sets this processor can run. All sets with the same kind of products end
// at the same bits, so which of them it is, is only a question of speed: each rank of a
// job may use another.

#pragma once

#include <string>
#include <vector>

#include "convoy/network/kernels/kernel_set.h"

namespace convoy {

/// As the setting network.kernels names it: "avx2", "avx512+bf16".
const char* name_of(KernelSet set);

/// Those with such products that this processor can run, the best first; the last is the
/// plain one.
std::vector<KernelSet> available_kernel_sets(Products products = Products::fp32);

/// The best for this processor, with fp32 products: the reference where there are no
/// others.
KernelSet best_kernel_set();

/// The sets' names: "avx2, reference".
std::string names_of(const std::vector<KernelSet>& sets);

/// What the fast kernels are written with: "Highway 1.0.3".
const char* kernel_library();

}  // namespace convoy
