// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/record_file.h"

#include <bit>
#include <cstdint>
#include <string>

#include "convoy/base/error.h"
#include "convoy/events/crc32c.h"

namespace convoy {
namespace {

template <class Number>
std::string_view bytes_of(const Number& number) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}

void append_with_checksum(std::string_view bytes, AppendFile& to) {
  to.append(bytes);
  const std::uint32_t checksum = masked_crc32c(bytes);
  to.append(bytes_of(checksum));
}

}  // namespace

RecordFile::~RecordFile() {
  try {
    flush();
  } catch (const InputError&) {
    // A destructor may run because of this very error. To get the error, call flush().
  }
}

void RecordFile::append(std::string_view record) {
  const std::uint64_t length = record.size();
  append_with_checksum(bytes_of(length), file_);
  append_with_checksum(record, file_);
  if (file_.is_due()) flush();
}

}  // namespace convoy
