// SPDX-License-Identifier: Apache-2.0
//
// WorkerPort: a worker's connections to the parameter servers, each of which has a range
// of the values.
//
//   Assignment next = port.join(values);
//   while (!next.over) {
//     ... gradients of batch next.sequence ...
//     next = port.push(push, sums, values);
//   }
//
// A push is sent to all servers before any answer is read, so that servers may wait for
// each other. If they do not agree on the next batch (the previous worker died between
// two sends), the earliest is computed again; servers that already have it ignore it.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "convoy/params/flat_buffer.h"
#include "convoy/params/partial_sums.h"
#include "convoy/params/stored_types.h"
#include "convoy/ps_transport/push.h"

namespace convoy {

struct ServerAddress {
  std::string host;
  int port = 0;
};

struct WorkerPortOptions {
  std::vector<ServerAddress> servers;  // by number
  std::vector<Range> ranges;           // of the flat buffer, by server
  std::string token;
  int worker = 0;
  /// What is pushed of each server's range, by server; empty: all.
  std::vector<std::vector<Range>> pushed{};
  /// Receives running statistics from the first server, if any are frozen; borrowed.
  std::span<float> frozen_statistics{};
  const StoredTypes* types = nullptr;  // of the values; nullptr: fp32. Borrowed
  Dtype gradient_type = Dtype::fp32;   // in which gradients are sent
  std::size_t statistics = 0;          // floats of the batch statistics
  std::size_t partials = 1;            // sums per push, of gradients and of statistics
  std::size_t microbatches = 1;        // losses per push
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // for any answer
};

/// The numbers of a push.
struct PushedSums {
  PartialSums gradients, statistics;
};

class WorkerPort {
 public:
  /// Connects to all servers. Throws PeerError, which names the server, if one does not
  /// answer; InputError of kind `admission` if it refuses, of kind `settings` if it
  /// expects other sizes.
  explicit WorkerPort(const WorkerPortOptions& options);
  ~WorkerPort();
  WorkerPort(const WorkerPort&) = delete;
  WorkerPort& operator=(const WorkerPort&) = delete;

  /// Called once, first. Fetches the values, unless nothing is left to compute.
  Assignment join(FlatBuffer& values);

  /// Sends gradients to all servers and statistics to the first, and fetches values.
  /// `push.version` is filled in for each server. Waits as long as the servers live.
  /// Throws PeerError that names the lost server, InputError of kind `admission` if the
  /// push is refused. If the run is over for one server, it is over.
  Assignment push(Push push, const PushedSums& sums, FlatBuffer& values);

  std::uint64_t bytes_sent() const;
  std::uint64_t bytes_received() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy
