// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/kernel_sets.h"

#include "convoy/base/error.h"

namespace convoy {

const char* name_of(KernelSet set) {
  switch (set) {
    case KernelSet::avx512:
      return "avx512";
    case KernelSet::avx2:
      return "avx2";
    case KernelSet::neon:
      return "neon";
    default:
      return "reference";
  }
}

std::vector<KernelSet> available_kernel_sets() {
  std::vector<KernelSet> sets;
  for (const KernelSet set : {KernelSet::avx512, KernelSet::avx2, KernelSet::neon}) {
    if (vector_kernels(set) != nullptr) sets.push_back(set);
  }
  sets.push_back(KernelSet::reference);
  return sets;
}

const Kernels& kernels_of(KernelSet set) {
  if (set == KernelSet::reference) return reference_kernels();
  const Kernels* kernels = vector_kernels(set);
  check(kernels != nullptr, "the processor can run the kernels that were chosen");
  return *kernels;
}

std::string names_of(const std::vector<KernelSet>& sets) {
  std::string names;
  for (const KernelSet set : sets)
    names += (names.empty() ? "" : ", ") + std::string(name_of(set));
  return names;
}

const Kernels& fast_kernels() {
  static const Kernels& best = kernels_of(available_kernel_sets().front());
  return best;
}

}  // namespace convoy
