// SPDX-License-Identifier: Apache-2.0
//
// libjpeg reports errors by a function that must not return. Ours jumps to
// Reader::attempt(); the lambda that it leaves, which calls libjpeg, has nothing to
// destroy.

#include "convoy/images/jpeg_file.h"

// jpeglib.h needs std::FILE's declaration before it.
#include <cstdio>
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/images/image_faults.h"

namespace convoy {
namespace {

// A progressive file of few bytes may have scans that take minutes.
constexpr int kMostScans = 500;

/// Pillow's product of two numbers from 0 to 255 that stand for 0 to 1.
int product(int a, int b) {
  const int rounded = a * b + 128;
  return ((rounded >> 8) + rounded) >> 8;
}

/// Files have inverted inks, as Adobe writes them; Pillow takes all for such.
void cmyk_to_rgb(const std::uint8_t* inks, std::uint8_t* rgb, unsigned pixels) {
  for (unsigned i = 0; i < pixels; ++i, inks += 4, rgb += 3) {
    const int light = inks[3];
    for (int c = 0; c < 3; ++c) {
      rgb[c] = static_cast<std::uint8_t>(light - product(255 - inks[c], light));
    }
  }
}

#define CONVOY_TEXT_OF(number) #number
#define CONVOY_VERSION_TEXT(number) CONVOY_TEXT_OF(number)

}  // namespace

std::string jpeg_library() {
  return "libjpeg-turbo " CONVOY_VERSION_TEXT(LIBJPEG_TURBO_VERSION);
}

struct JpegFile::Reader {
  std::string where;
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  char complaint[JMSG_LENGTH_MAX] = "";

  explicit Reader(std::string name) : where(std::move(name)) {
    info.err = jpeg_std_error(&errors);
    errors.error_exit = on_error;
    errors.emit_message = [](j_common_ptr, int) {};
    source.init_source = [](j_decompress_ptr) {};
    source.fill_input_buffer = on_end;
    source.skip_input_data = on_skip;
    source.resync_to_restart = jpeg_resync_to_restart;
    source.term_source = [](j_decompress_ptr) {};
    progress.progress_monitor = on_progress;
    info.client_data = this;
    if (!attempt([&] { jpeg_create_decompress(&info); })) refuse();
  }
  ~Reader() { jpeg_destroy_decompress(&info); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  [[noreturn]] void refuse() const {
    refuse_image(where, std::string("a damaged JPEG (") + complaint + ")");
  }

  /// Runs `call` until it returns or libjpeg reports an error.
  template <class Call>
  bool attempt(const Call& call) {
    if (setjmp(jump) != 0) return false;
    call();
    return true;
  }

  [[noreturn]] static void on_error(j_common_ptr info) {
    auto& reader = *static_cast<Reader*>(info->client_data);
    info->err->format_message(info, reader.complaint);
    std::longjmp(reader.jump, 1);
  }

  /// The whole file was given at first: what lacks now is missing in it.
  static boolean on_end(j_decompress_ptr info) {
    ERREXIT(info, JERR_INPUT_EOF);
    return FALSE;
  }

  static void on_skip(j_decompress_ptr info, long bytes) {
    jpeg_source_mgr& src = *info->src;
    if (bytes <= 0) return;
    const auto skipped = static_cast<std::size_t>(bytes);
    if (skipped > src.bytes_in_buffer) on_end(info);
    src.next_input_byte += skipped;
    src.bytes_in_buffer -= skipped;
  }

  static void on_progress(j_common_ptr info) {
    const auto* of_file = reinterpret_cast<j_decompress_ptr>(info);
    if (of_file->input_scan_number > kMostScans) ERREXIT(info, JERR_BAD_PROGRESSION);
  }

  void read_header(std::span<const std::uint8_t> content) {
    source.next_input_byte = content.data();
    source.bytes_in_buffer = content.size();
    info.src = &source;
    info.progress = &progress;
    if (!attempt([&] { jpeg_read_header(&info, TRUE); })) refuse();
    check_image_size(where, info.image_width, info.image_height);
    if (info.num_components == 2 || info.num_components > 4) {
      refuse_image(where,
                   "a JPEG of " + std::to_string(info.num_components) + " colours");
    }
    info.out_color_space = info.num_components == 4 ? JCS_CMYK : JCS_RGB;
    info.dct_method = JDCT_ISLOW;
  }

  void start(int reduction) {
    info.scale_num = 1;
    info.scale_denom = static_cast<unsigned>(reduction);
    jpeg_start_decompress(&info);
  }

  /// Leaves out columns that neither the box needs nor the upsampling of its colours.
  /// Returns the number of columns that are left out on the left.
  int keep_columns(const Box& box) {
    constexpr int kBeside = 2;
    const int all = static_cast<int>(info.output_width);
    const int left = std::max(0, box.left - kBeside);
    const int right = std::min(all, box.left + box.width + kBeside);
    auto first = static_cast<JDIMENSION>(left);
    auto columns = static_cast<JDIMENSION>(right - left);
    if (right - left < all) jpeg_crop_scanline(&info, &first, &columns);
    return right - left < all ? static_cast<int>(first) : 0;
  }

  /// `inks` has room for one row of CMYK.
  void read_rows(Image& image, std::uint8_t* inks) {
    const bool has_inks = info.out_color_space == JCS_CMYK;
    for (int y = 0; y < image.size.height; ++y) {
      JSAMPROW row = has_inks ? inks : image.row(y);
      jpeg_read_scanlines(&info, &row, 1);
      if (has_inks) cmyk_to_rgb(inks, image.row(y), info.output_width);
    }
  }

  void read_to_end() {
    jpeg_skip_scanlines(&info, info.output_height - info.output_scanline);
    jpeg_finish_decompress(&info);
  }
};

JpegFile::JpegFile(std::span<const std::uint8_t> content, std::string where)
    : reader_(std::make_unique<Reader>(std::move(where))) {
  reader_->read_header(content);
}

JpegFile::~JpegFile() = default;

ImageSize JpegFile::size() const {
  return {static_cast<int>(reader_->info.image_width),
          static_cast<int>(reader_->info.image_height)};
}

Box JpegFile::read(const Box& box, int reduction, Image& image) {
  Reader& reader = *reader_;
  int left_out = 0;
  const bool started = reader.attempt([&] {
    reader.start(reduction);
    left_out = reader.keep_columns(box);
  });
  if (!started) reader.refuse();
  image.resize({static_cast<int>(reader.info.output_width), box.height});
  std::vector<std::uint8_t> inks(4 * std::size_t{reader.info.output_width});
  const bool complete = reader.attempt([&] {
    jpeg_skip_scanlines(&reader.info, static_cast<JDIMENSION>(box.top));
    reader.read_rows(image, inks.data());
    if (reduction == 1) reader.read_to_end();
  });
  if (!complete) reader.refuse();
  return {box.left - left_out, 0, box.width, box.height};
}

}  // namespace convoy
