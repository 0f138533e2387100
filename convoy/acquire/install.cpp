// SPDX-License-Identifier: Apache-2.0

#include "convoy/acquire/install.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace fs = std::filesystem;

FolderLock::FolderLock(const fs::path& folder)
    : path_(folder_of(folder) / ("." + folder.filename().string() + ".lock")) {
  make_folders(folder_of(folder));
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw storage_error(path_, "write this file", errno);
  held_ = try_lock(LOCK_EX | LOCK_NB);
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FolderLock::wait() {
  if (!held_) held_ = try_lock(LOCK_EX);
}

bool FolderLock::try_lock(int operation) {
  while (::flock(descriptor_, operation) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return false;
    const int cause = errno;
    ::close(std::exchange(descriptor_, -1));
    throw storage_error(path_, "lock this file", cause);
  }
  return true;
}

void remove_stale(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(folder), error)) {
    if (!is_temporary_name(folder, entry.path().filename().string())) continue;
    fs::remove_all(entry.path(), error);
    if (error) throw storage_error(entry.path(), "remove this", error.value());
  }
}

}  // namespace convoy
