// SPDX-License-Identifier: Apache-2.0
//
// libpng reports errors by longjmp. The jump ends in Reader::attempt(); the lambda that
// it leaves, which calls libpng, has nothing to destroy.

#include "convoy/images/png_rows.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/images/image_faults.h"

namespace convoy {

struct PngRows::Reader {
  std::string where;
  PngKind kind;
  std::span<const std::uint8_t> rest;
  std::size_t rows_read = 0;
  png_structp png = nullptr;
  png_infop info = nullptr;
  char complaint[128] = "";

  Reader(std::span<const std::uint8_t> content, std::string name, PngKind accepted)
      : where(std::move(name)), kind(accepted), rest(content) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    info = png != nullptr ? png_create_info_struct(png) : nullptr;
    if (info == nullptr) {
      png_destroy_read_struct(&png, nullptr, nullptr);
      throw std::bad_alloc();
    }
    png_set_read_fn(png, this, on_read);
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[noreturn]] void refuse(const std::string& found) const {
    if (kind == PngKind::any) refuse_image(where, found);
    throw InputError(InputKind::data,
                     {.where = where,
                      .found = found,
                      .expected = "a complete PNG file of 8-bit RGB, not interlaced",
                      .hint = "download the file again"});
  }

  /// Runs `call` until it returns or libpng reports an error.
  template <class Call>
  bool attempt(const Call& call) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    call();
    return true;
  }

  static void on_error(png_structp png, png_const_charp message) {
    auto& reader = *static_cast<Reader*>(png_get_error_ptr(png));
    std::strncpy(reader.complaint, message, sizeof(reader.complaint) - 1);
    std::longjmp(png_jmpbuf(png), 1);
  }

  static void on_warning(png_structp, png_const_charp) {}

  static void on_read(png_structp png, png_bytep bytes, std::size_t size) {
    auto& reader = *static_cast<Reader*>(png_get_io_ptr(png));
    if (size > reader.rest.size()) png_error(png, "truncated");
    std::ranges::copy(reader.rest.first(size), bytes);
    reader.rest = reader.rest.subspan(size);
  }

  bool fits() const {
    const int colour = png_get_color_type(png, info);
    const int bits = png_get_bit_depth(png, info);
    if (kind == PngKind::any) return bits <= 8 || (colour & PNG_COLOR_MASK_COLOR) != 0;
    return colour == PNG_COLOR_TYPE_RGB && bits == 8 &&
           png_get_interlace_type(png, info) == PNG_INTERLACE_NONE;
  }

  void check_kind() const {
    if (!fits()) {
      refuse(fmt::format("a PNG of colour type {}, {} bits, interlacing {}",
                         png_get_color_type(png, info), png_get_bit_depth(png, info),
                         png_get_interlace_type(png, info)));
    }
  }

  /// Of files of any kind, libpng makes 8-bit RGB.
  void convert() const {
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
  }
};

PngRows::PngRows(std::span<const std::uint8_t> content, std::string where, PngKind kind)
    : reader_(std::make_unique<Reader>(content, std::move(where), kind)) {
  Reader& reader = *reader_;
  if (png_sig_cmp(content.data(), 0, std::min<std::size_t>(content.size(), 8)) != 0) {
    reader.refuse(content.empty() ? "an empty file" : "a file that is not a PNG");
  }
  if (!reader.attempt([&] { png_read_info(reader.png, reader.info); })) {
    reader.refuse(std::string("a damaged PNG header (") + reader.complaint + ")");
  }
  reader.check_kind();
  if (kind == PngKind::rgb) return;
  check_image_size(reader.where, width(), height());
  if (!reader.attempt([&] { reader.convert(); })) reader.refuse("a damaged PNG header");
}

PngRows::~PngRows() = default;

std::size_t PngRows::width() const {
  return png_get_image_width(reader_->png, reader_->info);
}

std::size_t PngRows::height() const {
  return png_get_image_height(reader_->png, reader_->info);
}

void PngRows::next(std::span<std::uint8_t> row) {
  Reader& reader = *reader_;
  check(row.size() == 3 * width() && reader.rows_read < height(), "a row fits");
  if (!reader.attempt([&] { png_read_row(reader.png, row.data(), nullptr); })) {
    reader.refuse(
        fmt::format("a damaged PNG at row {} ({})", reader.rows_read, reader.complaint));
  }
  ++reader.rows_read;
}

void PngRows::finish() {
  Reader& reader = *reader_;
  if (!reader.attempt([&] { png_read_end(reader.png, nullptr); })) {
    reader.refuse(std::string("a damaged PNG after its rows (") + reader.complaint + ")");
  }
}

void PngRows::read_all(std::span<std::uint8_t> image) {
  Reader& reader = *reader_;
  check(image.size() == 3 * width() * height(), "an image fits");
  std::vector<png_bytep> rows(height());
  for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = &image[3 * width() * y];
  if (!reader.attempt([&] { png_read_image(reader.png, rows.data()); })) {
    reader.refuse(std::string("a damaged PNG (") + reader.complaint + ")");
  }
  finish();
}

}  // namespace convoy
