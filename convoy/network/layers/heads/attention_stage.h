// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>

#include "convoy/network/layers/attention.h"
#include "convoy/network/stage_builder.h"

namespace convoy {

/// Of a stage that is one attention.
std::unique_ptr<Stage> make_attention_stage(const StageSpec& spec,
                                            const StageContext& context);

}  // namespace convoy
