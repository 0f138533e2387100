// SPDX-License-Identifier: Apache-2.0
//
// PngRows: reads a PNG with libpng, its rows one by one or all at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace convoy {

/// Which files are accepted.
enum class PngKind {
  rgb,  // 8-bit RGB, not interlaced
  any   // all but 16-bit grey, converted to 8-bit RGB as Pillow converts them
};

class PngRows {
 public:
  /// Reads the header. Borrows `content`; `where` names it in errors.
  /// Throws InputError of kind `data` unless it is a PNG of that kind, and of kind any
  /// if it announces more pixels than are read (image_faults.h).
  PngRows(std::span<const std::uint8_t> content, std::string where,
          PngKind kind = PngKind::rgb);
  ~PngRows();
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;

  std::size_t width() const;
  std::size_t height() const;

  /// Reads the next row, [column][red, green, blue]. Throws InputError of kind `data`,
  /// naming the row, if it is damaged. Requires: row.size() == 3 * width(), and at most
  /// height() calls; kind rgb.
  void next(std::span<std::uint8_t> row);

  /// Reads what follows the rows. Throws as next().
  void finish();

  /// Reads all rows and what follows them. Throws InputError of kind `data`. Requires:
  /// image.size() == 3 * width() * height(); no other call.
  void read_all(std::span<std::uint8_t> image);

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace convoy
