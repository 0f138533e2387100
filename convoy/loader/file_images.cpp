// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/file_images.h"

#include <regex>
#include <string>

#include "convoy/base/error.h"

namespace convoy {
namespace {

// More in a row are not single files that are damaged.
constexpr std::size_t kMostSkipped = 100;

std::string in_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\n *"), "; ");
}

}  // namespace

std::optional<FileImages::Shown> FileImages::show(std::size_t sample,
                                                  const std::optional<AugmentKey>& crop) {
  for (std::size_t skipped = 0;; ++skipped, sample = (sample + 1) % data_.size()) {
    try {
      return Shown{decode(sample, crop), sample};
    } catch (const InputError& error) {
      // A file that cannot be read may be whole.
      if (error.kind() != InputKind::data) throw;
      if (!data_.files->damaged || skipped >= kMostSkipped) throw;
      data_.files->damaged->note(sample, in_one_line(error.what()));
      if (damaged_ == DamagedSample::left_out) return std::nullopt;
    }
  }
}

std::span<const std::uint8_t> FileImages::decode(std::size_t sample,
                                                 const std::optional<AugmentKey>& crop) {
  const ImageFiles& files = *data_.files;
  const std::span<const std::byte> content = files.contents->read(sample, content_);
  ImageFile file(content, files.contents->name(sample));
  const ImageSize shown = {data_.shape.width, data_.shape.height};
  const Cutout cutout = crop ? random_cutout(file.size(), shown, crop->stream())
                             : centre_cutout(file.size(), files.short_side, shown);
  return resizer_.show(file, cutout, files.decoding);
}

}  // namespace convoy
