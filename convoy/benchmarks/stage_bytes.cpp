// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/stage_bytes.h"

namespace convoy {
namespace {

StageBytes bytes_of(std::size_t forward_floats, std::size_t backward_floats) {
  return {.forward = static_cast<double>(forward_floats * sizeof(float)),
          .backward = static_cast<double>(backward_floats * sizeof(float))};
}

}  // namespace

StageBytes least_bytes(const StageReport& stage, const StageLoad& load) {
  const std::size_t dst = stage.dst.size();
  std::size_t sources = 0;
  for (const Shape src : stage.src) sources += src.size();
  const std::size_t parameters = load.passes * stage.parameters;
  const std::size_t again = stage.parameters > 0 ? stage.src.front().size() : 0;
  const std::size_t forward = load.samples * (sources + dst) + parameters;
  std::size_t backward = load.samples * (dst + again) + parameters;
  if (load.source_has_gradient) backward += load.samples * sources + parameters;
  return bytes_of(forward, backward);
}

}  // namespace convoy
