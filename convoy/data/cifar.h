// SPDX-License-Identifier: Apache-2.0
//
// Cifar: reads the binary files of CIFAR-10 and CIFAR-100, plain or gzip.
//
//   CIFAR-10    | label | 3 x 32 x 32 pixels | label | ...
//   CIFAR-100   | coarse label | fine label | 3 x 32 x 32 pixels | ...
//
// There is no header: a file is complete if it has the published size.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/data/source.h"

namespace convoy {

/// Reads files of a folder, one after the other, without setting the name. A record
/// begins with `labels` bytes, of which the last is used.
///
/// Throws InputError: `storage` if a file cannot be read; `data`, naming the file, if its
/// size is not the published one or a label is not below the number of classes.
Dataset read_cifar(const std::filesystem::path& folder,
                   const std::vector<DataFile>& files, std::size_t labels,
                   const std::vector<std::string>& classes);

}  // namespace convoy
