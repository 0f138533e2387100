// SPDX-License-Identifier: Apache-2.0
//
// Idx: reads the file format of MNIST and Fashion-MNIST, plain or gzip (detected by
// content).
//
//   | 0 0 8 d | extent 0 | ... | extent d-1 | bytes, last extent fastest |
//
// d is 3 for images (count, rows, columns) and 1 for labels (count); extents are 32-bit
// big-endian numbers. A file must be exactly as long as its header announces.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"

namespace convoy {

/// Reads images and their labels, without setting the name.
///
/// Throws InputError: of kind `storage` if a file cannot be read; of kind `data`, naming
/// the file, if it is not idx, incomplete or empty, if the counts differ, or if a label
/// is not below the number of classes.
Dataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                 const std::vector<std::string>& classes);

/// Reads images alone, whose labels are then all 0, without setting the name. Throws as
/// read_idx().
Dataset read_idx_images(const std::filesystem::path& images,
                        const std::vector<std::string>& classes);

}  // namespace convoy
