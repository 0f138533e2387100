// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/forked_ranks.h"

#include "convoy/base/error.h"
#include "convoy/system/children.h"

namespace convoy {

void run_forked_ranks(int ranks, const std::function<void(int rank)>& body) {
  Children children;
  for (int rank = 0; rank < ranks; ++rank) {
    children.start([&body, rank] { body(rank); });
  }
  if (const auto failed = children.wait()) {
    throw PeerError(static_cast<int>(*failed),
                    "its part of a measurement on this machine");
  }
}

}  // namespace convoy
