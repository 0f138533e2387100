// SPDX-License-Identifier: Apache-2.0
//
// Folders of image files: train/CLASS/* and val/CLASS/*, copies of Pillow's images.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "convoy/data/folder/image_folder.h"
#include "convoy/system/file.h"
#include "convoy/system/temporary_folder.h"
#include "tests/images/pillow_images.h"

namespace convoy {

class ImageFolder {
 public:
  std::filesystem::path path() const { return folder_.path(); }
  std::filesystem::path path(const std::string& name) const { return path() / name; }

  /// Copies one of Pillow's images.
  void add(const std::string& name, const std::string& image = "sub420.jpg") const {
    make_folders(path(name).parent_path());
    std::filesystem::copy_file(PillowImages::get().path(image), path(name),
                               std::filesystem::copy_options::overwrite_existing);
  }

  void write(const std::string& name, const std::string& content) const {
    make_folders(path(name).parent_path());
    write_atomically(path(name), content);
  }

  /// Two classes, of three and two images for training and one for validation each.
  void add_two_classes() const {
    add("train/cat/a.JPEG", "sub420.jpg");
    add("train/cat/b.png", "palette.png");
    add("train/cat/c.jpg", "cmyk.jpg");
    add("train/dog/a.jpeg", "grey.jpg");
    add("train/dog/b.JPG", "large.jpg");
    add("val/cat/x.jpg", "progressive444.jpg");
    add("val/dog/y.jpg", "rotated.jpg");
  }

  ImageFolderOptions options(int crop = 32, int short_side = 40) const {
    return {.root = path(), .crop = crop, .short_side = short_side};
  }

  /// Lets all folders below `half` look unchanged for a minute.
  void settle(const std::string& half) const {
    namespace fs = std::filesystem;
    const auto before = fs::file_time_type::clock::now() - std::chrono::minutes(1);
    for (const auto& entry : fs::directory_iterator(path(half))) {
      fs::last_write_time(entry.path(), before);
    }
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace convoy
