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

/// Adds the histograms of a unit's values by name: "weights/NAME"; and of its gradients,
/// which a tensor that is not trained has none of: "gradients/NAME".
void add_weight_histograms(const Layout& layout, UnitId unit, const FlatBuffer& values,
                           nlohmann::ordered_json& tensors);
void add_gradient_histograms(const Layout& layout, UnitId unit,
                             const FlatBuffer& gradients,
                             nlohmann::ordered_json& tensors);

}  // namespace convoy
