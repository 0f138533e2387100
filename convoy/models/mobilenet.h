// SPDX-License-Identifier: Apache-2.0
//
// MobileNetV2 and MobileNetV3-Small, under torchvision's names.

#pragma once

#include "convoy/network/model.h"

namespace convoy {

/// Of width 1.0.
Model mobilenet_v2(Shape input, int classes);

/// Its blocks have squeeze and excitation, and hard-swish.
Model mobilenet_v3_small(Shape input, int classes);

}  // namespace convoy
