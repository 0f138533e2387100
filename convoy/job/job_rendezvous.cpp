// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/job_rendezvous.h"

#include <unistd.h>

#include <utility>

#include "convoy/system/host_name.h"

namespace convoy {

StoreClientOptions session_options(const JobPlacement& placement, PeerKind kind,
                                   const std::string& token, const JoinOptions& options) {
  const bool is_rank = kind == PeerKind::rank;
  return {.address = placement.master_address,
          .port = placement.master_port,
          .token = token,
          .hello = {.kind = kind,
                    .number = is_rank ? placement.rank : placement.node,
                    .ranks = placement.ranks,
                    .pid = ::getpid(),
                    .host = host_name()},
          .settings = options.compared,
          .timeout = options.timeout,
          .silence = options.silence};
}

StoreServerOptions service_options(const JobPlacement& placement, PeerKind kind,
                                   const std::string& token, const JoinOptions& options,
                                   std::function<void(const std::string&)> log) {
  return {.token = token,
          .roster = {.ranks = placement.ranks,
                     .nodes = kind == PeerKind::rank ? 0 : placement.nodes,
                     .settings = options.compared,
                     .elastic_from = elastic_from(placement)},
          .join_timeout = options.timeout,
          .silence = options.silence,
          .log = std::move(log)};
}

}  // namespace convoy
