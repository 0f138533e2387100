// SPDX-License-Identifier: Apache-2.0
//
// MeshContext: a Gloo context that uses existing connections.
//
// A Gloo pair opens a port and takes the first peer that connects for the other rank;
// bytes that a stranger sends there are parsed as Gloo messages, on Gloo's thread, where
// an error ends the process. So no port of Gloo's is exposed to strangers:
//
//   1. the pair opens its port on the loopback address, for some microseconds;
//   2. this process itself connects to it, which completes the pair;
//   3. the pair's descriptor is replaced by that of the adopted connection, whose two
//      ends have authenticated each other (MeshSockets).

#pragma once

#include <gloo/context.h>
#include <gloo/transport/tcp/device.h>

#include <memory>

#include "convoy/comm/comm_options.h"
#include "convoy/system/descriptor.h"

namespace convoy {

/// The Gloo device of all pairs: one thread, and ports that no other machine can reach.
using LoopbackDevice = std::shared_ptr<::gloo::transport::tcp::Device>;
LoopbackDevice open_loopback_device();

class MeshContext final : public ::gloo::Context {
 public:
  MeshContext(const CommOptions& options, const LoopbackDevice& device);

  /// Makes this the connection to `peer`. Throws what Gloo throws.
  void adopt(int peer, Descriptor connection);

 private:
  LoopbackDevice loopback_;
};

}  // namespace convoy
