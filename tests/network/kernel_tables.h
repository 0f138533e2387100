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

using Numbers = std::vector<float>;

inline constexpr float kUntouched =
    77;  // what buffers hold where a kernel must not write

/// What pool_row makes of a row.
struct Pooled {
  Numbers dst;
  std::vector<std::uint8_t> argmax;
  bool operator==(const Pooled&) const = default;
};

inline Pooled pool(const Kernels& kernels, PoolRow row) {
  Pooled result = {Numbers(static_cast<std::size_t>(row.columns) * kPack + 1, kUntouched),
                   std::vector<std::uint8_t>(row.columns * kPack + 1, 255)};
  row.dst = result.dst.data();
  row.argmax = result.argmax.data();
  kernels.pool_row(row);
  return result;
}

}  // namespace convoy
