// SPDX-License-Identifier: Apache-2.0
//
// Peers: how a strategy communicates with the other ranks.

#pragma once

#include "convoy/comm/async_comm.h"

namespace convoy {

/// Everything is borrowed.
struct Peers {
  Comm& comm;
  AsyncComm& background;  // of the same Comm
  const ReductionOrder& order;

  /// Returns the Comm, after all background operations. Throws PeerError.
  Comm& idle_comm() const {
    background.wait_all();
    return comm;
  }
};

}  // namespace convoy
