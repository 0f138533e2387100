// SPDX-License-Identifier: Apache-2.0

#include "convoy/predict/given_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/data/checks.h"
#include "convoy/data/gzip.h"
#include "convoy/data/idx.h"
#include "convoy/images/image_file.h"
#include "convoy/loader/resize.h"
#include "convoy/system/file.h"
#include "convoy/system/mapped_file.h"
#include "convoy/system/tasks/parallel_tasks.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

bool has_image_ending(const fs::path& file) {
  std::string ending = file.extension();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

std::vector<fs::path> images_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator();
       entries.increment(error)) {
    std::error_code ignored;
    if (entries->is_regular_file(ignored) && has_image_ending(entries->path())) {
      files.push_back(entries->path());
    }
  }
  if (error) throw storage_error(folder, "list this folder", error.value());
  if (files.empty()) {
    throw InputError(InputKind::usage, {.where = folder,
                                        .found = "no images",
                                        .expected = "files as .jpg, .jpeg or .png in it",
                                        .hint = ""});
  }
  std::ranges::sort(files);
  return files;
}

class NamedFiles final : public EncodedImages {
 public:
  explicit NamedFiles(std::vector<fs::path> files) : files_(std::move(files)) {}

  std::string name(std::size_t sample) const override { return files_[sample]; }

  std::span<const std::byte> read(std::size_t sample,
                                  std::vector<std::byte>& buffer) const override {
    buffer = read_bytes(files_[sample]);
    return buffer;
  }

 private:
  std::vector<fs::path> files_;
};

/// Planes of one channel, as Pillow's convert("L") makes them, or of three.
std::vector<std::uint8_t> planes_of(const Image& image, int channels) {
  const std::size_t pixels = image.pixels.size() / 3;
  std::vector<std::uint8_t> planes(pixels * static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::uint8_t* rgb = &image.pixels[3 * i];
    if (channels == 1) {
      planes[i] = static_cast<std::uint8_t>(
          (rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >> 16);
    } else {
      for (std::size_t c = 0; c < 3; ++c) planes[c * pixels + i] = rgb[c];
    }
  }
  return planes;
}

/// Decodes a file to the pixels of an image of that shape.
void decode_to(const fs::path& file, const Shape& shape, std::uint8_t* dst) {
  const Image image = decode_image(read_bytes(file), file);
  const std::vector<std::uint8_t> planes = planes_of(image, shape.channels);
  Resizer<std::uint8_t> resizer({shape.channels, image.size.height, image.size.width},
                                shape);
  std::ranges::copy(resizer.resize(planes), dst);
}

Dataset empty_like(const Dataset& like, std::size_t count) {
  return {.name = like.name,
          .shape = like.shape,
          .classes = like.classes,
          .labels = std::vector<std::int32_t>(count)};
}

void check_channels(const Dataset& like) {
  if (like.shape.channels == 1 || like.shape.channels == 3) return;
  throw InputError(InputKind::settings,
                   {.where = "data=" + like.name,
                    .found = fmt::format("images of {} channels", like.shape.channels),
                    .expected = "a run on grey or RGB images",
                    .hint = ""});
}

}  // namespace

std::vector<fs::path> image_files(const std::vector<std::string>& names) {
  std::vector<fs::path> files;
  for (const std::string& name : names) {
    std::error_code ignored;
    if (!fs::is_directory(name, ignored)) {
      files.emplace_back(name);
      continue;
    }
    const std::vector<fs::path> below = images_below(name);
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

bool is_idx_file(const fs::path& file) {
  constexpr std::array<std::byte, 4> kImages = {std::byte{0}, std::byte{0}, std::byte{8},
                                                std::byte{3}};
  try {
    const MappedFile mapped(file);
    const std::span<const std::byte> bytes = mapped.bytes();
    return is_gzip(bytes) || (bytes.size() >= kImages.size() &&
                              std::ranges::equal(bytes.first(kImages.size()), kImages));
  } catch (const InputError&) {
    return false;  // whoever reads it as an image says what is wrong
  }
}

GivenImages given_files(const std::vector<fs::path>& files, const Dataset& like,
                        int threads) {
  GivenImages given{.data = empty_like(like, files.size())};
  given.faults.resize(files.size());
  given.names.assign(files.begin(), files.end());
  if (like.files) {
    given.data.files = ImageFiles{.contents = std::make_shared<NamedFiles>(files),
                                  .decoding = like.files->decoding,
                                  .short_side = like.files->short_side};
    return given;
  }
  check_channels(like);
  std::vector<std::uint8_t> pixels(files.size() * like.shape.size());
  run_in_parallel(files.size(), static_cast<std::size_t>(threads),
                  [&](std::size_t i, std::size_t) {
                    try {
                      decode_to(files[i], like.shape, &pixels[i * like.shape.size()]);
                    } catch (const InputError& error) {
                      given.faults[i] = error.what();
                    }
                  });
  given.data.images = std::move(pixels);
  return given;
}

GivenImages given_idx(const fs::path& file, const Dataset& like) {
  if (like.files || like.shape.channels != 1) {
    throw bad_data(file, "an idx file, whose images are grey",
                   "JPEG or PNG files, for a model of RGB images");
  }
  GivenImages given{.data = read_idx_images(file, like.classes)};
  given.faults.resize(given.data.size());
  for (std::size_t i = 0; i < given.data.size(); ++i) {
    given.names.push_back(fmt::format("{}[{}]", file.string(), i));
  }
  return given;
}

}  // namespace convoy
