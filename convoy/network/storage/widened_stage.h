// SPDX-License-Identifier: Apache-2.0
//
// A stage that reads and writes fp32 among activations of 16 bits: what it reads is
// widened as a whole before it runs, and what it writes is rounded afterwards. The copies
// live at the moments when it runs. Its results are those of a stage that does so itself.

#pragma once

#include <memory>
#include <vector>

#include "convoy/network/stage.h"

namespace convoy {

/// An activation's shape, and how it is stored.
struct StoredShape {
  Shape shape;
  Dtype dtype;
};

std::unique_ptr<Stage> widened(const StageContext& context, std::unique_ptr<Stage> stage,
                               const std::vector<StoredShape>& src,
                               const StoredShape& dst);

}  // namespace convoy
