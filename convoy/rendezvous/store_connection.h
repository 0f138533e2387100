// SPDX-License-Identifier: Apache-2.0
//
// StoreConnection: one connection as the rendezvous sees it. Internal to StoreServer.
//
// First a stranger, who has to prove knowledge of the token; then a guest, who has to say
// hello; then a member. Reading and writing never wait.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/rendezvous/store_protocol.h"
#include "convoy/system/descriptor.h"
#include "convoy/wire/token_proof.h"

namespace convoy {

struct StoreConnection {
  enum class Stage { stranger, guest, member };

  /// A get that waits for its key.
  struct Wait {
    std::uint32_t id;
    std::string key;
    Steady::time_point deadline;
  };

  /// Takes a connected socket that does not block, and sends the challenge.
  explicit StoreConnection(Descriptor connected);

  /// Reads what there is. False if the other side has closed, or is broken.
  bool read();

  /// Writes what goes out now; the rest stays in `out`. False if it is broken, or if the
  /// other side does not read.
  bool write();

  void send(const Message& message) { append(message, out); }

  Descriptor socket;
  std::string peer;  // address and port
  Nonce nonce = fresh_nonce();
  Stage stage = Stage::stranger;
  Steady::time_point since = Steady::now(), last_heard = since;
  Bytes proof;  // of a stranger, as far as it has come
  MessageBuffer in;
  Bytes out;
  Hello hello;             // of a member
  std::uint64_t step = 0;  // of a member, as it last said
  std::vector<Wait> waits;
  std::vector<std::string> watches;  // prefixes
};

}  // namespace convoy
