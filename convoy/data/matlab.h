// SPDX-License-Identifier: Apache-2.0
//
// Matlab: reads images and labels of SVHN's MATLAB 5 files with matio.
//
//   X   32 x 32 x 3 x count bytes, the first extent (the row) fastest
//   y   count x 1, the digit; 10 stands for 0

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/data/source.h"

namespace convoy {

/// Reads files of a folder, one after the other, without setting the name. Memory is
/// allocated for the images only.
///
/// Throws InputError: `storage` if a file cannot be read or memory is too small; `data`,
/// naming the file and the variable, if it is not a MATLAB 5 file, is damaged, lacks a
/// variable, or has a variable of another form or an invalid label.
Dataset read_matlab(const std::filesystem::path& folder,
                    const std::vector<DataFile>& files,
                    const std::vector<std::string>& classes);

}  // namespace convoy
