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
    case KernelSet::avx512_amx:
      return HWY_AVX3;
    case KernelSet::avx2:
      return HWY_AVX2;
    case KernelSet::neon:
      return HWY_NEON;
    default:
      return 0;
  }
}

/// The plain sets, by their kind of products, which every processor can run.
constexpr KernelSet kPlain[] = {KernelSet::reference, KernelSet::reference_bf16,
                                KernelSet::reference_amx};

/// Whether its instructions are compiled, and the processor has them.
bool is_available(KernelSet set) {
  if (set == KernelSet::avx512_bf16 && !has_avx512_bf16()) return false;
  if (set == KernelSet::avx512_amx && !has_amx()) return false;
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
    case KernelSet::avx512_amx:
      return "avx512+amx";
    case KernelSet::reference_amx:
      return "reference+amx";
    default:
      return "reference";
  }
}

std::vector<KernelSet> available_kernel_sets(Products products) {
  using enum KernelSet;
  std::vector<KernelSet> sets;
  for (const KernelSet set : {avx512, avx2, neon, avx512_bf16, avx512_amx}) {
    if (products_of(set) == products && is_available(set)) sets.push_back(set);
  }
  sets.push_back(kPlain[static_cast<int>(products)]);
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
