// SPDX-License-Identifier: Apache-2.0
//
// DataSource: what is known of a dataset before any of it is read.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy {

/// A file of a dataset, as it is once unpacked.
struct DataFile {
  std::string name;
  std::size_t bytes;
  std::string sha256;
};

/// The files of a dataset that comes from disk, in the order of DataSource::files.
enum class FileRole : std::size_t {
  train_images,
  train_labels,
  test_images,
  test_labels
};

struct DataSource {
  std::string name{};
  std::string description{};
  std::vector<std::string> classes{};
  Shape shape{};
  std::size_t train_count = 0;
  std::size_t test_count = 0;
  std::vector<DataFile> files{};  // four, by FileRole; none for a dataset made in memory
  std::string system_folder{};    // under the system's dataset folder; may be empty
  std::string npm_package{};      // that holds the files; may be empty
  std::string how_to_get{};       // a command, for people

  const DataFile& file(FileRole role) const {
    return files[static_cast<std::size_t>(role)];
  }
};

/// All datasets, the default one first.
std::span<const DataSource> data_sources();

/// Throws InputError of kind `settings`, with the nearest name, if there is none.
const DataSource& find_source(std::string_view name);

/// Throws InputError of kind `data`, with these `where` and `hint`, unless `content` is
/// that file.
void verify_content(std::span<const std::byte> content, const DataFile& file,
                    const std::string& where, const std::string& hint);

}  // namespace convoy
