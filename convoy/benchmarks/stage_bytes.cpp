// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/stage_bytes.h"

namespace convoy {
namespace {

StageBytes bytes_of(std::size_t forward_floats, std::size_t backward_floats) {
  return {.forward = static_cast<double>(forward_floats * sizeof(float)),
          .backward = static_cast<double>(backward_floats * sizeof(float))};
}

}  // namespace

std::size_t parameters_of(const std::string& stage, const Layout& layout) {
  std::size_t count = 0;
  for (const char* kind : {".weight", ".bias"}) {
    const auto segment = layout.find(stage + kind);
    if (segment) count += layout.segment(*segment).range.size();
  }
  return count;
}

StageBytes least_bytes(const StageReport& stage, const StageLoad& load) {
  const std::size_t src = stage.src.size(), dst = stage.dst.size();
  const std::size_t sources = src + (stage.adds_residual ? dst : 0);
  const std::size_t parameters = load.passes * load.parameters;
  const std::size_t again = load.parameters > 0 ? src : 0;
  const std::size_t forward = load.samples * (sources + dst) + parameters;
  std::size_t backward = load.samples * (dst + again) + parameters;
  if (load.source_has_gradient) backward += load.samples * sources + parameters;
  return bytes_of(forward, backward);
}

}  // namespace convoy
