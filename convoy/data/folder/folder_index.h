// SPDX-License-Identifier: Apache-2.0
//
// FolderIndex: the image files of a folder that has one subfolder per class, in
// torchvision's order: classes sorted by name, files sorted by path inside each.
//
// An index of a million files takes minutes to make on a slow disk. So it is kept in the
// user's cache as one file, which is mapped: a line of JSON with the class folders, their
// sizes and times, then the files' names, each followed by a zero byte. It is used again
// while the folder has the same classes, of the same sizes and times.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "convoy/data/shared_array.h"

namespace convoy {

class FolderIndex {
 public:
  struct Class {
    std::string name{};
    std::int64_t time = 0;    // of its folder's last change, in nanoseconds
    std::uint64_t bytes = 0;  // of the folder itself
    std::size_t files = 0;

    bool is_same_folder(const Class& other) const {
      return name == other.name && time == other.time && bytes == other.bytes;
    }
  };

  /// Lists the folder, or uses the index in `cache` and writes it there if it is safe to
  /// use again; an empty `cache` is not used. Throws InputError: of kind `storage` if the
  /// folder or one inside it cannot be read, of kind `data` if there is no class, a class
  /// has no image, or an image has a format that cannot be read.
  FolderIndex(std::filesystem::path folder, const std::filesystem::path& cache);

  const std::vector<Class>& classes() const { return classes_; }
  std::size_t size() const { return starts_.size(); }
  std::filesystem::path path(std::size_t file) const;
  /// The class of each file.
  std::vector<std::int32_t> labels() const;

 private:
  std::size_t file_count() const;
  bool has_same_classes(const nlohmann::ordered_json& known,
                        const std::filesystem::path& file);
  bool read_cache(const std::filesystem::path& file);
  void list();
  void write_cache(const std::filesystem::path& file) const;
  void find_starts();

  std::filesystem::path folder_;
  std::vector<Class> classes_;
  bool has_subfolders_ = false;        // of classes, whose changes would not be noticed
  SharedArray<char> names_;            // each with a zero byte at its end
  std::vector<std::uint32_t> starts_;  // of each name
};

}  // namespace convoy
