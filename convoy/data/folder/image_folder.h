// SPDX-License-Identifier: Apache-2.0
//
// Image folder: a dataset as ImageNet is kept: train/CLASS/IMAGE and val/CLASS/IMAGE,
// read as torchvision's ImageFolder reads them.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "convoy/data/dataset.h"
#include "convoy/images/image_file.h"

namespace convoy {

struct ImageFolderOptions {
  std::filesystem::path root{};  // has the folders train and val
  int crop = 224;                // height and width of the images that are made of files
  int short_side = 256;          // see ImageFiles
  Decoding decoding = Decoding::exact;
  bool skip_damaged = false;      // note files that cannot be decoded, and go on
  std::filesystem::path cache{};  // folder of indices; empty: none
};

/// Returns the images of train and of val, as files that are decoded later.
///
/// Classes have the names of their folders, or those of synset_words.txt or
/// LOC_synset_mapping.txt in `root`, of which every line is a folder's name, a blank and
/// the class's name. Throws InputError: of kind `storage` for folders that cannot be
/// read, of kind `data` for folders without images, halves with different classes, and
/// names that do not fit the folders.
DataPair open_image_folder(const ImageFolderOptions& options);

/// Returns images that are files, which are decoded as the options say.
Dataset dataset_of_files(const std::string& name, const std::vector<std::string>& classes,
                         SharedLabels labels,
                         std::shared_ptr<const EncodedImages> contents,
                         const ImageFolderOptions& options);

}  // namespace convoy
