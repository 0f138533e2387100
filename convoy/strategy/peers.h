// SPDX-License-Identifier: Apache-2.0
//
// Peers: how a strategy talks to the other ranks.

#pragma once

#include "convoy/comm/async_comm.h"

namespace convoy {

/// Borrowed, all of it.
struct Peers {
  Comm& comm;
  AsyncComm& background;  // of the same Comm
  const ReductionOrder& order;

  /// The Comm, once nothing is under way in the background. Throws PeerError.
  Comm& idle_comm() const {
    background.wait_all();
    return comm;
  }
};

}  // namespace convoy
