// SPDX-License-Identifier: Apache-2.0
//
// Where parameter servers listen, by way of the job's store: server i says it under
// "ps/server/<i>" as "address:port", and stays there for as long as the job lasts.

#pragma once

#include <chrono>
#include <vector>

#include "convoy/ps_transport/worker_port.h"
#include "convoy/rendezvous/key_value_store.h"

namespace convoy {

/// Tells workers where that server is. From then on it has to answer them.
void publish_server(KeyValueStore& store, int server, const ServerAddress& address);

/// All of them, by number, as soon as each has said it. Throws PeerError that names one
/// which has not within `timeout`.
std::vector<ServerAddress> find_servers(KeyValueStore& store, int servers,
                                        std::chrono::milliseconds timeout);

}  // namespace convoy
