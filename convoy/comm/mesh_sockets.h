// SPDX-License-Identifier: Apache-2.0
//
// MeshSockets: the TCP connections of a mesh, kChannels between any two ranks.
//
//   rank 2 -- hello  --> rank 0    its rank, and a proof that it can read the store
//   rank 2 <-- answer -- rank 0    the same proof of rank 0
//
// Every rank listens on one port and connects to the ranks below its own. A peer that
// connects without the proof (closes, resets, sends something else, or sends nothing) is
// dropped, and the port stays open for the ranks, which try again until the timeout. So a
// stranger can delay a job, but can neither end it nor join it.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "convoy/comm/comm_options.h"
#include "convoy/rendezvous/key_value_store.h"
#include "convoy/system/descriptor.h"
#include "convoy/wire/socket.h"

namespace convoy {

class MeshSockets {
 public:
  static constexpr std::size_t kChannels = 2;  // connections between two ranks

  /// Connects; returns when all ranks are connected to this one. Throws PeerError that
  /// names a rank that is not.
  MeshSockets(const CommOptions& options, KeyValueStore& store);

  /// Returns the connection to a rank; the caller owns it.
  Descriptor take(std::size_t channel, int peer);

 private:
  /// What a rank publishes in the store for the other ranks.
  struct Invitation {
    std::vector<std::byte> secret;
    std::string address;
    int port = 0;
  };
  /// A peer that has connected but not yet proved to be a rank.
  struct Stranger {
    Descriptor socket;
    std::string received{};
  };

  void publish(KeyValueStore& store, const Listener& listener) const;
  Invitation read_invitation(KeyValueStore& store, int peer) const;
  std::string greeting(int from, int to, std::size_t channel) const;
  std::string hello_to(int peer, std::size_t channel) const;

  void connect_to_peer(int peer, std::size_t channel);
  std::string try_to_connect(int peer, std::size_t channel,
                             std::chrono::steady_clock::time_point deadline);

  void accept_all(const Listener& listener);
  void accept_waiting(const Listener& listener, std::deque<Stranger>& strangers) const;
  bool admit_known(std::deque<Stranger>& strangers);
  bool admit(Stranger& stranger);
  int first_missing() const;
  Descriptor& socket(std::size_t channel, int peer);

  CommOptions options_;
  std::vector<std::byte> secret_;
  std::vector<Invitation> invitations_;                     // by rank
  std::vector<std::array<Descriptor, kChannels>> sockets_;  // by rank
};

}  // namespace convoy
