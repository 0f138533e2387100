// SPDX-License-Identifier: Apache-2.0
//
// The confusion matrix as a picture, in PNG.
//
// A row is a true class, a column a predicted one. A cell's colour is its share of the
// row, from white to dark blue, so that grey print keeps the order; its number is the
// count (left out beyond 30 classes, where it could not be read; names are left out where
// cells are smaller than letters).

#pragma once

#include <string>

#include "convoy/report/classification.h"

namespace convoy {

/// The bytes of a PNG file. Long names are cut.
std::string confusion_png(const ConfusionMatrix& matrix, const std::string& title);

}  // namespace convoy
