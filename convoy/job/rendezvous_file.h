// SPDX-License-Identifier: Apache-2.0
//
// RendezvousFile: how ranks of one machine find each other if another program started
// them.
//
// Rank 0 writes port and token to a file that only this user can read, in a folder that
// only this user can enter, under a name derived from what all ranks of the job know. It
// keeps the file locked while it lives: a file without a lock is a leftover of a killed
// job and is ignored.

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
  /// Writes the file. Throws InputError of kind `settings` if another running job has the
  /// same name, of kind `admission` if other users can access the folder.
  RendezvousFile(const JobPlacement& placement, const RendezvousPoint& meeting);

  /// Removes the file.
  ~RendezvousFile();
  RendezvousFile(const RendezvousFile&) = delete;
  RendezvousFile& operator=(const RendezvousFile&) = delete;

  /// Waits for rank 0 to write the file and returns its content. Throws PeerError if it
  /// does not in time.
  static RendezvousPoint wait_for(const JobPlacement& placement,
                                  std::chrono::milliseconds timeout);

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace convoy
