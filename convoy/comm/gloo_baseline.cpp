// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/gloo_baseline.h"

#include <gloo/allreduce.h>
#include <gloo/math.h>

namespace convoy {

void GlooBaseline::all_reduce(std::span<float> whole) {
  ::gloo::AllreduceOptions options(mesh_.data());
  options.setOutput(whole.data(), whole.size());
  options.setReduceFunction(
      static_cast<void (*)(void*, const void*, const void*, std::size_t)>(
          &::gloo::sum<float>));
  options.setTag(++calls_);
  ::gloo::allreduce(options);
}

}  // namespace convoy
