// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <span>

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
  const off_t whole = ::lseek(file_.get(), 0, SEEK_END);
  if (const int cause = write_all(file_.get(), std::as_bytes(std::span(waiting_)))) {
    // A full disk takes part of a piece, which is removed again. If that fails too, the
    // error is thrown all the same.
    [[maybe_unused]] const int ignored = ::ftruncate(file_.get(), whole);
    throw storage_error(path_, "append to this file", cause);
  }
  waiting_.clear();
}

}  // namespace convoy
