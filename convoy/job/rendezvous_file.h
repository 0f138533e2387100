// SPDX-License-Identifier: Apache-2.0
//
// RendezvousFile: how ranks of one machine that another program started find each other.
//
// Rank 0 writes port and token into a file that only this user can read, in a folder only
// this user can enter, under a name made from what all of the job's ranks know. It keeps
// the file locked for as long as it lives: a file without a lock is what a killed job has
// left, and is passed over.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "convoy/job/job_placement.h"
#include "convoy/system/descriptor.h"

namespace convoy {

struct RendezvousPoint {
  int port = 0;
  std::string token;
};

class RendezvousFile {
 public:
  /// Writes it. Throws InputError of kind `settings` if another job that lives has the
  /// same name, and of kind `admission` if the folder is not this user's alone.
  RendezvousFile(const JobPlacement& placement, const RendezvousPoint& meeting);

  /// Removes it.
  ~RendezvousFile();
  RendezvousFile(const RendezvousFile&) = delete;
  RendezvousFile& operator=(const RendezvousFile&) = delete;

  /// What rank 0 has written, as soon as it has. Throws PeerError if it does not in time.
  static RendezvousPoint wait_for(const JobPlacement& placement,
                                  std::chrono::milliseconds timeout);

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace convoy
