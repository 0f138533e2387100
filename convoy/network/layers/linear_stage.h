// SPDX-License-Identifier: Apache-2.0
//
// A linear layer, and the ReLU that may follow it.

#pragma once

#include <memory>

#include "convoy/network/layers/linear.h"
#include "convoy/network/stage.h"

namespace convoy {

std::unique_ptr<Stage> make_linear_stage(const StageContext& context, const Linear& layer,
                                         Shape src, bool relu);

}  // namespace convoy
