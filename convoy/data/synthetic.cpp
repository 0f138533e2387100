// SPDX-License-Identifier: Apache-2.0

#include "convoy/data/synthetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/data/checks.h"

namespace convoy {
namespace {

constexpr int kGrid = 5;   // random points per side; a prototype is smooth between them
constexpr int kOne = 256;  // 1 in the fixed point of positions and weights

constexpr int kMostSamples = 100'000'000;
constexpr std::size_t kMostBytes = std::size_t{1} << 37;
constexpr int kMeanOfFourBytes = 4 * 255 / 2;

/// The first label of the streams; the second is the class or the sample.
enum class Use : std::uint32_t { prototype, train, test };

RandomStream stream_of(const SyntheticOptions& options, Use use, std::size_t which) {
  return {options.seed, RngStream::synthetic, static_cast<std::uint32_t>(use),
          static_cast<std::uint32_t>(which)};
}

void require(bool holds, const std::string& option, const std::string& found,
             const std::string& expected) {
  if (holds) return;
  throw InputError(InputKind::settings, {.where = "data.synthetic." + option,
                                         .found = found,
                                         .expected = expected,
                                         .hint = ""});
}

void require_complete(const std::string& option, int value, int low, int high) {
  require(low <= value && value <= high, option, std::to_string(value),
          fmt::format("a whole number from {} to {}", low, high));
}

void require_number(const std::string& option, double value, double high) {
  require(value >= 0 && value <= high, option, fmt::format("{}", value),
          fmt::format("a number from 0 to {}", high));
}

/// Of both halves, and the prototypes that they are made of.
unsigned __int128 memory_bytes(const SyntheticOptions& options) {
  const unsigned __int128 samples =
      std::size_t(options.train_count) + std::size_t(options.test_count);
  const std::size_t bytes_per_pixel = options.floats ? 1 + sizeof(float) : 1;
  return (samples * bytes_per_pixel + std::size_t(options.classes)) *
         options.shape.size();
}

void check_options(const SyntheticOptions& options) {
  require_complete("channels", options.shape.channels, 1, 1024);
  require_complete("height", options.shape.height, 1, 4096);
  require_complete("width", options.shape.width, 1, 4096);
  require_complete("classes", options.classes, 2, kMostSyntheticClasses);
  require_complete("train_count", options.train_count, 1, kMostSamples);
  require_complete("test_count", options.test_count, 1, kMostSamples);
  require_complete("shift", options.shift, 0, 4096);
  require_number("noise", options.noise, 4);
  require_number("blend", options.blend, 1);
  const std::size_t samples = std::max(options.train_count, options.test_count);
  require(options.shape.size() <= kMostBytes / samples, "train_count",
          fmt::format("{} images of {} pixels", samples, options.shape.size()),
          "images of at most 128 GiB");
  require(options.shape.size() <= kMostBytes / options.classes, "classes",
          fmt::format("{} classes of {} pixels", options.classes, options.shape.size()),
          "prototypes of at most 128 GiB");
  expect_room_for(memory_bytes(options), "data.synthetic");
}

/// Position `i` of `extent` on an axis of kGrid points: the point before it, and the
/// weight of the next point.
struct GridPosition {
  int point;
  int weight;
};

GridPosition grid_position(int i, int extent) {
  const int at = i * (kGrid - 1) * kOne / std::max(1, extent - 1);
  const int point = std::min(at / kOne, kGrid - 2);
  return {point, at - point * kOne};
}

using Grid = std::array<int, std::size_t{kGrid} * kGrid>;

int interpolate(const Grid& grid, GridPosition y, GridPosition x) {
  const int* corner = &grid[y.point * kGrid + x.point];
  const int above = corner[0] * (kOne - x.weight) + corner[1] * x.weight;
  const int below = corner[kGrid] * (kOne - x.weight) + corner[kGrid + 1] * x.weight;
  return (above * (kOne - y.weight) + below * y.weight) / (kOne * kOne);
}

Grid random_grid(const RandomStream& stream, int channel) {
  Grid grid;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    grid[i] = static_cast<int>(stream.word(channel * grid.size() + i) >> 24);
  }
  return grid;
}

using Image = std::vector<std::uint8_t>;

Image make_prototype(const SyntheticOptions& options, int label) {
  const RandomStream stream = stream_of(options, Use::prototype, label);
  const Shape& shape = options.shape;
  Image image;
  image.reserve(shape.size());
  for (int c = 0; c < shape.channels; ++c) {
    const Grid grid = random_grid(stream, c);
    for (int y = 0; y < shape.height; ++y) {
      for (int x = 0; x < shape.width; ++x) {
        image.push_back(static_cast<std::uint8_t>(interpolate(
            grid, grid_position(y, shape.height), grid_position(x, shape.width))));
      }
    }
  }
  return image;
}

std::vector<Image> make_prototypes(const SyntheticOptions& options) {
  std::vector<Image> prototypes;
  for (int label = 0; label < options.classes; ++label) {
    prototypes.push_back(make_prototype(options, label));
  }
  return prototypes;
}

/// Returns a whole number from 0 to limit-1, from the high bits of a random word.
int below(std::uint32_t word, int limit) {
  return static_cast<int>(std::uint64_t{word} * static_cast<std::uint32_t>(limit) >> 32);
}

/// The sum of four bytes is nearly normal. Multiplied by this scale and shifted right by
/// 16 bits, it has the requested standard deviation.
int noise_scale(double noise) {
  const double deviation_of_four_bytes = std::sqrt(4 * (256.0 * 256.0 - 1) / 12);
  return static_cast<int>(std::lround(noise * 255 * 65536 / deviation_of_four_bytes));
}

int noise_of(std::uint32_t word, int scale) {
  const auto sum = static_cast<int>((word & 0xff) + (word >> 8 & 0xff) +
                                    (word >> 16 & 0xff) + (word >> 24));
  return static_cast<int>(std::int64_t{sum - kMeanOfFourBytes} * scale >> 16);
}

class SampleMaker {
 public:
  SampleMaker(const SyntheticOptions& options, Use split)
      : options_(options),
        split_(split),
        prototypes_(make_prototypes(options)),
        noise_scale_(noise_scale(options.noise)),
        blend_limit_(static_cast<int>(std::lround(options.blend * kOne))) {}

