// SPDX-License-Identifier: Apache-2.0
//
// Draws the confusion matrix as a PNG: a heat map with one row per true class and one
// column per predicted class.

#pragma once

#include <string>

#include "convoy/report/classification.h"

namespace convoy {

/// Returns the bytes of a PNG file. Long names are truncated.
std::string confusion_png(const ConfusionMatrix& matrix, const std::string& title);

}  // namespace convoy
