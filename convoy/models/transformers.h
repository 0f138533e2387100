// SPDX-License-Identifier: Apache-2.0
//
// Vision transformers under timm's names.

#pragma once

#include "convoy/network/model.h"

namespace convoy {

Model vit_b_32(Shape input, int classes);
Model vit_b_16(Shape input, int classes);
Model vit_s_16(Shape input, int classes);
Model vit_ti_16(Shape input, int classes);
/// For 32x32 images: patches of 4, about a million parameters.
Model vit_cifar(Shape input, int classes);

}  // namespace convoy
