// SPDX-License-Identifier: Apache-2.0
//
// Residual networks, under torchvision's names.

#pragma once

#include "convoy/network/model.h"

namespace convoy {

/// For small images: a 3x3 stem without pool, PyTorch's default initial weights.
Model resnet18_cifar(Shape input, int classes);

Model resnet18(Shape input, int classes);
Model resnet50(Shape input, int classes);

}  // namespace convoy
