// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/kernel_sets.h"

#include "convoy/network/kernels/bf16/bf16_product.h"
#include "convoy/network/kernels/instruction_sets.h"
#include "hwy/highway.h"

namespace convoy {
namespace {

/// The bit that Highway has for an instruction set.
std::int64_t target_of(KernelSet set) {
  switch (set) {
    case KernelSet::avx512:
    case KernelSet::avx512_bf16:
      return HWY_AVX3;
    case KernelSet::avx2:
      return HWY_AVX2;
    case KernelSet::neon:
      return HWY_NEON;
    default:
      return 0;
  }
}

/// Whether its instructions are compiled, and the processor has them.
bool is_available(KernelSet set) {
  return (HWY_TARGETS & hwy::SupportedTargets() & target_of(set)) != 0;
}

}  // namespace

const char* name_of(KernelSet set) {
  switch (set) {
    case KernelSet::avx512:
      return "avx512";
    case KernelSet::avx2:
      return "avx2";
    case KernelSet::neon:
      return "neon";
    case KernelSet::avx512_bf16:
      return "avx512+bf16";
    case KernelSet::reference_bf16:
      return "reference+bf16";
    default:
      return "reference";
  }
}

std::vector<KernelSet> available_kernel_sets() {
  std::vector<KernelSet> sets;
  for (const KernelSet set : {KernelSet::avx512, KernelSet::avx2, KernelSet::neon}) {
    if (is_available(set)) sets.push_back(set);
  }
  sets.push_back(KernelSet::reference);
  return sets;
}

std::vector<KernelSet> available_bf16_kernel_sets() {
  std::vector<KernelSet> sets;
  if (is_available(KernelSet::avx512_bf16) && has_avx512_bf16()) {
    sets.push_back(KernelSet::avx512_bf16);
  }
  sets.push_back(KernelSet::reference_bf16);
  return sets;
}

KernelSet best_kernel_set() {
  static const KernelSet best = available_kernel_sets().front();
  return best;
}

std::string names_of(const std::vector<KernelSet>& sets) {
  std::string names;
  for (const KernelSet set : sets)
    names += (names.empty() ? "" : ", ") + std::string(name_of(set));
  return names;
}

const char* kernel_library() {
  return "Highway " HWY_STR(HWY_MAJOR) "." HWY_STR(HWY_MINOR) "." HWY_STR(HWY_PATCH);
}

}  // namespace convoy
