// SPDX-License-Identifier: Apache-2.0
//
// ShardIndex: the samples of a shard, in the order of its members.
//
// A sample is neighbouring members of one key, which is the name up to the first dot
// after the last slash: an image, KEY.jpg, .jpeg or .png, and its label, KEY.cls, a whole
// number as text. Other members are ignored, and so are names that begin with a dot.
//
// An index is kept as one file, which is mapped: a line of JSON with the shard's name and
// mark, then a record per sample, then the names of the images, each followed by a zero
// byte. It is used again while the shard has the same mark.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "convoy/data/shared_array.h"
#include "convoy/data/tar/shard.h"

namespace convoy {

/// Labels are below this.
inline constexpr std::int32_t kMostClasses = 1 << 20;

class ShardIndex {
 public:
  /// Where the image of a sample is in the shard.
  struct Record {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
    std::int32_t label = 0;
    std::uint64_t name = 0;  // where its name begins
  };

  /// Reads the shard, or the index in the folder `cache`, and writes it there; an empty
  /// `cache` is not used. Throws InputError: of kind `storage` if the shard cannot be
  /// read, of kind `data`, naming shard and member, if the tar is damaged, an image has
  /// no label or a label no image, a label is no number from 0, or two samples have the
  /// same key.
  ShardIndex(const Shard& shard, const std::filesystem::path& cache);

  std::size_t size() const { return records_.size(); }
  const Record& record(std::size_t sample) const { return records_[sample]; }
  /// The name of a sample's image.
  std::string name(std::size_t sample) const { return &names_[records_[sample].name]; }

 private:
  bool read_cache(const Shard& shard, const std::filesystem::path& file);
  void write_cache(const Shard& shard, const std::filesystem::path& file) const;
  bool is_sound(const Shard& shard) const;

  SharedArray<Record> records_;
  SharedArray<char> names_;
};

}  // namespace convoy
