// SPDX-License-Identifier: Apache-2.0
//
// Tar shards: a dataset as WebDataset keeps it: tar files with images KEY.jpg and labels
// KEY.cls, on disk or on servers.
//
// Samples are numbered in the order of the pattern's shards and of their members, so the
// order of an epoch follows from the seed alone, and a resumed run continues at once.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "convoy/data/dataset.h"
#include "convoy/data/folder/image_folder.h"

namespace convoy {

struct TarOptions {
  /// Patterns of the shards (brace_pattern.h): paths or addresses, below `root` unless
  /// they are absolute.
  std::string root{}, train{}, val{};
  std::filesystem::path class_names{};  // file with a name per line; empty: numbers
  std::uint64_t cache_bytes = 0;        // of whole shards from servers
};

/// Returns the images of both halves, as files that are decoded later; `images` says how,
/// and has the folder of cached indices and shards. Without names, there are as many
/// classes as the largest label of train says. Throws InputError: of kind `settings` for
/// patterns, of kind `storage` for shards that cannot be read, of kind `data` for damaged
/// ones and for labels that are not below the number of classes.
DataPair open_tar(const TarOptions& tar, const ImageFolderOptions& images);

}  // namespace convoy
