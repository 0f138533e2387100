// SPDX-License-Identifier: Apache-2.0
//
// The addresses of parameter servers, published in the job's store: server i publishes
// "address:port" under "ps/server/<i>", and listens there for as long as the job lasts.

#pragma once

#include <chrono>
#include <vector>

#include "convoy/ps_transport/worker_port.h"
#include "convoy/rendezvous/key_value_store.h"

namespace convoy {

/// Publishes that server's address. From then on it must answer workers.
void publish_server(KeyValueStore& store, int server, const ServerAddress& address);

/// Waits for all servers to publish their addresses, and returns them by number. Throws
/// PeerError that names a server that does not within `timeout`.
std::vector<ServerAddress> find_servers(KeyValueStore& store, int servers,
                                        std::chrono::milliseconds timeout);

}  // namespace convoy
