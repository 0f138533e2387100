// SPDX-License-Identifier: Apache-2.0
//
// connect: from a rank's number to a connected Comm.

#pragma once

#include <memory>
#include <string>

#include "convoy/comm/comm.h"
#include "convoy/comm/comm_options.h"
#include "convoy/rendezvous/key_value_store.h"

namespace convoy {

/// Waits for all ranks, which must use the same name and transport. The store is needed
/// until this returns. Throws PeerError that names a rank which does not come.
std::unique_ptr<Comm> connect(const CommOptions& options, KeyValueStore& store);

/// What carries messages over TCP, with its version.
std::string transport_library();

}  // namespace convoy
