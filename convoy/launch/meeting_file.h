// SPDX-License-Identifier: Apache-2.0
//
// MeetingFile: how ranks of one machine that somebody else started find each other.
//
// Rank 0 writes port and token into a file that only this user can read, in a folder only
// this user can enter, under a name made from what all of the job's ranks know. It keeps
// the file locked for as long as it lives: a file without a lock is what a killed job has
// left, and is passed over.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "convoy/base/descriptor.h"
#include "convoy/launch/place.h"

namespace convoy {

struct Meeting {
  int port = 0;
  std::string token;
};

class MeetingFile {
 public:
  /// Writes it. Throws InputError of kind `settings` if another job that lives has the
  /// same name, and of kind `admission` if the folder is not this user's alone.
  MeetingFile(const Place& place, const Meeting& meeting);

  /// Removes it.
  ~MeetingFile();
  MeetingFile(const MeetingFile&) = delete;
  MeetingFile& operator=(const MeetingFile&) = delete;

  /// What rank 0 has written, as soon as it has. Throws PeerError if it does not in time.
  static Meeting wait_for(const Place& place, std::chrono::milliseconds timeout);

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace convoy
