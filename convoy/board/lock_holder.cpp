// SPDX-License-Identifier: Apache-2.0

#include "convoy/board/lock_holder.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

struct HeldLock {
  pid_t process = 0;
  ino_t inode = 0;
};

/// From "1: FLOCK  ADVISORY  WRITE 923 fe:00:9989213 0 EOF", or the same after "lock:";
/// nothing of other kinds of locks, and of processes that this one cannot see.
std::optional<HeldLock> parse_lock(const std::string& line) {
  std::istringstream words(line.starts_with("lock:") ? line.substr(5) : line);
  std::string number, kind, advisory, mode, place;
  HeldLock lock;
  words >> number >> kind >> advisory >> mode >> lock.process >> place;
  const std::size_t colon = place.rfind(':');
  if (!words || kind != "FLOCK" || mode != "WRITE" || lock.process <= 0 ||
      colon == place.npos) {
    return {};
  }
  std::istringstream(place.substr(colon + 1)) >> lock.inode;
  return lock;
}

/// The locks that a file of /proc lists; none if it cannot be read.
std::vector<HeldLock> locks_in(const fs::path& path) try {
  std::vector<HeldLock> locks;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    if (const auto lock = parse_lock(line)) locks.push_back(*lock);
  }
  return locks;
} catch (const InputError&) {
  return {};
}

/// Whether a process has that very folder open, with a lock of its own on it. The
/// device's number in a list of locks is not that of stat() on every file system.
bool holds(pid_t process, const struct stat& folder) {
  const fs::path proc = fmt::format("/proc/{}", process);
  std::error_code error;
  for (fs::directory_iterator entry(proc / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat open {};
    if (::stat(entry->path().c_str(), &open) != 0 || open.st_ino != folder.st_ino ||
        open.st_dev != folder.st_dev) {
      continue;
    }
    for (const HeldLock& lock : locks_in(proc / "fdinfo" / entry->path().filename())) {
      if (lock.process == process && lock.inode == folder.st_ino) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<LockHolder> LockHolder::find(const fs::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};
  for (const HeldLock& lock : locks_in("/proc/locks")) {
    if (lock.inode != status.st_ino) continue;
    // Opened first: what is seen of the process afterwards is seen of this one.
    Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, lock.process, 0)));
    if (process && holds(lock.process, status)) return LockHolder(std::move(process));
  }
  return {};
}

bool LockHolder::request_stop() const {
  return ::syscall(SYS_pidfd_send_signal, process_.get(), SIGTERM, nullptr, 0) == 0;
}

std::set<ino_t> locked_inodes() {
  std::set<ino_t> inodes;
  for (const HeldLock& lock : locks_in("/proc/locks")) inodes.insert(lock.inode);
  return inodes;
}

}  // namespace convoy
