// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/append_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <span>
#include <thread>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

constexpr double kFlushSeconds = 1;
constexpr std::size_t kFlushBytes = 1 << 20;

Descriptor open_to_append(const std::filesystem::path& path, int more_flags) {
  return Descriptor(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | more_flags, 0644));
}

void append_whole(int file, const std::filesystem::path& path, std::string_view text) {
  const off_t whole = ::lseek(file, 0, SEEK_END);
  if (const int cause = write_all(file, std::as_bytes(std::span(text)))) {
    // A full disk takes part of a piece, which is removed again. If that fails too, the
    // error is thrown all the same.
    [[maybe_unused]] const int ignored = ::ftruncate(file, whole);
    throw storage_error(path, "append to this file", cause);
  }
}

/// A file system without locks excludes no process.
void wait_for_lock(int file, const std::filesystem::path& path, double seconds) {
  const Stopwatch watch;
  while (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (watch.seconds() > seconds)
      throw storage_error(path, "lock this file", EWOULDBLOCK);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

off_t size_of_regular(int file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) throw storage_error(path, "read this file", errno);
  if (!S_ISREG(status.st_mode)) throw storage_error(path, "append to this", EINVAL);
  return status.st_size;
}

}  // namespace

AppendFile AppendFile::create(std::filesystem::path path) {
  AppendFile file(std::move(path));
  file.file_ = open_to_append(file.path_, O_EXCL);
  if (!file.file_) throw storage_error(file.path_, "make this file", errno);
  return file;
}

bool AppendFile::is_due() const {
  return last_write_.seconds() >= kFlushSeconds || waiting_.size() >= kFlushBytes;
}

void AppendFile::flush() {
  last_write_.restart();
  if (waiting_.empty()) return;
  if (!file_) file_ = open_to_append(path_, 0);
  if (!file_) throw storage_error(path_, "append to this file", errno);
  append_whole(file_.get(), path_, waiting_);
  waiting_.clear();
}

void append_locked(const std::filesystem::path& path, std::string_view head,
                   std::string_view piece, double seconds) {
  // With O_NONBLOCK, a FIFO without a reader is refused.
  const Descriptor file = open_to_append(path, O_NONBLOCK | O_NOCTTY);
  if (!file) throw storage_error(path, "append to this file", errno);
  wait_for_lock(file.get(), path, seconds);
  const bool is_new = size_of_regular(file.get(), path) == 0;
  append_whole(file.get(), path, (is_new ? std::string(head) : "") + std::string(piece));
}

}  // namespace convoy
