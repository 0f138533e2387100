// SPDX-License-Identifier: Apache-2.0
//
// Every table of kernels that this processor can run: one an instruction set, not only
// the best, which fast_kernels() gives.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/network/kernels/kernels.h"

// As in fast.cpp: what is not compiled cannot be chosen.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/targets.h"

namespace convoy {

inline std::vector<const Kernels*> all_fast_kernels() {
  std::vector<const Kernels*> tables;
  const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  for (std::int64_t left = usable; left != 0; left &= left - 1) {
    hwy::GetChosenTarget().Update(left & -left);
    tables.push_back(&fast_kernels());
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return tables;
}

/// Of a parameterised test over tables.
inline std::string table_name(const Kernels* kernels) { return kernels->name; }

}  // namespace convoy
