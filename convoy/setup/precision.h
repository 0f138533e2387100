// SPDX-License-Identifier: Apache-2.0
//
// What the settings say about the types of numbers (docs/precision.md).

#pragma once

#include <optional>
#include <string>

#include "convoy/base/float16.h"
#include "convoy/optimizer/loss_scaler.h"
#include "convoy/params/stored_types.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// Of values and activations (precision).
Dtype value_dtype(const Settings& settings);
/// Of gradients and their sums, as they are exchanged (precision, ddp.compress).
Dtype gradient_dtype(const Settings& settings);

/// Types of the values of a layout.
StoredTypes stored_types(const Settings& settings, const Layout& layout);

/// None: the loss is not scaled.
std::optional<LossScaleOptions> loss_scale_options(const Settings& settings);

/// Lines of a run's plan; with amp_o2 the options as Apex prints them. Empty if
/// everything is fp32.
std::string precision_lines(const Settings& settings);

}  // namespace convoy
