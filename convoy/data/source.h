// SPDX-License-Identifier: Apache-2.0
//
// DataSource: what is known about a dataset before it is read.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy {

/// A file of a dataset, decompressed.
struct DataFile {
  std::string name;
  std::size_t bytes;
  std::string sha256{};  // empty if none is published
};

/// How the files of a form are read.
enum class Format { idx, cifar10, cifar100, sheets, matlab, compact };

/// One of the forms in which a dataset is stored on disk. The files of one half form a
/// sequence: for idx and sprites the last file has the labels, otherwise each file is a
/// part.
struct DataForm {
  Format format;
  std::vector<DataFile> train;
  std::vector<DataFile> test;
  std::string folder{};  // subfolder that its archive unpacks to; may be empty

  std::vector<DataFile> files() const;  // both halves
};

/// What is known about one half's samples, whatever their form.
struct SplitFacts {
  std::size_t count = 0;
  /// By label; from here on, fields may be empty (unknown).
  std::vector<std::size_t> per_class{};
  std::vector<double> channel_means{};  // to four digits
  std::string sha256{};                 // see samples_digest()
};

/// Where the images are of a dataset whose images are decoded while they are used.
enum class ImageStore {
  none,    // they are in memory
  folder,  // image_folder.h
  tar,     // tar_images.h
  packed   // packed_format.h
};

struct DataSource {
  std::string name{};
  std::string description{};
  std::vector<std::string> classes{};
  Shape shape{};
  SplitFacts train{};
  SplitFacts test{};
  /// The supported forms; none for a generated dataset. The first one is what `get`
  /// writes.
  std::vector<DataForm> forms{};
  std::string system_folder{};  // below the system's dataset folder; may be empty
  std::string npm_package{};    // that contains the files; may be empty
  std::string how_to_get{};     // a command, for messages
  ImageStore store = ImageStore::none;

  bool is_of_files() const { return store != ImageStore::none; }
};

/// All datasets, the default one first.
std::span<const DataSource> data_sources();

/// Throws InputError of kind `settings`, with the nearest name, if there is none.
const DataSource& find_source(std::string_view name);

}  // namespace convoy
