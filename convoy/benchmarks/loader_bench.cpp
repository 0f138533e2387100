// SPDX-License-Identifier: Apache-2.0

#include "convoy/benchmarks/loader_bench.h"

#include "convoy/base/clock.h"
#include "convoy/loader/loader.h"
#include "convoy/setup/workload.h"

namespace convoy {

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
  return result;
}

}  // namespace convoy
