// SPDX-License-Identifier: Apache-2.0
//
// The catalog: a dataset by its name, whole and in memory.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/data/source.h"
#include "convoy/data/statistics.h"
#include "convoy/data/synthetic.h"

namespace convoy {

struct DataOptions {
  std::string name = "fashion_mnist";
  std::filesystem::path
      root{};  // where the files are; empty: searched for (see locate.h)
  SyntheticOptions synthetic{};  // for the dataset of that name
};

/// Loads a dataset.
///
/// Throws InputError: `settings` for an unknown name or option, `storage` for a missing
/// file (it says where it looked and how to get it), `data` for bad content.
DataPair load_data(const DataOptions& options);

/// What one half of a dataset holds.
struct SplitCheck {
  std::size_t count = 0;
  std::vector<std::size_t> per_class;  // by label
  PixelMoments pixels;
};

struct DataCheck {
  std::string name;
  std::filesystem::path folder;  // empty for a dataset made in memory
  Shape shape;
  std::vector<std::string> classes;
  SplitCheck train;
  SplitCheck test;
};

/// Loads a dataset, compares every file with its published size and digest, and counts.
/// Throws as load_data does, and `data` for a file that differs.
DataCheck check_data(const DataOptions& options);

/// Throws unless each file in the folder has its published size and digest.
void verify_files(const DataSource& source, const std::filesystem::path& folder);

}  // namespace convoy
