// SPDX-License-Identifier: Apache-2.0
//
// Where parameter servers listen, by way of the job's store: server i publishes
// "address:port" under "ps/server/<i>", and listens there for as long as the job lasts.

#pragma once

#include <chrono>
#include <vector>

#include "convoy/ps_transport/worker_port.h"
#include "convoy/rendezvous/key_value_store.h"

namespace convoy {

/// Publishes where that server is. From then on it has to answer workers.
void publish_server(KeyValueStore& store, int server, const ServerAddress& address);

/// All of them, by number, as soon as each is published. Throws PeerError that names one
/// which is not within `timeout`.
std::vector<ServerAddress> find_servers(KeyValueStore& store, int servers,
                                        std::chrono::milliseconds timeout);

}  // namespace convoy
