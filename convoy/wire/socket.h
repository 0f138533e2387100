// SPDX-License-Identifier: Apache-2.0
//
// Sockets: listening and connecting over TCP, and which address others reach us at.

#pragma once

#include <chrono>
#include <string>

#include "convoy/system/descriptor.h"

namespace convoy {

/// An open listening socket. It holds its port from the moment it is made, so whoever is
/// told the port finds it: there is no time at which another process could take it.
struct Listener {
  Descriptor socket;
  std::string address;  // it listens on, as numbers
  int port = 0;
};

/// Listens on that address of this machine. Port 0 takes a free one. Throws InputError of
/// kind `settings`, which names the port, if it is in use or the address is not ours.
Listener listen_on(const std::string& address, int port);

/// Who is looked for, as an error names it.
struct Service {
  int rank = 0;
  std::string name = "the rendezvous";
};

/// A connection, tried again and again until `deadline`, since the other side may start
/// later. Throws PeerError, naming the service and its rank, when time is up.
Descriptor connect_to(const std::string& address, int port,
                      std::chrono::steady_clock::time_point deadline,
                      const Service& service = {});

/// The address of this machine that packets to `address` leave from. Asks the kernel for
/// the route, sends nothing. Throws PeerError if there is no route or no such name.
std::string local_address_towards(const std::string& address);

/// Whether an address or name means this machine alone: 127.0.0.1, localhost, ::1.
bool is_loopback(const std::string& address);

/// "10.0.0.2:51234", who is at the other end.
std::string peer_name(int socket);

/// Whether who is at the other end has the same address as this end.
bool is_from_here(int socket);

}  // namespace convoy
