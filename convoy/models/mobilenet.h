// SPDX-License-Identifier: Apache-2.0
//
// MobileNetV2, under torchvision's names.

#pragma once

#include "convoy/network/model.h"

namespace convoy {

/// Of width 1.0.
Model mobilenet_v2(Shape input, int classes);

}  // namespace convoy
