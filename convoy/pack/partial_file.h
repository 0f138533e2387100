// SPDX-License-Identifier: Apache-2.0
//
// PartialFile: a packed file that is being written. The folder FILE.partial has
//
//   job      what is packed, and how: another job begins anew
//   images   the file as it will be, up to the last image
//   records  one per sample, in order, after its image
//
// A process that is killed leaves at most an image without its record, which the next one
// overwrites.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "convoy/data/packed/packed_format.h"
#include "convoy/system/descriptor.h"

namespace convoy {

/// Throws InputError of kind `storage` if there is something of that name.
void expect_free_name(const std::filesystem::path& file);

/// One thread may use it. Methods throw InputError of kind `storage`.
class PartialFile {
 public:
  /// Continues what the folder of this file has if it is of the same job, or begins.
  /// Throws also if another process packs to the same file.
  PartialFile(std::filesystem::path file, const std::string& job);

  /// The records so far; those of samples that were left out have no bytes.
  const std::vector<PackedRecord>& records() const { return records_; }

  /// Adds images of samples in order, and their labels. An empty image is left out.
  void add(std::span<const std::vector<std::byte>> images,
           std::span<const std::int32_t> labels);

  /// Completes the file, verifies it and gives it its name, which must be free still. The
  /// first `train` records are the training set. Throws also InputError of kind `data` if
  /// an image is not what was written.
  void finish(std::size_t train, const nlohmann::ordered_json& description);

 private:
  void resume(const std::string& job);

  std::filesystem::path file_, folder_;
  Descriptor lock_, images_, journal_;
  std::vector<PackedRecord> records_;
  std::uint64_t end_;  // of the images
};

}  // namespace convoy
