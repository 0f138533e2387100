// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

[[noreturn]] void refuse(const std::string& attempted) {
  throw storage_error("shared memory", attempted, errno);
}

Descriptor make_file(std::size_t bytes) {
  Descriptor file(::memfd_create("convoy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) refuse("make it");
  // The memory is reserved now; otherwise a lack of memory would later raise a signal.
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes))) {
    errno = error;
    refuse(fmt::format("reserve {} bytes", bytes));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    refuse("fix its size");
  }
  return file;
}

Descriptor open_file(const MemoryPlace& place, std::size_t bytes) {
  const std::string path = fmt::format("/proc/{}/fd/{}", place.process, place.descriptor);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0) refuse("open " + path);
  if (static_cast<std::size_t>(facts.st_size) != bytes) {
    errno = EINVAL;
    refuse(fmt::format("find {} bytes in {}", bytes, path));
  }
  return file;
}

}  // namespace

std::string machine_identity() {
  std::error_code none;
  const auto processes = std::filesystem::read_symlink("/proc/self/ns/pid", none);
  const std::filesystem::path boot = "/proc/sys/kernel/random/boot_id";
  if (none || !std::filesystem::exists(boot)) return fmt::format("alone {}", ::getpid());
  return fmt::format("{} {} {}", read_text(boot), processes.string(), ::geteuid());
}

SharedMemory::SharedMemory(std::size_t bytes) : made_(make_file(bytes)), bytes_(bytes) {
  map(made_.get());
}

SharedMemory::SharedMemory(const MemoryPlace& place, std::size_t bytes) : bytes_(bytes) {
  map(open_file(place, bytes).get());
}

SharedMemory::~SharedMemory() { ::munmap(data_, bytes_); }

void SharedMemory::map(int file) {
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) refuse("map it");
  data_ = static_cast<std::byte*>(memory);
}

MemoryPlace SharedMemory::place() const {
  check(static_cast<bool>(made_), "this process created the memory");
  return {.process = ::getpid(), .descriptor = made_.get()};
}

}  // namespace convoy
