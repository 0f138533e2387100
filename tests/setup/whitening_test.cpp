// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/whitening.h"

#include <gtest/gtest.h>

#include <cmath>

#include "convoy/base/error.h"
#include "convoy/data/synthetic.h"
#include "convoy/models/models.h"
#include "convoy/network/layers/convolution.h"

namespace convoy {
namespace {

constexpr int kKernel = 3;

/// The response of every filter to every patch of an image, filter by filter.
std::vector<std::vector<double>> responses(const Dataset& data,
                                           const Normalization& normalization,
                                           const Segment& segment,
                                           std::span<const float> filters) {
  const Shape shape = data.shape;
  const std::size_t size = segment.shape[1] * kKernel * kKernel;
  std::vector<std::vector<double>> found(segment.shape[0]);
  for (std::size_t sample = 0; sample < data.size(); ++sample) {
    const auto image = data.image(sample);
    for (int row = 0; row + kKernel <= shape.height; ++row) {
      for (int column = 0; column + kKernel <= shape.width; ++column) {
        for (std::size_t f = 0; f < found.size(); ++f) {
          double sum = 0;
          for (std::size_t i = 0; i < size; ++i) {
            const auto channel = static_cast<int>(i) / (kKernel * kKernel);
            const int y = row + static_cast<int>(i) / kKernel % kKernel;
            const int x = column + static_cast<int>(i) % kKernel;
            const auto at =
                static_cast<std::size_t>((channel * shape.height + y) * shape.width + x);
            const auto& moments = normalization.moments.at(0);
            sum += filters[f * size + i] * (image[at] / 255.0 - moments.mean) /
                   moments.deviation;
          }
          found[f].push_back(sum);
        }
      }
    }
  }
  return found;
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum / static_cast<double>(a.size());
}

TEST(Whitening, GivesFiltersWhoseResponsesAreUncorrelatedAndOfVarianceOne) {
  SyntheticOptions options;
  options.shape = {1, 8, 8};
  options.train_count = 200;
  options.noise = 0.3;
  const Dataset data = make_synthetic(options).train;
  const Normalization normalization = measure(data);
  const Model model{
      "x", data.shape, {Convolution{.name = "a", .channels = 8, .kernel = kKernel}}};
  const Layout layout = build_layout(model);
  FlatBuffer values(layout);

  whiten(SampleImages(data, normalization, data.shape), layout, first_convolution(layout),
         values);

  const Segment& segment = layout.segments().front();
  const auto found = responses(data, normalization, segment, values.view(segment.range));
  for (std::size_t a = 0; a < found.size(); ++a) {
    for (std::size_t b = 0; b < found.size(); ++b) {
      const bool pair = a / 2 == b / 2;
      const double expected = !pair ? 0.0 : a == b ? 1.0 : -1.0;
      EXPECT_NEAR(mean_product(found[a], found[b]), expected, 0.05) << a << ' ' << b;
    }
  }
}

TEST(Whitening, RefusesANetworkWithoutAFirstConvolution) {
  const Layout layout = build_layout(make_model("mlp6", {1, 8, 8}, 10));
  EXPECT_THROW(first_convolution(layout), InputError);
}

}  // namespace
}  // namespace convoy
