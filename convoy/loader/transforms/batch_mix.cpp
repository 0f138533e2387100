// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/transforms/batch_mix.h"

#include <algorithm>
#include <cmath>

#include "convoy/loader/transforms/random_words.h"

namespace convoy {
namespace {

/// Random numbers of a stream, block after block.
class Draws {
 public:
  Draws(const RandomStream& stream, std::uint64_t first)
      : stream_(stream), next_(first) {}

  /// Above 0 and below 1.
  double uniform() { return std::max(stream_.fraction(next_++), 0x1p-54); }
  double normal() { return stream_.normal(2 * next_++); }
  std::uint32_t word() { return stream_.block(next_++)[0]; }

 private:
  const RandomStream& stream_;
  std::uint64_t next_;
};

/// The logarithm of a number with the gamma distribution (Marsaglia and Tsang's method),
/// which itself may be too small for a double. Requires: shape >= 1.
double log_gamma_number(double shape, Draws& draws) {
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = draws.normal();
    const double root = 1 + c * x, u = draws.uniform();
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v);
  }
}

double log_gamma_number_below_one(double shape, Draws& draws) {
  const double of_larger = log_gamma_number(shape + 1, draws);
  return of_larger + std::log(draws.uniform()) / shape;
}

/// A number with the Beta(alpha, alpha) distribution.
double beta_number(double alpha, Draws& draws) {
  const auto draw = [&] {
    return alpha < 1 ? log_gamma_number_below_one(alpha, draws)
                     : log_gamma_number(alpha, draws);
  };
  const double first = draw(), second = draw();
  return 1 / (1 + std::exp(second - first));
}

}  // namespace

BatchMix mixup_of(double own) { return {own, {}}; }

BatchMix cutmix_of(double own, ImageSize size, int x, int y) {
  const double half = 0.5 * std::sqrt(1 - own);
  const auto across = static_cast<int>(half * size.width);
  const auto down = static_cast<int>(half * size.height);
  const int left = std::max(0, x - across), right = std::min(size.width, x + across);
  const int top = std::max(0, y - down), bottom = std::min(size.height, y + down);
  const double area = static_cast<double>(size.width) * size.height;
  const double pasted = static_cast<double>(right - left) * (bottom - top);
  return {1 - pasted / area, Box{left, top, right - left, bottom - top}};
}

BatchMix draw_mix(const MixOptions& options, ImageSize size, const RandomStream& stream,
                  std::uint64_t first_block) {
  Draws draws(stream, first_block);
  const std::uint32_t coin = draws.word();
  const bool has_both = options.mixup_alpha > 0 && options.cutmix_alpha > 0;
  const bool cuts = has_both ? coin >> 31 != 0 : options.cutmix_alpha > 0;
  const int x = below(size.width, draws.word()), y = below(size.height, draws.word());
  const double own =
      beta_number(cuts ? options.cutmix_alpha : options.mixup_alpha, draws);
  return cuts ? cutmix_of(own, size, x, y) : mixup_of(own);
}

void mix_images(const BatchMix& mix, Shape shape, std::span<const float> before,
                std::span<float> image) {
  const auto own = static_cast<float>(mix.own);
  const auto other = static_cast<float>(1 - mix.own);
  if (!mix.pasted) {
    for (std::size_t i = 0; i < image.size(); ++i) {
      image[i] = own * image[i] + other * before[i];
    }
    return;
  }
  const Box& box = *mix.pasted;
  for (int c = 0; c < shape.channels; ++c) {
    for (int y = box.top; y < box.top + box.height; ++y) {
      const std::ptrdiff_t at =
          (std::ptrdiff_t{c} * shape.height + y) * shape.width + box.left;
      std::copy_n(before.begin() + at, box.width, image.begin() + at);
    }
  }
}

std::int32_t mix_labels(const BatchMix& mix, std::int32_t before, std::int32_t label,
                        std::span<float> distribution) {
  std::ranges::fill(distribution, 0.0f);
  const auto first = static_cast<std::size_t>(label);
  const auto second = static_cast<std::size_t>(before);
  distribution[first] = static_cast<float>(mix.own);
  distribution[second] += static_cast<float>(1 - mix.own);
  if (distribution[first] == distribution[second]) return std::min(label, before);
  return distribution[first] > distribution[second] ? label : before;
}

}  // namespace convoy
