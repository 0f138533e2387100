// SPDX-License-Identifier: Apache-2.0
//
// The confusion matrix as a picture: one SVG file, which needs nothing else.
//
// A row is a true class, a column a predicted one. A cell's colour is its share of the
// row, from white to dark blue, so that grey print keeps the order; its number is the
// count (left out beyond 30 classes, where it could not be read). Pointing at a cell
// tells the classes, the count and the share.

#pragma once

#include <string>

#include "convoy/report/classification.h"

namespace convoy {

/// An SVG document. Names and title are escaped; long names are cut.
std::string confusion_svg(const ConfusionMatrix& matrix, const std::string& title);

}  // namespace convoy
