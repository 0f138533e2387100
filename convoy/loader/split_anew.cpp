// SPDX-License-Identifier: Apache-2.0

#include "convoy/loader/split_anew.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/random.h"
#include "convoy/base/text.h"
#include "convoy/data/checks.h"

namespace convoy {
namespace {

using Samples = std::vector<std::uint32_t>;

constexpr std::uint32_t kAnew = 1;  // split_samples() has label 0 of the same purpose

void check_sizes(const DataPair& data, const SplitSizes& sizes) {
  const std::size_t found = data.train.size() + data.test.size();
  if (sizes.sum() <= found) return;
  throw InputError(
      InputKind::settings,
      {.where = "data.split",
       .found = fmt::format("{} + {} + {} = {} samples", with_commas(sizes.train),
                            with_commas(sizes.validation), with_commas(sizes.test),
                            with_commas(sizes.sum())),
       .expected = fmt::format("at most {}, the samples of {}", with_commas(found),
                               data.train.name),
       .hint =
           fmt::format("{} has {} training and {} test samples", data.train.name,
                       with_commas(data.train.size()), with_commas(data.test.size()))});
}

/// The images of samples, by their numbers in both halves joined.
template <class Number>
std::vector<Number> images_of(std::span<const Number> train, std::span<const Number> test,
                              const Samples& samples, std::size_t size) {
  std::vector<Number> images(samples.size() * size);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t begin = samples[i] * size;
    const auto image = begin < train.size() ? train.subspan(begin, size)
                                            : test.subspan(begin - train.size(), size);
    std::ranges::copy(image, images.begin() + static_cast<std::ptrdiff_t>(i * size));
  }
  return images;
}

Pixels images_of(const DataPair& data, const Samples& samples) {
  const Pixels &train = data.train.images, &test = data.test.images;
  const std::size_t size = data.train.shape.size();
  if (train.are_bytes()) return images_of(train.bytes(), test.bytes(), samples, size);
  return images_of(train.floats(), test.floats(), samples, size);
}

Dataset joined(const DataPair& data, const Samples& samples) {
  Dataset chosen{.name = data.train.name,
                 .shape = data.train.shape,
                 .classes = data.train.classes,
                 .images = images_of(data, samples)};
  std::vector<std::int32_t> labels(samples.size());
  std::ranges::transform(samples, labels.begin(), [&](std::size_t sample) {
    const std::size_t train = data.train.size();
    return sample < train ? data.train.labels[sample] : data.test.labels[sample - train];
  });
  chosen.labels = std::move(labels);
  return chosen;
}

}  // namespace

DataPair split_anew(const DataPair& data, const SplitSizes& sizes, std::uint64_t seed) {
  check_sizes(data, sizes);
  check(data.train.shape == data.test.shape &&
            data.train.images.are_bytes() == data.test.images.are_bytes(),
        "both halves are of one dataset");
  const std::size_t count = data.train.size() + data.test.size();
  check(count <= std::numeric_limits<std::uint32_t>::max(),
        "samples have 32-bit numbers");
  expect_room_for(data.train.images.memory_bytes() + data.test.images.memory_bytes(),
                  "data.split");
  Samples order = permutation(static_cast<std::uint32_t>(count),
                              RandomStream(seed, RngStream::split, kAnew));
  auto begin = order.begin();
  for (const std::size_t size : {sizes.train, sizes.validation, sizes.test}) {
    const auto end = begin + static_cast<std::ptrdiff_t>(size);
    std::sort(begin, end);
    begin = end;
  }
  const auto test =
      order.begin() + static_cast<std::ptrdiff_t>(sizes.train + sizes.validation);
  return {joined(data, Samples(order.begin(), test)), joined(data, Samples(test, begin))};
}

Split in_order(const SplitSizes& sizes) {
  Split split{.train = Samples(sizes.train), .validation = Samples(sizes.validation)};
  std::iota(split.train.begin(), split.train.end(), 0u);
  std::iota(split.validation.begin(), split.validation.end(),
            static_cast<std::uint32_t>(sizes.train));
  return split;
}

}  // namespace convoy
