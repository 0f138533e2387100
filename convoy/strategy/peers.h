// SPDX-License-Identifier: Apache-2.0
//
// Peers: how a strategy communicates with the other ranks.

#pragma once

#include "convoy/comm/async_comm.h"

namespace convoy {

/// Borrowed, all of it.
struct Peers {
  Comm& comm;
  AsyncComm& background;  // of the same Comm
  const ReductionOrder& order;

  /// The Comm, once no background operation is running. Throws PeerError.
  Comm& idle_comm() const {
    background.wait_all();
    return comm;
  }
};

}  // namespace convoy
