// SPDX-License-Identifier: Apache-2.0
//
// predict: how training would scale: the time of a step with each strategy on increasing
// numbers of machines, from measurements of this machine.

#pragma once

#include <string>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

struct PredictOptions {
  std::vector<int> nodes = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  std::string profile;  // read if it exists, otherwise measured and written
  bool weak = false;    // weak scaling: train.batch_size is per node
  bool as_json = false;
  int at_once = 0;     // ranks that compute at once while measuring; 0: those of a node
  double seconds = 2;  // measuring time per pass
};

/// Returns a table, or a JSON object. Throws InputError, and PeerError if a measuring
/// process dies.
std::string predict(const Settings& settings, const PredictOptions& options);

}  // namespace convoy
