// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/whitening.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <vector>

#include "convoy/base/error.h"

namespace convoy {
namespace {

constexpr std::size_t kImages = 2000;  // from which patches are taken
constexpr double kLeastVariance = 5e-4;

/// Accumulates the products of the pixels of square patches.
class PatchSums {
 public:
  PatchSums(Shape image, int kernel)
      : image_(image),
        kernel_(kernel),
        sums_(Eigen::MatrixXd::Zero(patch_size(), patch_size())) {}

  void add(const std::vector<float>& image) {
    const int rows = image_.height - kernel_ + 1, columns = image_.width - kernel_ + 1;
    Eigen::MatrixXf patches(patch_size(), rows * columns);
    for (int i = 0; i < rows * columns; ++i) {
      write_patch(image, i / columns, i % columns, patches.col(i).data());
    }
    sums_ += (patches * patches.transpose()).cast<double>();
    count_ += rows * columns;
  }

  Eigen::MatrixXd mean() const { return sums_ / count_; }

 private:
  int patch_size() const { return image_.channels * kernel_ * kernel_; }

  void write_patch(const std::vector<float>& image, int row, int column,
                   float* dst) const {
    for (int channel = 0; channel < image_.channels; ++channel) {
      for (int y = 0; y < kernel_; ++y) {
        const int line = (channel * image_.height + row + y) * image_.width + column;
        dst = std::copy_n(image.data() + line, kernel_, dst);
      }
    }
  }

  Shape image_;
  int kernel_;
  Eigen::MatrixXd sums_;
  double count_ = 0;
};

Eigen::MatrixXd patch_covariance(SampleImages& images, int kernel) {
  PatchSums sums(images.shape(), kernel);
  std::vector<float> image(images.shape().size());
  for (std::size_t i = 0; i < std::min(kImages, images.size()); ++i) {
    images.write(i, View{}, image.data());
    sums.add(image);
  }
  return sums.mean();
}

}  // namespace

SegmentId first_convolution(const Layout& layout) {
  if (layout.segments().front().shape.size() == 4) return SegmentId{0};
  throw InputError(InputKind::settings,
                   {.where = "train.whiten",
                    .found = "a network that begins with another layer",
                    .expected = "one that begins with a convolution",
                    .hint = "leave train.whiten out"});
}

void whiten(SampleImages images, const Layout& layout, SegmentId convolution,
            FlatBuffer& values) {
  const Segment& segment = layout.segment(convolution);
  const auto kernel = static_cast<int>(segment.shape[3]);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      patch_covariance(images, kernel));
  const Eigen::Index size = solver.eigenvalues().size();  // in rising order
  const auto filters = static_cast<Eigen::Index>(segment.shape[0]) / 2;
  float* filter = values.view(segment.range).data();
  for (Eigen::Index i = 0; i < std::min(filters, size); ++i) {
    const Eigen::Index direction = size - 1 - i;
    const double variance = solver.eigenvalues()[direction] + kLeastVariance;
    for (const double sign : {1.0, -1.0}) {
      const Eigen::VectorXf scaled =
          (solver.eigenvectors().col(direction) * (sign / std::sqrt(variance)))
              .cast<float>();
      filter = std::copy_n(scaled.data(), size, filter);
    }
  }
}

}  // namespace convoy
