// SPDX-License-Identifier: Apache-2.0
//
// GlooBaseline: Gloo's own all-reduce, for comparison.

#pragma once

#include <span>

#include "convoy/comm/gloo_mesh.h"

namespace convoy {

class GlooBaseline {
 public:
  GlooBaseline(const CommOptions& options, KeyValueStore& store)
      : mesh_(options, store) {}

  /// Computes the sum over all ranks, in Gloo's order. Throws what Gloo throws.
  void all_reduce(std::span<float> whole);

 private:
  GlooMesh mesh_;
  std::uint32_t calls_ = 0;
};

}  // namespace convoy
