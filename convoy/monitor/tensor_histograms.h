// SPDX-License-Identifier: Apache-2.0
//
// Histograms of all tensors of a network, as a record of metrics.jsonl has them.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "convoy/params/flat_buffer.h"

namespace convoy {

/// {"least", "most", "counts"}: how many of the finite numbers are in each of
/// kHistogramParts equal parts from the least to the largest.
nlohmann::ordered_json histogram_json(std::span<const float> numbers);

inline constexpr std::size_t kHistogramParts = 40;

/// {"weights/NAME": histogram, "gradients/NAME": histogram}; a tensor that is not trained
/// has no gradient.
nlohmann::ordered_json tensor_histograms(const Layout& layout, const FlatBuffer& values,
                                         const FlatBuffer& gradients);

}  // namespace convoy
