// SPDX-License-Identifier: Apache-2.0

#include "convoy/job/job_rendezvous.h"

#include <unistd.h>

#include <utility>

#include "convoy/job/token.h"
#include "convoy/job/token_file.h"
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

std::filesystem::path token_path(const JobPlacement& placement,
                                 const Environment& environment,
                                 const JoinOptions& options) {
  const auto path = TokenFile::path_of(placement, environment, options.shared_folder);
  if (!path) throw no_token_error();
  return *path;
}

std::string wait_for_token(const JobPlacement& placement, const Environment& environment,
                           const JoinOptions& options) {
  return TokenFile::wait_for(token_path(placement, environment, options),
                             options.timeout);
}

}  // namespace convoy
