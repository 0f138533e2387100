// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/connect.h"

#include "convoy/comm/alone_comm.h"
#include "convoy/comm/gloo_comm.h"

namespace convoy {

std::unique_ptr<Comm> connect(const CommOptions& options, KeyValueStore& store) {
  if (options.ranks == 1) return std::make_unique<AloneComm>();
  return std::make_unique<GlooComm>(options, store);
}

}  // namespace convoy
