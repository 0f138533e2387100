// SPDX-License-Identifier: Apache-2.0
//
// Strategy: how the ranks agree on one update. It hears the passes and is told to step().

#pragma once

#include "convoy/params/pass_listener.h"

namespace convoy {

class Strategy : public PassListener {
 public:
  /// Turns the gradients of the passes since the last step into new values.
  virtual void step() = 0;
};

}  // namespace convoy
