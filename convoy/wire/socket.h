// SPDX-License-Identifier: Apache-2.0
//
// Sockets: listening and connecting over TCP, and which address others reach us at.

#pragma once

#include <chrono>
#include <string>

#include "convoy/system/descriptor.h"

namespace convoy {

/// An open listening socket. It holds its port from the moment it is made: no other
/// process can take the port before a peer connects to it.
struct Listener {
  Descriptor socket;
  std::string address;  // it listens on, as numbers
  int port = 0;
};

/// Listens on that address of this machine. Port 0 takes a free one. Throws InputError of
/// kind `settings`, which names the port, if it is in use or the address is not ours.
Listener listen_on(const std::string& address, int port);

/// A service of the job, and the rank that hosts it.
struct ServiceAddress {
  std::string host;
  int port = 0;
  int rank = 0;
  std::string name = "the rendezvous";
};

/// "the rendezvous at 10.0.0.2:4711".
std::string to_text(const ServiceAddress& service);

/// A connection that blocks, tried again and again until `deadline`, since the other side
/// may start later. Throws PeerError, naming the service and its rank, when time is up.
Descriptor connect_to(const ServiceAddress& service,
                      std::chrono::steady_clock::time_point deadline);

/// From now on calls on the socket wait.
void set_blocking(int socket);

/// Raises this process's limit of open files, if it is below `count`. Throws InputError
/// of kind `storage` if the system does not allow so many; `what_for` says who needs
/// them.
void reserve_descriptors(std::size_t count, const std::string& what_for);

/// The address of this machine that packets to `address` leave from. Asks the kernel for
/// the route, sends nothing. Throws PeerError if there is no route or no such name.
std::string local_address_towards(const std::string& address);

/// Whether an address or name means this machine alone: 127.0.0.1, localhost, ::1.
bool is_loopback(const std::string& address);

/// "10.0.0.2:51234": the peer of a connection.
std::string peer_name(int socket);

/// Whether the peer of a connection has the same address as this end.
bool is_from_here(int socket);

}  // namespace convoy
