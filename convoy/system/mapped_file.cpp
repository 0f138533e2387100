// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

/// Maps an open regular file; an empty file cannot be mapped, so the result is empty. On
/// failure, the result is empty and errno is set.
std::span<const std::byte> map_open(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return {};
  errno = 0;
  if (status.st_size == 0) return {};
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return {};
  errno = 0;
  return {static_cast<const std::byte*>(memory), size};
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file = open_to_read(path);
  bytes_ = map_open(file.get());
  if (errno != 0) throw storage_error(path, "read this file", errno);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace convoy
