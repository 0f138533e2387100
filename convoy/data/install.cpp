// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/install.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTemporary = ".tmp-";

fs::path parent_of(const fs::path& folder) {
  return folder.has_parent_path() ? folder.parent_path() : fs::path(".");
}

}  // namespace

FolderLock::FolderLock(const fs::path& folder)
    : path_(parent_of(folder) / ("." + folder.filename().string() + ".lock")) {
  make_folders(parent_of(folder));
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

PendingFolder::PendingFolder(fs::path folder) : folder_(std::move(folder)) {
  std::string name = folder_.string() + kTemporary + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw storage_error(folder_, "make this folder", errno);
  }
  temporary_ = name;
  ::chmod(temporary_.c_str(), 0755);  // mkdtemp's is for the owner alone
}

PendingFolder::~PendingFolder() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  fs::remove_all(temporary_, ignored);
}

void PendingFolder::commit() {
  sync_folder(temporary_);
  if (::rename(temporary_.c_str(), folder_.c_str()) != 0) {
    throw storage_error(folder_, "put the dataset under this name", errno);
  }
  temporary_.clear();
  sync_folder(parent_of(folder_));
}

void remove_stale(const fs::path& folder) {
  const std::string beginning = folder.filename().string() + kTemporary;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent_of(folder), error)) {
    if (!entry.path().filename().string().starts_with(beginning)) continue;
    fs::remove_all(entry.path(), error);
    if (error) throw storage_error(entry.path(), "remove this", error.value());
  }
}

}  // namespace convoy
