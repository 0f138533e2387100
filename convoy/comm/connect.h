// SPDX-License-Identifier: Apache-2.0
//
// connect: makes the Comm of a rank.

#pragma once

#include <memory>
#include <string>

#include "convoy/comm/comm.h"
#include "convoy/comm/comm_options.h"
#include "convoy/rendezvous/key_value_store.h"

namespace convoy {

/// Waits for all ranks, which must use the same name and transport. The store is needed
/// until this returns. Throws PeerError that names a rank that does not connect.
std::unique_ptr<Comm> connect(const CommOptions& options, KeyValueStore& store);

/// The library that carries messages over TCP, with its version.
std::string transport_library();

}  // namespace convoy
