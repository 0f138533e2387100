// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps/worker_schedule.h"

#include <algorithm>

#include "convoy/base/text.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

std::vector<std::size_t> batches_of(const Parts& parts, std::size_t batch_size) {
  std::vector<std::size_t> counts;
  for (std::size_t part = 0; part < parts.count(); ++part) {
    counts.push_back((parts[part].size() + batch_size - 1) / batch_size);
  }
  return counts;
}

json as_json(const StalenessCounts& counts) {
  return {{"updates", counts.count()}, {"mean", counts.mean()}, {"max", counts.max()}};
}

}  // namespace

WorkerSchedule::WorkerSchedule(const Settings& settings, const Workload& work,
                               int workers)
    : parts(partition_of(settings, work.data.train, work.samples, workers)),
      batches(batches_of(parts, static_cast<std::size_t>(settings.train.batch_size))),
      microbatches(microbatch_count(settings, /*ranks=*/1)) {}

AsyncServerOptions async_server_options(const Settings& settings,
                                        const WorkerSchedule& course) {
  const PsSettings& ps = settings.ps;
  AsyncServerOptions options{.batches = {},
                             .compensation = {.kind = ps.compensation,
                                              .lambda = ps.lambda,
                                              .decay = ps.lambda_decay},
                             .scale_rate = ps.scale_rate};
  for (const std::size_t batches : course.batches) {
    options.batches.push_back(batches * static_cast<std::size_t>(settings.train.epochs));
  }
  if (const auto bound = number_in(ps.max_staleness)) {
    options.max_staleness = static_cast<std::uint64_t>(*bound);
  }
  return options;
}

json staleness_json(const StalenessRecord& record) {
  json whole = as_json(record.all());
  whole["histogram"] = json::array();
  for (const StalenessBin& bin : record.all().bins()) {
    whole["histogram"].push_back(
        {{"from", bin.first}, {"to", bin.last}, {"updates", bin.count}});
  }
  whole["workers"] = json::array();
  for (std::size_t worker = 0; worker < record.workers(); ++worker) {
    whole["workers"].push_back(as_json(record.of(static_cast<int>(worker))));
  }
  return whole;
}

json take_staleness_fields(StalenessRecord& record) {
  const json fields = {
      {"staleness", {{"mean", record.window().mean()}, {"max", record.window().max()}}}};
  record.start_window();
  return fields;
}

}  // namespace convoy
