// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/png_sprites.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "convoy/base/json.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/gzip.h"
#include "convoy/data/locate.h"
#include "convoy/images/png_rows.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

constexpr std::size_t kMostPngBytes = std::size_t{1} << 30;  // after decompression

json parse_list(const PlainFile& file) {
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  json list = parse_json(text, {.where = file.path(),
                                .expected = "a JSON list of labels",
                                .hint = "download the file again"});
  if (list.is_array()) return list;
  throw bad_data(file.path(), "JSON that is not a list", "a JSON list of labels");
}

std::vector<std::int32_t> read_labels(const PlainFile& file, std::size_t classes) {
  std::vector<std::int32_t> labels;
  for (const json& label : parse_list(file)) {
    if (!label.is_number_unsigned() || label.get<std::uint64_t>() >= classes) {
      throw bad_data(file.path(),
                     fmt::format("label {} at sample {}", label.dump(), labels.size()),
                     fmt::format("labels from 0 to {}", classes - 1));
    }
    labels.push_back(label.get<std::int32_t>());
  }
  if (labels.empty()) throw bad_data(file.path(), "no labels", "at least one label");
  return labels;
}

/// Transposes [pixel][channel] to [channel][pixel].
void separate(std::span<const std::uint8_t> row, std::uint8_t* image) {
  const std::size_t pixels = kSmallColourShape.pixels();
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      image[channel * pixels + pixel] = row[3 * pixel + channel];
    }
  }
}

void check_width(const PngRows& sheet, const std::string& where) {
  if (sheet.width() == kSmallColourShape.pixels()) return;
  throw bad_data(
      where, with_commas(sheet.width()) + " pixels per row",
      with_commas(kSmallColourShape.pixels()) + " pixels per row, one image of 32 x 32");
}

[[noreturn]] void refuse_counts(const std::string& where, std::size_t labels,
                                std::size_t images) {
  throw bad_data(where, with_commas(labels) + " labels",
                 with_commas(images) + " labels, one for each row of the images");
}

/// Writes a sheet's images to the beginning of `images`; returns their number.
std::size_t read_png_sprite(const PlainFile& file, std::span<std::uint8_t> images) {
  PngRows sheet(file.bytes(), file.path());
  check_width(sheet, file.path());
  if (sheet.height() > images.size() / kSmallColourShape.size()) {
    throw bad_data(file.path(), with_commas(sheet.height()) + " rows",
                   fmt::format("at most {}, the number of remaining labels",
                               with_commas(images.size() / kSmallColourShape.size())));
  }
  std::vector<std::uint8_t> row(kSmallColourShape.size());
  for (std::size_t i = 0; i < sheet.height(); ++i) {
    sheet.next(row);
    separate(row, images.data() + i * kSmallColourShape.size());
  }
  sheet.finish();
  return sheet.height();
}

}  // namespace

Dataset read_png_sprites(const fs::path& folder, const std::vector<DataFile>& files,
                         const std::vector<std::string>& classes) {
  const PlainFile label_file(file_in(folder, files.back()), kMostJsonBytes);
  std::vector<std::int32_t> labels = read_labels(label_file, classes.size());
  std::vector<std::uint8_t> images =
      room_for(labels.size() * kSmallColourShape.size(), label_file.path());
  std::size_t count = 0;
  for (const DataFile& file : std::span(files).first(files.size() - 1)) {
    count += read_png_sprite(PlainFile(file_in(folder, file), kMostPngBytes),
                             std::span(images).subspan(count * kSmallColourShape.size()));
  }
  if (count != labels.size()) refuse_counts(label_file.path(), labels.size(), count);
  return {.name = "",
          .shape = kSmallColourShape,
          .classes = classes,
          .images = std::move(images),
          .labels = std::move(labels)};
}

}  // namespace convoy
