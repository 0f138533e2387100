// SPDX-License-Identifier: Apache-2.0
//
// How a process of a job joins the rendezvous: as a rank, or as the launcher of a node.

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
  /// "name=value" lines of the settings that must be equal on all ranks.
  std::string compared{};
  std::chrono::milliseconds timeout = std::chrono::seconds(300);  // for all to join
  /// After which a peer is lost.
  std::chrono::milliseconds silence = std::chrono::seconds(60);
  /// A folder that all machines may share, for a generated token.
  std::filesystem::path shared_folder{};
};

/// Options of a session, without its event callback.
StoreClientOptions session_options(const JobPlacement& placement, PeerKind kind,
                                   const std::string& token, const JoinOptions& options);

/// Options of the rendezvous itself, hosted by the first process of that kind.
StoreServerOptions service_options(const JobPlacement& placement, PeerKind kind,
                                   const std::string& token, const JoinOptions& options,
                                   std::function<void(const std::string&)> log);

/// The file by which processes of a job on several machines share a generated token.
/// Throws InputError of kind `admission` if they cannot.
std::filesystem::path token_path(const JobPlacement& placement,
                                 const Environment& environment,
                                 const JoinOptions& options);

/// Reads the token that the host of the rendezvous has written to the file.
std::string wait_for_token(const JobPlacement& placement, const Environment& environment,
                           const JoinOptions& options);

}  // namespace convoy
