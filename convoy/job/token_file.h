// SPDX-License-Identifier: Apache-2.0
//
// TokenFile: how processes that Slurm starts on several machines share a generated token:
// by a file in a folder that all of them can access, such as run.dir.
//
// The host of the rendezvous writes the file, which only this user can read; the others
// wait for it. If the host cannot listen, the file contains the reason, so that the
// others need not wait until their timeout. A file with a token is removed at the end.

#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "convoy/job/job_placement.h"
#include "convoy/wire/socket.h"

namespace convoy {

class TokenFile {
 public:
  /// `<folder>/.convoy-<job>.token`, if Slurm has started the job on several machines and
  /// there is a folder.
  static std::optional<std::filesystem::path> path_of(
      const JobPlacement& placement, const Environment& environment,
      const std::filesystem::path& folder);

  /// Waits for the host to write the token, and returns it. Throws PeerError if the host
  /// failed, or has not written it within `timeout`.
  static std::string wait_for(const std::filesystem::path& path,
                              std::chrono::milliseconds timeout);

  explicit TokenFile(std::filesystem::path path) : path_(std::move(path)) {}
  /// Removes the file if it contains a token.
  ~TokenFile();
  TokenFile(const TokenFile&) = delete;
  TokenFile& operator=(const TokenFile&) = delete;

  /// Throws InputError of kind `storage`, or of kind `admission` if the file already
  /// exists.
  void write_token(const std::string& token);
  void write_failure(const std::string& reason);

 private:
  std::filesystem::path path_;
  bool has_token_ = false;
};

/// Listens on the master's address for the job. If there is a file, writes the token or
/// the error to it.
Listener listen_as_host(const std::string& address, int port, const std::string& token,
                        TokenFile* file);

}  // namespace convoy
