// SPDX-License-Identifier: Apache-2.0
//
// StoreConnection: one connection of the rendezvous. Internal to StoreServer.
//
// Its peer has proved the token; with its hello it becomes a member. Reading and writing
// never block.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/rendezvous/store_protocol.h"
#include "convoy/system/descriptor.h"
#include "convoy/wire/admission.h"

namespace convoy {

struct StoreConnection {
  /// A get that waits for its key.
  struct Wait {
    std::uint32_t id;
    std::string key;
    Steady::time_point deadline;
  };

  explicit StoreConnection(ProvenPeer peer)
      : socket(std::move(peer.socket)), peer(std::move(peer.name)) {}

  /// Reads what is available. Returns false if the other side has closed or the
  /// connection is broken.
  bool read();

  /// Writes as much as possible; the rest stays in `out`. Returns false if the connection
  /// is broken, or if the other side does not read.
  bool write();

  void send(const Message& message) { append(message, out); }

  Descriptor socket;
  std::string peer;  // address and port
  bool is_member = false;
  Steady::time_point last_heard = Steady::now();
  MessageBuffer in;
  Bytes out;
  Hello hello;             // if a member
  std::uint64_t step = 0;  // if a member, as of its last message
  std::vector<Wait> waits;
  std::vector<std::string> watches;  // prefixes
};

}  // namespace convoy
