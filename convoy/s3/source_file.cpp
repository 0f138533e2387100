// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/source_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {

SourceFile::SourceFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(open_to_read(path_)) {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) {
    throw storage_error(path_, "read this file", errno);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void SourceFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_.get(), bytes.data(), bytes.size(),
                                static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw storage_error(path_, "read this file", errno);
    if (got == 0) throw storage_error(path_, "read a file that does not shrink", EIO);
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

bool matches(const FileMark& mark, const SourceFile& file) {
  return matches(mark, file.size(),
                 [&](std::uint64_t offset, std::span<std::byte> bytes) {
                   file.read(offset, bytes);
                 });
}

}  // namespace convoy
