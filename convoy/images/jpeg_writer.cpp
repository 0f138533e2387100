// SPDX-License-Identifier: Apache-2.0
//
// libjpeg reports errors by a function that must not return. Ours jumps to
// JpegWriter::write(), which has nothing to destroy.

#include "convoy/images/jpeg_writer.h"

// jpeglib.h needs std::FILE's declaration before it.
#include <cstdio>
// clang-format off
#include <jpeglib.h>
// clang-format on

#include <csetjmp>
#include <cstdlib>
#include <span>
#include <string>

#include "convoy/images/image_faults.h"

namespace convoy {
namespace {

struct JpegWriter {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump{};
  char complaint[JMSG_LENGTH_MAX] = "";
  unsigned char* bytes = nullptr;
  unsigned long size = 0;

  JpegWriter() {
    info.err = jpeg_std_error(&errors);
    errors.error_exit = on_error;
    errors.emit_message = [](j_common_ptr, int) {};
    info.client_data = this;
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&info);
    std::free(bytes);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  [[noreturn]] static void on_error(j_common_ptr info) {
    auto& writer = *static_cast<JpegWriter*>(info->client_data);
    info->err->format_message(info, writer.complaint);
    std::longjmp(writer.jump, 1);
  }

  /// Returns whether libjpeg reported no error.
  bool write(const Image& image, int quality) {
    if (setjmp(jump) != 0) return false;
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &bytes, &size);
    info.image_width = static_cast<JDIMENSION>(image.size.width);
    info.image_height = static_cast<JDIMENSION>(image.size.height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, quality, TRUE);
    info.dct_method = JDCT_ISLOW;
    jpeg_start_compress(&info, TRUE);
    for (int y = 0; y < image.size.height; ++y) {
      auto* row = const_cast<std::uint8_t*>(image.row(y));
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    return true;
  }
};

}  // namespace

std::vector<std::byte> jpeg_bytes(const Image& image, int quality,
                                  const std::string& where) {
  JpegWriter writer;
  if (!writer.write(image, quality)) {
    refuse_image(where, std::string("what libjpeg refuses (") + writer.complaint + ")");
  }
  const auto bytes = std::as_bytes(std::span(writer.bytes, writer.size));
  return {bytes.begin(), bytes.end()};
}

}  // namespace convoy
