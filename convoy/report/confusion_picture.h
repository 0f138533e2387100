// SPDX-License-Identifier: Apache-2.0
//
// The confusion matrix as a picture, in PNG: a heat map with a row for each true class
// and a column for each predicted one.

#pragma once

#include <string>

#include "convoy/report/classification.h"

namespace convoy {

/// The bytes of a PNG file. Long names are cut.
std::string confusion_png(const ConfusionMatrix& matrix, const std::string& title);

}  // namespace convoy
