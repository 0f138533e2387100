// SPDX-License-Identifier: Apache-2.0
//
// The catalog: a dataset by its name.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/data/locate.h"
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
/// file (the message says where it searched and how to get it), `data` for bad content.
DataPair load_data(const DataOptions& options);

/// Loads what was found, from whichever form it has.
DataPair load_place(const DataSource& source, const DataPlace& place);

/// What one half of a dataset holds.
struct SplitCheck {
  std::size_t count = 0;
  std::vector<std::size_t> per_class;  // by label
  PixelMoments pixels;                 // of all channels together
  std::vector<PixelMoments> channels;  // of each
};

struct DataCheck {
  std::string name;
  std::filesystem::path folder;  // empty for a dataset made in memory
  Shape shape;
  std::vector<std::string> classes;
  SplitCheck train;
  SplitCheck test;
};

/// Loads a dataset, compares every file with its published size and digest, its samples
/// with what is known of them, and counts.
/// Throws as load_data does, and `data` for what differs.
DataCheck check_data(const DataOptions& options);

}  // namespace convoy
