// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

namespace convoy {

/// Returns the sum of the squares, in double precision and in an order that the count
/// alone determines.
double sum_of_squares(std::span<const float> numbers);

}  // namespace convoy
