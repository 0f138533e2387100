// SPDX-License-Identifier: Apache-2.0
//
// PngRows: reads the rows of a PNG with libpng, without colour conversion.

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

  /// Reads the next row, [column][red, green, blue]. Throws InputError of kind `data`,
  /// naming the row, if it is damaged. Requires: row.size() == 3 * width(), and at most
  /// height() calls.
  void next(std::span<std::uint8_t> row);

  /// Reads what follows the rows. Throws as next().
  void finish();

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace convoy
