// SPDX-License-Identifier: Apache-2.0
//
// The catalog: datasets by name.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/data/folder/image_folder.h"
#include "convoy/data/locate.h"
#include "convoy/data/source.h"
#include "convoy/data/statistics.h"
#include "convoy/data/synthetic.h"
#include "convoy/data/tar/tar_images.h"

namespace convoy {

struct DataOptions {
  std::string name = "fashion_mnist";
  std::filesystem::path
      root{};  // folder of the files; empty: searched for (see locate.h)
  SyntheticOptions synthetic{};  // for data=synthetic
  ImageFolderOptions images{};   // for images that are files; its root is `root`
  TarOptions tar{};              // for data=tar; its root is `root`
};

/// Loads a dataset.
///
/// Throws InputError: `settings` for an unknown name or option, `storage` for a missing
/// file (the message says where it searched and how to get it), `data` for bad content.
DataPair load_data(const DataOptions& options);

/// Loads a located dataset, whichever form it has.
DataPair load_place(const DataSource& source, const DataPlace& place);

/// The contents of one half of a dataset.
struct SplitCheck {
  std::size_t count = 0;
  std::vector<std::size_t> per_class;  // by label
  PixelMoments pixels;                 // over all channels
  std::vector<PixelMoments> channels;  // per channel
};

struct DataCheck {
  std::string name;
  std::filesystem::path folder;  // empty for a dataset made in memory
  Shape shape;
  std::vector<std::string> classes;
  SplitCheck train;
  SplitCheck test;
};

/// Loads a dataset and compares every file with its published size and digest, and its
/// samples with the known facts about them. Throws as load_data does, and `data` for
/// differences.
DataCheck check_data(const DataOptions& options);

}  // namespace convoy
