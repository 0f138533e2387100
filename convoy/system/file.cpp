// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/text.h"

namespace convoy {
namespace {

InputError not_to_read(const std::filesystem::path& path, const std::string& found,
                       const std::string& expected) {
  return {InputKind::storage,
          {.where = path, .found = found, .expected = expected, .hint = ""}};
}

std::string kind_of_file(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// The size according to the file system; 0 for files without one, such as those of
/// /proc.
std::size_t size_of_open(int descriptor, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0)
    throw storage_error(path, "read this file", errno);
  if (S_ISDIR(status.st_mode)) throw storage_error(path, "read this file", EISDIR);
  if (S_ISREG(status.st_mode)) return static_cast<std::size_t>(status.st_size);
  throw not_to_read(path, kind_of_file(status.st_mode), "a regular file");
}

constexpr std::size_t kMostReserved = std::size_t{1} << 28;

template <class Container>
Container read_complete(const std::filesystem::path& path, std::size_t most) {
  const Descriptor file = open_to_read(path);
  const std::size_t size = size_of_open(file.get(), path);
  if (size > most) {
    throw not_to_read(path, "more than " + human_bytes(most), "a file of at most that");
  }
  Container content;
  content.reserve(std::min(size, kMostReserved));  // a sparse file may be of any size
  char block[1 << 16];
  ssize_t got = 0;
  while ((got = ::read(file.get(), block, sizeof(block))) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw storage_error(path, "read this file", errno);
    const auto* first = reinterpret_cast<const typename Container::value_type*>(block);
    content.insert(content.end(), first, first + got);
  }
  return content;
}

/// Calls `create` with hidden names beside `path` until one is free.
template <class Create>
std::filesystem::path create_temporary(const std::filesystem::path& path,
                                       const Create& create) {
  std::random_device random;
  for (;;) {
    const std::filesystem::path name = folder_of(path) / temporary_name(path, random());
    if (create(name.c_str())) return name;
    if (errno != EEXIST) throw storage_error(path, "write this", errno);
  }
}

}  // namespace

Descriptor open_to_read(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) throw storage_error(path, "read this file", errno);
  size_of_open(file.get(), path);
  return file;
}

void expect_regular_file(const std::filesystem::path& path) { open_to_read(path); }

std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  return read_complete<std::vector<std::byte>>(path,
                                               std::numeric_limits<std::size_t>::max());
}

std::string read_text(const std::filesystem::path& path, std::size_t most) {
  return read_complete<std::string>(path, most);
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  temporary_ = create_temporary(path_, [&](const char* name) {
    descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return descriptor_ >= 0;
  });
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (const int cause = write_all(descriptor_, bytes)) {
    throw storage_error(path_, "write this file", cause);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) throw storage_error(path_, "write this file", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw storage_error(path_, "write this file", errno);
  }
  ::close(std::exchange(descriptor_, -1));
  sync_folder(folder_of(path_));
}

AtomicFolder::AtomicFolder(std::filesystem::path path) : path_(std::move(path)) {
  temporary_ =
      create_temporary(path_, [](const char* name) { return ::mkdir(name, 0777) == 0; });
}

AtomicFolder::~AtomicFolder() {
  if (temporary_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
}

int AtomicFolder::try_rename() {
  sync_folder(temporary_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return errno;
  temporary_.clear();
  sync_folder(folder_of(path_));
  return 0;
}

void AtomicFolder::commit() {
  if (const int cause = try_rename()) {
    throw storage_error(path_, "give a new folder this name", cause);
  }
}

void AtomicFolder::replace() {
  const int cause = try_rename();
  if (cause == 0) return;
  if (cause != ENOTEMPTY && cause != EEXIST) {
    throw storage_error(path_, "give a new folder this name", cause);
  }
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
                  RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) {
      throw storage_error(path_, "give a new folder this name", errno);
    }
    replace_in_two_steps();
  }
  sync_folder(folder_of(path_));  // the old folder now has the temporary name
}

/// Fallback for file systems that cannot exchange two names, such as NFS: for a moment
/// there is no folder.
void AtomicFolder::replace_in_two_steps() {
  const std::filesystem::path old = temporary_.string() + "-old";
  if (::rename(path_.c_str(), old.c_str()) != 0 ||
      ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw storage_error(path_, "give a new folder this name", errno);
  }
  temporary_ = old;
}

std::string temporary_name(const std::filesystem::path& path, unsigned number) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%08x", number);
  return "." + path.filename().string() + ".tmp-" + digits;
}

bool is_temporary_name(const std::filesystem::path& path, std::string_view name) {
  const std::string beginning = "." + path.filename().string() + ".tmp-";
  const std::string_view digits = name.substr(std::min(name.size(), beginning.size()));
  return name.starts_with(beginning) && digits.size() == 8 &&
         digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

void make_folders(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw storage_error(path, "make this folder", error.value());
}

Descriptor lock_folder(const std::filesystem::path& path, LockMode mode) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw storage_error(path, "open this folder", errno);
  const int operation = (mode == LockMode::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  const bool taken = ::flock(folder.get(), operation) != 0 && errno == EWOULDBLOCK;
  return taken ? Descriptor() : std::move(folder);
}

void sync_folder(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw storage_error(path, "open this folder", errno);
  const int result = ::fsync(descriptor);
  const int cause = errno;
  ::close(descriptor);
  if (result != 0) throw storage_error(path, "flush this folder", cause);
}

}  // namespace convoy
