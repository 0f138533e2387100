// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/loader_bench.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/images/image_file.h"
#include "convoy/loader/file_images.h"
#include "convoy/loader/loader.h"
#include "convoy/setup/workload.h"

namespace convoy {

namespace {

/// Some samples that are spread over the dataset.
std::vector<std::size_t> some_samples(const Dataset& data) {
  constexpr std::size_t kMostImages = 200;
  std::vector<std::size_t> samples(std::min(kMostImages, data.size()));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = i * data.size() / samples.size();
  }
  return samples;
}

/// Per image.
double decode_microseconds(const Dataset& data) {
  const std::vector<std::size_t> samples = some_samples(data);
  std::vector<std::byte> buffer;
  double seconds = 0;
  for (const std::size_t sample : samples) {
    const auto content = data.files->contents->read(sample, buffer);
    const Stopwatch watch;
    decode_image(content, data.files->contents->name(sample));
    seconds += watch.seconds();
  }
  return seconds / static_cast<double>(samples.size()) * 1e6;
}

/// Compares what is shown of some samples with what exact decoding shows.
DecodeDifference decode_difference(const Dataset& data, bool crops) {
  Dataset exact = data;
  exact.files->decoding = Decoding::exact;
  FileImages images(data), exact_images(exact);
  DecodeDifference difference;
  double sum = 0, pixels = 0;
  for (const std::size_t sample : some_samples(data)) {
    std::optional<AugmentKey> key;
    if (crops)
      key = {.seed = 1, .epoch = 1, .sample = static_cast<std::uint32_t>(sample)};
    const auto shown = images.show(sample, key)->pixels;
    const auto expected = exact_images.show(sample, key)->pixels;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const int apart = std::abs(int{shown[i]} - int{expected[i]});
      difference.largest = std::max(difference.largest, apart);
      sum += apart;
    }
    pixels += static_cast<double>(shown.size());
  }
  difference.mean = sum / pixels;
  return difference;
}

}  // namespace

LoaderBenchResult bench_loader(const Settings& settings, double seconds) {
  const Workload work = load_training_workload(settings);
  Loader loader(work.data.train, work.samples.train,
                loader_options(settings, work, MicrobatchPart{}));
  LoaderBenchResult result;
  const Stopwatch watch;
  for (int epoch = 1; result.seconds < seconds; ++epoch) {
    loader.start_epoch(epoch);
    for (const Batch* batch = loader.next(); batch && result.seconds < seconds;
         batch = loader.next()) {
      result.images += batch->count;
      result.seconds = watch.seconds();
    }
  }
  const auto images = static_cast<double>(result.images);
  result.images_per_second = images / result.seconds;
  result.image_us = result.seconds / images * 1e6;
  const LoaderWork done = loader.work();
  result.core_us = done.cpu_seconds / static_cast<double>(done.images) * 1e6;
  result.threads = done.threads;
  if (!work.data.train.files) return result;
  result.decode_us = decode_microseconds(work.data.train);
  if (work.data.train.files->decoding == Decoding::exact) return result;
  result.crops = decode_difference(work.data.train, /*crops=*/true);
  result.centres = decode_difference(work.data.train, /*crops=*/false);
  return result;
}

}  // namespace convoy
