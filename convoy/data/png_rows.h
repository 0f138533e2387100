// SPDX-License-Identifier: Apache-2.0
//
// PngRows: a PNG's rows as they are, by libpng, without any conversion of colours.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace convoy {

class PngRows {
 public:
  /// Reads the header. Borrows `content`; `where` names it in errors.
  /// Throws InputError of kind `data` unless it is a PNG of 8-bit RGB, not interlaced.
  PngRows(std::span<const std::uint8_t> content, std::string where);
  ~PngRows();
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;

  std::size_t width() const;
  std::size_t height() const;

  /// The next row, [column][red, green, blue].
  /// Throws InputError of kind `data`, naming the row, if it is damaged.
  /// Requires: row.size() == 3 * width(), and not more calls than height().
  void next(std::span<std::uint8_t> row);

  /// Reads what follows the rows. Throws as next() does.
  void finish();

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace convoy
