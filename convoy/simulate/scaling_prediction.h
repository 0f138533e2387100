// SPDX-License-Identifier: Apache-2.0
//
// predict: how a training would scale: what a step takes with each strategy on more and
// more machines, from what this machine was measured to do.

#pragma once

#include <string>
#include <vector>

#include "convoy/settings/settings.h"

namespace convoy {

struct PredictOptions {
  std::vector<int> nodes = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  std::string profile;  // a file: read if it is there, else measured and written
  bool weak = false;    // train.batch_size is of one node: more nodes, larger batch
  bool as_json = false;
  int at_once = 0;     // ranks that compute at once while measuring; 0: those of a node
  double seconds = 2;  // how long to measure a pass
};

/// The table, or a JSON object. Throws InputError, and PeerError if a process of a
/// measurement dies.
std::string predict(const Settings& settings, const PredictOptions& options);

}  // namespace convoy
