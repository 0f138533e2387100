// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/loader_bench.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/images/image_file.h"
#include "convoy/loader/loader.h"
#include "convoy/setup/workload.h"

namespace convoy {

namespace {

/// Per image, of some that are spread over the dataset.
double decode_microseconds(const Dataset& data) {
  constexpr std::size_t kMostImages = 200;
  const std::size_t count = std::min(kMostImages, data.size());
  std::vector<std::byte> buffer;
  double seconds = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t sample = i * data.size() / count;
    const auto content = data.files->contents->read(sample, buffer);
    const Stopwatch watch;
    decode_image(content, data.files->contents->name(sample));
    seconds += watch.seconds();
  }
  return seconds / static_cast<double>(count) * 1e6;
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
  if (work.data.train.files) result.decode_us = decode_microseconds(work.data.train);
  return result;
}

}  // namespace convoy
