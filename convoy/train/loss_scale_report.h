// SPDX-License-Identifier: Apache-2.0
//
// LossScaleReport: what a run reports about its loss scale: a message per skipped step,
// numbers of records and of the summary, and why a run without any scale left ends.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "convoy/optimizer/loss_scaler.h"

namespace convoy {

class LossScaleReport {
 public:
  /// Borrows the scaler for as long as it lives; nullptr: the loss is not scaled, and
  /// there is nothing to report.
  explicit LossScaleReport(const LossScaler* scaler) : scaler_(scaler) {}

  /// Skipped steps are reported from now on.
  void begin();

  /// What to say, if steps were skipped since the last call.
  std::optional<std::string> news();

  /// Adds the group "amp" to the fields of a record, or of a summary.
  nlohmann::ordered_json with_fields(nlohmann::ordered_json fields) const;

  /// Why the run cannot go on at this place ("at step 4"); empty if it can.
  std::string reason_to_end(const std::string& place) const;

 private:
  const LossScaler* scaler_;
  std::uint64_t reported_ = 0;  // skipped steps
};

}  // namespace convoy
