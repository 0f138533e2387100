// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/matlab.h"

#include <fmt/format.h>
#include <matio.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "convoy/base/text.h"
#include "convoy/data/checks.h"
#include "convoy/data/locate.h"
#include "convoy/data/matlab_packing.h"
#include "convoy/system/mapped_file.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBeginning = "MATLAB 5.0 MAT-file";
constexpr const char* kDownloadAgain = "download the file again";

/// deflate compresses at most this many bytes into one.
constexpr unsigned __int128 kMostPacked = 1032;

struct CloseFile {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

std::string extents_of(const matvar_t& variable) {
  std::string text;
  for (int i = 0; i < variable.rank; ++i) {
    text += fmt::format("{}{}", i > 0 ? " x " : "", variable.dims[i]);
  }
  return text;
}

/// An open file. Its header and variables are checked before content is read.
class MatFile {
 public:
  explicit MatFile(const fs::path& path)
      : path_(path.string()), bytes_(check_file(path)) {
    Mat_LogInitFunc("convoy",
                    [](int, char*) {});  // our own messages are better than matio's
    file_.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!file_)
      throw bad_data(path_, "a damaged header", "a MATLAB 5 file", kDownloadAgain);
    images_ = find("X");
    labels_ = find("y");
    check_images();
    check_label_form();
  }

  const std::string& path() const { return path_; }
  std::size_t count() const { return images_->dims[3]; }

  void read_images(std::span<std::uint8_t> images) {
    const auto size = static_cast<int>(images.size());
    if (Mat_VarReadDataLinear(file_.get(), images_.get(), images.data(), 0, 1, size) != 0)
      refuse("X", "damaged or truncated", "complete content");
  }

  std::vector<double> read_labels() {
    std::vector<double> labels(count());
    const auto size = static_cast<int>(labels.size());
    labels_->class_type = MAT_C_DOUBLE;  // what they are converted to
    if (Mat_VarReadDataLinear(file_.get(), labels_.get(), labels.data(), 0, 1, size) != 0)
      refuse("y", "damaged or truncated", "complete content");
    return labels;
  }

  [[noreturn]] void refuse(const std::string& variable, const std::string& found,
                           const std::string& expected) const {
    throw bad_data(path_ + ": " + variable, found, expected, kDownloadAgain);
  }

 private:
  /// matio would try other formats; SVHN uses only this one. Returns the file's length.
  static std::size_t check_file(const fs::path& path) {
    const MappedFile file(path);
    const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                                file.bytes().size());
    if (!text.starts_with(kBeginning)) {
      throw bad_data(path.string(),
                     text.empty() ? "an empty file" : "another kind of file",
                     fmt::format("a MATLAB 5 file (it begins with \"{}\")", kBeginning),
                     kDownloadAgain);
    }
    check_matlab_packing(
        {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, path.string());
    return text.size();
  }

  Variable find(const char* name) {
    Variable variable(Mat_VarReadInfo(file_.get(), name));
    if (!variable) refuse(name, "no such variable", "the variables X and y");
    return variable;
  }

  void check_images() const {
    const matvar_t& x = *images_;
    const bool fits = x.class_type == MAT_C_UINT8 && !x.isComplex && x.rank == 4 &&
                      x.dims[0] == 32 && x.dims[1] == 32 && x.dims[2] == 3 &&
                      x.dims[3] > 0;
    if (!fits) refuse("X", extents_of(x), "32 x 32 x 3 x count bytes");
    const unsigned __int128 bytes =
        static_cast<unsigned __int128>(x.dims[3]) * kSmallColourShape.size();
    if (bytes > bytes_ * kMostPacked || bytes > std::numeric_limits<int>::max()) {
      refuse("X", extents_of(x),
             "not more images than a file of " + with_commas(bytes_) + " bytes can hold");
    }
  }

  void check_label_form() const {
    const matvar_t& y = *labels_;
    const bool number = y.class_type == MAT_C_UINT8 || y.class_type == MAT_C_DOUBLE;
    const bool fits = number && !y.isComplex && y.rank == 2 && y.dims[1] == 1;
    if (!fits) refuse("y", extents_of(y), "count x 1 numbers");
    if (y.dims[0] != count()) {
      refuse("y", with_commas(y.dims[0]) + " labels",
             with_commas(count()) + " labels, one for each image of X");
    }
  }

  std::string path_;
  std::size_t bytes_;
  std::unique_ptr<mat_t, CloseFile> file_;
  Variable images_;
  Variable labels_;
};

/// Transposes [column][row] to [row][column], plane by plane.
void transpose(std::span<std::uint8_t> images) {
  constexpr std::size_t kSide = 32;
  for (; !images.empty(); images = images.subspan(kSide * kSide)) {
    for (std::size_t row = 0; row < kSide; ++row) {
      for (std::size_t column = row + 1; column < kSide; ++column) {
        std::swap(images[row * kSide + column], images[column * kSide + row]);
      }
    }
  }
}

void add_labels(MatFile& file, std::vector<std::int32_t>& labels) {
  std::size_t sample = 0;
  for (const double digit : file.read_labels()) {
    const auto label = std::clamp(digit, 0.0, 255.0);
    if (label != digit || label < 1 || label > 10 || label != static_cast<int>(label)) {
      file.refuse("y", fmt::format("label {} at sample {}", digit, sample),
                  "labels from 1 to 10, which stands for 0");
    }
    labels.push_back(static_cast<int>(label) % 10);
    ++sample;
  }
}

}  // namespace

Dataset read_matlab(const fs::path& folder, const std::vector<DataFile>& files,
                    const std::vector<std::string>& classes) {
  std::vector<std::unique_ptr<MatFile>> open;
  std::vector<std::int32_t> labels;
  for (const DataFile& file : files) {
    open.push_back(std::make_unique<MatFile>(file_in(folder, file)));
    add_labels(*open.back(), labels);
  }
  std::vector<std::uint8_t> images =
      room_for(labels.size() * kSmallColourShape.size(), open.front()->path());
  std::span<std::uint8_t> rest(images);
  for (const auto& file : open) {
    const auto part = rest.first(file->count() * kSmallColourShape.size());
    file->read_images(part);
    transpose(part);
    rest = rest.subspan(part.size());
  }
  return {.name = "",
          .shape = kSmallColourShape,
          .classes = classes,
          .images = std::move(images),
          .labels = std::move(labels)};
}

}  // namespace convoy
