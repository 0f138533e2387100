// SPDX-License-Identifier: Apache-2.0
//
// FileMark: the size and SHA-256 of a file, to compare it later.
//
//   {"bytes": 40, "sha256": "..."}                               the whole file at once
//   {"bytes": 90, "ranges": [{"bytes": 40, "sha256": "..."}, {"bytes": 50, ...}]}
//
// A file that several processes write has one digest per range, in the order of the file,
// so that each process computes those of what it writes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/json.h"

namespace convoy {

struct RangeMark {
  std::uint64_t bytes = 0;
  std::string sha256;  // 64 lower-case digits

  bool operator==(const RangeMark&) const = default;
};

struct FileMark {
  std::vector<RangeMark> ranges;  // end to end; at least one

  std::uint64_t bytes() const;
  bool operator==(const FileMark&) const = default;
};

/// The mark of a file with this content.
FileMark mark_of(std::span<const std::byte> content);

nlohmann::ordered_json to_json(const FileMark& mark);

/// Throws InputError of kind `data`, naming the field, unless it is as to_json() writes
/// it. `source` is that of the entry, for messages.
FileMark file_mark_from_json(const JsonObject& entry, const JsonSource& source);

/// Fills `bytes` from an offset of the file on.
using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> bytes)>;

/// Whether a file of `size` bytes is the marked one.
bool matches(const FileMark& mark, std::uint64_t size, const ReadAt& read);

}  // namespace convoy