  int label(std::size_t index) const {
    return static_cast<int>(index % static_cast<std::size_t>(options_.classes));
  }

  void make(std::size_t index, std::uint8_t* pixels) const {
    const RandomStream stream = stream_of(options_, split_, index);
    const auto words = stream.block(0);
    const int own = label(index);
    const int step = 1 + below(words[0], options_.classes - 1);
    const Mix mix{prototypes_[own].data(),
                  prototypes_[(own + step) % options_.classes].data(),
                  below(words[1], blend_limit_ + 1)};
    draw(mix, shift_of(words[2]), shift_of(words[3]), pixels);
    add_noise(stream, pixels);
  }

 private:
  struct Mix {
    const std::uint8_t* own;
    const std::uint8_t* other;
    int weight;  // of the other, in parts of kOne
  };

  int shift_of(std::uint32_t word) const {
    return below(word, 2 * options_.shift + 1) - options_.shift;
  }

  /// Both prototypes are shifted equally; pixels beyond an edge repeat the edge.
  void draw(const Mix& mix, int down, int right, std::uint8_t* pixels) const {
    const Shape& shape = options_.shape;
    for (int c = 0; c < shape.channels; ++c) {
      for (int y = 0; y < shape.height; ++y) {
        const int row = std::clamp(y - down, 0, shape.height - 1);
        const std::size_t line = c * shape.pixels() + std::size_t(row) * shape.width;
        for (int x = 0; x < shape.width; ++x) {
          const std::size_t from = line + std::clamp(x - right, 0, shape.width - 1);
          *pixels++ = static_cast<std::uint8_t>(
              (mix.own[from] * (kOne - mix.weight) + mix.other[from] * mix.weight) /
              kOne);
        }
      }
    }
  }

  void add_noise(const RandomStream& stream, std::uint8_t* pixels) const {
    const std::size_t size = options_.shape.size();
    for (std::size_t begin = 0; begin < size; begin += 4) {
      const auto words = stream.block(1 + begin / 4);
      for (std::size_t i = begin; i < std::min(begin + 4, size); ++i) {
        const int value = pixels[i] + noise_of(words[i - begin], noise_scale_);
        pixels[i] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
      }
    }
  }

  const SyntheticOptions& options_;
  Use split_;
  std::vector<Image> prototypes_;
  int noise_scale_;
  int blend_limit_;
};

std::vector<float> scaled(const std::vector<std::uint8_t>& bytes) {
  std::vector<float> floats(bytes.size());
  std::ranges::transform(bytes, floats.begin(), [](std::uint8_t byte) {
    return static_cast<float>(byte) / 255;
  });
  return floats;
}

Dataset make_split(const SyntheticOptions& options, Use split, int count) {
  const SampleMaker maker(options, split);
  const auto samples = static_cast<std::size_t>(count);
  Dataset data{.name = "synthetic", .shape = options.shape};
  for (int label = 0; label < options.classes; ++label) {
    data.classes.push_back("class " + std::to_string(label));
  }
  std::vector<std::uint8_t> images(samples * options.shape.size());
  std::vector<std::int32_t> labels(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    labels[i] = maker.label(i);
    maker.make(i, &images[i * options.shape.size()]);
  }
  data.images = options.floats ? Pixels(scaled(images)) : Pixels(std::move(images));
  data.labels = std::move(labels);
  return data;
}

}  // namespace

DataPair make_synthetic(const SyntheticOptions& options) {
  check_options(options);
  return {make_split(options, Use::train, options.train_count),
          make_split(options, Use::test, options.test_count)};
}

}  // namespace convoy
