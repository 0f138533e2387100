// SPDX-License-Identifier: Apache-2.0
//
// Histograms of all tensors of a network, as a record of metrics.jsonl has them.

#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "convoy/monitor/event_records.h"
#include "convoy/params/flat_buffer.h"

namespace convoy {

/// {"least", "most", "counts"}: how many of the finite numbers are in each of
/// kHistogramParts equal parts from the least to the largest.
nlohmann::ordered_json histogram_json(std::span<const float> numbers);

inline constexpr std::size_t kHistogramParts = 40;

/// Collects histograms of all tensors, and writes each to the event file as well.
class TensorHistograms {
 public:
  /// Borrows layout and events for as long as it lives.
  TensorHistograms(const Layout& layout, EventRecords& events, std::size_t step)
      : layout_(layout), events_(events), step_(step) {}

  void add_weights(UnitId unit, const FlatBuffer& values);
  /// A tensor that is not trained has none.
  void add_gradients(UnitId unit, const FlatBuffer& gradients);

  /// {"weights/NAME": histogram, "gradients/NAME": histogram}
  const nlohmann::ordered_json& json() const { return json_; }

 private:
  void add(const std::string& name, std::span<const float> numbers);

  const Layout& layout_;
  EventRecords& events_;
  std::size_t step_;
  nlohmann::ordered_json json_ = nlohmann::ordered_json::object();
};

}  // namespace convoy
