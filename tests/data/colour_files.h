// SPDX-License-Identifier: Apache-2.0
//
// Small datasets of 32 x 32 colour images for tests, in every form they come in.

#pragma once

#include <matio.h>
#include <png.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/data/dataset.h"
#include "convoy/data/labels.h"
#include "convoy/data/source.h"
#include "convoy/system/file.h"

namespace convoy {

constexpr Shape kColourShape{3, 32, 32};

/// Samples with these labels; pixel i of the whole is i modulo 251, after `first`.
inline Dataset colour_samples(const std::vector<std::uint8_t>& labels,
                              std::size_t first = 0) {
  std::vector<std::uint8_t> images(labels.size() * kColourShape.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    images[i] = static_cast<std::uint8_t>((first + i) % 251);
  }
  return {.shape = kColourShape, .images = images, .labels = widened(labels)};
}

inline std::string text_of(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

/// A file of CIFAR-10, or of CIFAR-100 if there is a coarse label.
inline std::string cifar_file(const Dataset& data, const std::string& coarse_label = "") {
  std::string file;
  for (std::size_t i = 0; i < data.size(); ++i) {
    file += coarse_label + static_cast<char>(data.labels[i]) + text_of(data.image(i));
  }
  return file;
}

inline std::string labels_json(const Dataset& data) {
  return nlohmann::json(std::vector<int>(data.labels.begin(), data.labels.end())).dump();
}

/// A PNG of these rows of RGB, or of another colour type with as many bytes a row.
inline std::string png_file(const std::vector<std::string>& rows, png_uint_32 width,
                            int colour_type = PNG_COLOR_TYPE_RGB) {
  std::string file;
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp writer, png_bytep bytes, std::size_t size) {
        static_cast<std::string*>(png_get_io_ptr(writer))
            ->append(reinterpret_cast<const char*>(bytes), size);
      },
      [](png_structp) {});
  png_set_IHDR(png, info, width, static_cast<png_uint_32>(rows.size()), 8, colour_type,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (const std::string& row : rows) {
    png_write_row(png, reinterpret_cast<png_const_bytep>(row.data()));
  }
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

/// A sheet: one image a row.
inline std::string sheet_file(const Dataset& data) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::string& row = rows.emplace_back();
    for (std::size_t pixel = 0; pixel < kColourShape.pixels(); ++pixel) {
      for (std::size_t channel = 0; channel < 3; ++channel) {
        row += static_cast<char>(data.image(i)[channel * kColourShape.pixels() + pixel]);
      }
    }
  }
  return png_file(rows, kColourShape.pixels());
}

/// A variable of a MATLAB file.
struct MatVariable {
  std::string name;
  std::vector<std::size_t> extents;
  std::vector<std::uint8_t> bytes;
};

inline void write_mat(const std::filesystem::path& path,
                      std::vector<MatVariable> variables,
                      matio_compression compression = MAT_COMPRESSION_ZLIB) {
  mat_t* file = Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5);
  check(file != nullptr, "a MATLAB file can be written");
  for (MatVariable& variable : variables) {
    matvar_t* written =
        Mat_VarCreate(variable.name.c_str(), MAT_C_UINT8, MAT_T_UINT8,
                      static_cast<int>(variable.extents.size()), variable.extents.data(),
                      variable.bytes.data(), MAT_F_DONT_COPY_DATA);
    check(Mat_VarWrite(file, written, compression) == 0, "a variable is written");
    Mat_VarFree(written);
  }
  Mat_Close(file);
}

/// X of an SVHN file: the row is fastest, and the sample slowest.
inline MatVariable mat_images(const Dataset& data) {
  MatVariable x{"X", {32, 32, 3, data.size()}, {}};
  for (std::size_t plane = 0; plane < 3 * data.size(); ++plane) {
    for (std::size_t column = 0; column < 32; ++column) {
      for (std::size_t row = 0; row < 32; ++row) {
        x.bytes.push_back(data.images.bytes()[plane * 1024 + row * 32 + column]);
      }
    }
  }
  return x;
}

/// y of an SVHN file: 10 stands for 0.
inline MatVariable mat_labels(const Dataset& data) {
  MatVariable y{"y", {data.size(), 1}, {}};
  for (const std::int32_t label : data.labels) {
    y.bytes.push_back(static_cast<std::uint8_t>(label ? label : 10));
  }
  return y;
}

inline std::string mat_file(const Dataset& data,
                            matio_compression compression = MAT_COMPRESSION_ZLIB) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     temporary_name("mat", std::random_device{}());
  write_mat(path, {mat_images(data), mat_labels(data)}, compression);
  std::string content = read_text(path);
  std::filesystem::remove(path);
  return content;
}

}  // namespace convoy
