// SPDX-License-Identifier: Apache-2.0
//
// Sockets: listening and connecting over TCP, and the address at which others reach this
// machine.

#pragma once

#include <chrono>
#include <string>

#include "convoy/system/descriptor.h"

namespace convoy {

/// An open listening socket. It holds its port from the moment it is made: no other
/// process can take the port before a peer connects.
struct Listener {
  Descriptor socket;
  std::string address;  // that it listens on, in numeric form
  int port = 0;
};

/// Listens on that address of this machine. Port 0 takes a free one. Throws InputError of
/// kind `settings`, which names the port, if it is in use or the address is not this
/// machine's.
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

/// Makes a blocking connection, and retries until `deadline`, since the other side may
/// start later. Throws PeerError, naming the service and its rank, when time is up.
Descriptor connect_to(const ServiceAddress& service,
                      std::chrono::steady_clock::time_point deadline);

/// Makes the socket blocking.
void set_blocking(int socket);

/// Raises this process's limit of open files, if it is below `count`. Throws InputError
/// of kind `storage` if the system does not allow that; `what_for` says what needs them.
void reserve_descriptors(std::size_t count, const std::string& what_for);

/// Returns the address of this machine from which packets to `address` are sent. It asks
/// the kernel for the route and sends nothing. Throws PeerError if there is no route or
/// no such name.
std::string local_address_towards(const std::string& address);

/// Whether it is localhost or a loopback address: 127.0.0.1, ::1. Another name is not
/// one, whatever it begins with.
bool is_loopback(const std::string& address);

/// Returns the peer of a connection: "10.0.0.2:51234".
std::string peer_name(int socket);

/// Whether both ends of a connection have the same address.
bool is_from_here(int socket);

}  // namespace convoy
