// SPDX-License-Identifier: Apache-2.0
//
// Images that a person names, in the form in which a run's model takes its own: files
// stay files for a run on files; for a run on images in memory, they are decoded, made
// grey if its images are, and resized to their size.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"

namespace convoy {

/// Returns files, and the images in folders and those inside, sorted by path. Throws
/// InputError: of kind `storage` for a folder that cannot be listed, of kind `usage` for
/// one without images. Files need not exist.
std::vector<std::filesystem::path> image_files(const std::vector<std::string>& names);

/// Whether a file is an idx file, plain or gzip.
bool is_idx_file(const std::filesystem::path& file);

/// Images to be shown to a model, with labels that say nothing.
struct GivenImages {
  Dataset data{};
  std::vector<std::string> names{};   // one per image
  std::vector<std::string> faults{};  // one per image, empty: none so far
};

/// As the dataset `like` has its images, whose own are not used; on that many threads.
/// Throws InputError of kind `settings` if `like` has neither one nor three channels.
GivenImages given_files(const std::vector<std::filesystem::path>& files,
                        const Dataset& like, int threads);

/// The images of an idx file. Throws InputError: of kind `data` if it is damaged or the
/// images of `like` are not grey.
GivenImages given_idx(const std::filesystem::path& file, const Dataset& like);

}  // namespace convoy
