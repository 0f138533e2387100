// SPDX-License-Identifier: Apache-2.0
//
// StoreConnection: one connection as the rendezvous sees it. Internal to StoreServer.
//
// Its owner has proved the token (wire/admission.h); with its hello it becomes a member.
// Reading and writing never wait.

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

  /// Reads what there is. False if the other side has closed, or is broken.
  bool read();

  /// Writes what goes out now; the rest stays in `out`. False if it is broken, or if the
  /// other side does not read.
  bool write();

  void send(const Message& message) { append(message, out); }

  Descriptor socket;
  std::string peer;  // address and port
  bool is_member = false;
  Steady::time_point last_heard = Steady::now();
  MessageBuffer in;
  Bytes out;
  Hello hello;             // of a member
  std::uint64_t step = 0;  // of a member, as of its last message
  std::vector<Wait> waits;
  std::vector<std::string> watches;  // prefixes
};

}  // namespace convoy
