// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>

#include "convoy/base/error.h"
#include "convoy/events/crc32c.h"

namespace convoy {
namespace {

constexpr double kFlushSeconds = 1;
constexpr std::size_t kFlushBytes = 1 << 20;

template <class Number>
std::string_view bytes_of(const Number& number) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

void append_with_checksum(std::string_view bytes, std::string& to) {
  to += bytes;
  const std::uint32_t checksum = masked_crc32c(bytes);
  to += bytes_of(checksum);
}

}  // namespace

RecordFile::RecordFile(std::filesystem::path path) : path_(std::move(path)) {
  descriptor_ =
      ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw storage_error(path_, "make this file", errno);
}

RecordFile::~RecordFile() {
  try {
    flush();
  } catch (const InputError&) {
    // A destructor may run because of this very error. Who must know calls flush().
  }
  ::close(descriptor_);
}

void RecordFile::append(std::string_view record) {
  const std::uint64_t length = record.size();
  append_with_checksum(bytes_of(length), waiting_);
  append_with_checksum(record, waiting_);
  if (last_write_.seconds() >= kFlushSeconds || waiting_.size() >= kFlushBytes) flush();
}

void RecordFile::flush() {
  last_write_.restart();
  if (waiting_.empty()) return;
  const off_t whole = ::lseek(descriptor_, 0, SEEK_END);
  if (const int cause = write_all(waiting_); cause != 0) {
    // A disk that fills up takes part of a record; take it back. If even that fails there
    // is nothing left to try, and the error is thrown all the same.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, whole);
    throw storage_error(path_, "append to this file", cause);
  }
  waiting_.clear();
}

/// 0, or why not.
int RecordFile::write_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace convoy
