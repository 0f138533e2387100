// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "convoy/base/error.h"

namespace convoy {
namespace {

/// Maps a file that is open. On failure, empty with errno set; an empty file cannot be
/// mapped and sets it to 0.
std::span<const std::byte> map_open(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return {};
  errno = S_ISDIR(status.st_mode) ? EISDIR : S_ISREG(status.st_mode) ? 0 : EINVAL;
  if (errno != 0 || status.st_size == 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return {};
  errno = 0;
  return {static_cast<const std::byte*>(memory), size};
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw storage_error(path, "read this file", errno);
  bytes_ = map_open(descriptor);
  const int cause = errno;
  ::close(descriptor);
  if (cause != 0) throw storage_error(path, "read this file", cause);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace convoy
