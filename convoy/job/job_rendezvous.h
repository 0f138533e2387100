// SPDX-License-Identifier: Apache-2.0
//
// How a process of a job meets the others at the rendezvous: as a rank, or as the
// launcher of a node.

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "convoy/job/job_placement.h"
#include "convoy/rendezvous/store_client.h"
#include "convoy/rendezvous/store_server.h"

namespace convoy {

struct JoinOptions {
  std::string compared{};  // "name=value" lines of the settings that all have to share
  std::chrono::milliseconds timeout = std::chrono::seconds(300);  // for all to join
  std::chrono::milliseconds silence = std::chrono::seconds(60);   // that is a loss
  /// A folder that all machines may share, for a token that nobody has set.
  std::filesystem::path shared_folder{};
};

/// Of a session, without its listener for events.
StoreClientOptions session_options(const JobPlacement& placement, PeerKind kind,
                                   const std::string& token, const JoinOptions& options);

/// Of the rendezvous itself, hosted by the first process of that kind.
StoreServerOptions service_options(const JobPlacement& placement, PeerKind kind,
                                   const std::string& token, const JoinOptions& options,
                                   std::function<void(const std::string&)> log);

/// Where the processes of a job on several machines share a token that nobody has set.
/// Throws InputError of kind `admission` if they cannot.
std::filesystem::path token_path(const JobPlacement& placement,
                                 const Environment& environment,
                                 const JoinOptions& options);

/// The token that the host of the rendezvous has written there.
std::string wait_for_token(const JobPlacement& placement, const Environment& environment,
                           const JoinOptions& options);

}  // namespace convoy
