// SPDX-License-Identifier: Apache-2.0
//
// Pack: a dataset in one file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/pack/image_packer.h"

namespace convoy {

struct PackOptions {
  std::filesystem::path file{};
  ImagePacking images{};
  int threads = 1;
  bool skip_damaged = false;  // leave them out; otherwise the first one is an error
  /// Samples so far, and of both halves; may be empty.
  std::function<void(std::size_t done, std::size_t all)> progress{};
  /// Whether to stop now; may be empty.
  std::function<bool()> should_stop{};
};

struct PackResult {
  bool complete = false;    // false: stopped, to be continued by the same call
  std::size_t resumed = 0;  // samples that an earlier call had packed
  std::size_t train = 0, val = 0;
  std::uint64_t bytes = 0;              // of the file
  std::vector<std::string> left_out{};  // messages about damaged files, of this call
};

/// Packs both halves, in their order. Throws InputError: of kind `usage` if the file has
/// no name, of kind `settings` if the images are in memory and not 8-bit RGB, of kind
/// `storage` if the file exists or cannot be written, of kind `data` for a damaged image,
/// and for halves of which nothing is left.
PackResult pack_data(const DataPair& data, const PackOptions& options);

}  // namespace convoy
