// SPDX-License-Identifier: Apache-2.0
//
// MeshContext: a Gloo context that uses connections which were made elsewhere.
//
// A pair of Gloo's opens a port and takes the first peer that connects for the other
// rank; what a stranger sends there is read as Gloo's own messages, on Gloo's thread,
// where an error ends the process. So no port of Gloo's is left to strangers:
//
//   1. the pair opens its port on the loopback address, for some microseconds;
//   2. this process itself connects to it, and the pair is content;
//   3. the pair's descriptor is replaced by that of the connection to adopt, of which
//      both ends have proved who they are (MeshSockets).

#pragma once

#include <gloo/context.h>
#include <gloo/transport/tcp/device.h>

#include <memory>

#include "convoy/comm/comm_options.h"
#include "convoy/system/descriptor.h"

namespace convoy {

/// What Gloo runs its pairs with: one thread, and ports that no other machine can reach.
using LoopbackDevice = std::shared_ptr<::gloo::transport::tcp::Device>;
LoopbackDevice open_loopback_device();

class MeshContext final : public ::gloo::Context {
 public:
  MeshContext(const CommOptions& options, const LoopbackDevice& device);

  /// The connection to `peer` is that one from here on. Throws what Gloo throws.
  void adopt(int peer, Descriptor connection);

 private:
  LoopbackDevice loopback_;
};

}  // namespace convoy
