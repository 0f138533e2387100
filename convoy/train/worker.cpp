// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/worker.h"

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/comm/sum_order.h"
#include "convoy/ps/server_range.h"

namespace convoy {
namespace {

LoaderOptions loader_options(const Settings& settings, const Workload& work,
                             const LanePart& part, std::uint32_t order) {
  LoaderOptions options = training_loader(settings, work, part);
  options.worker = order;
  return options;
}

/// Seconds in which the servers, if they were asked to stop as well, would have said so.
constexpr double kToBeToldOver = 5;

/// One worker alone is asked to stop: the others go on.
Assignment asked_alone(int signal) {
  return {.over = true,
          .code = ExitCode::stopped,
          .reason = fmt::format("stopped by {}", stop_signal_name(signal))};
}

}  // namespace

Worker::Worker(const Settings& settings, const WorkerPlace& place)
    : settings_(settings),
      place_(place),
      work_(load_training_workload(settings)),
      course_(
          settings.strategy.name == kPsAsync
              ? std::optional<AsyncCourse>(std::in_place, settings, work_, place.workers)
              : std::nullopt),
      plan_(plan()),
      team_(chosen_threads(settings)),
      values_(work_.layout),
      network_(work_.model, work_.layout,
               chosen_network(
                   settings,
                   Lanes::most_samples(
                       static_cast<std::size_t>(settings.train.batch_size), plan_.lanes)),
               team_),
      lanes_(network_, work_.layout, plan_.part, team_),
      own_work_(nobody_, work_.layout.segments().size(),
                chosen_delay(settings, place.worker, place.workers)),
      loader_(work_.data.train, plan_.samples,
              loader_options(settings, work_, plan_.part, plan_.order_of)) {}

/// At its own pace a worker has samples of its own and all lanes of its batches; else it
/// has some lanes of everybody's.
Worker::Plan Worker::plan() const {
  if (course_) {
    const auto own = course_->parts[static_cast<std::size_t>(place_.worker)];
    return {course_->lanes,
            all_lanes(course_->lanes),
            {own.begin(), own.end()},
            static_cast<std::uint32_t>(place_.worker)};
  }
  const SumOrder order(chosen_lanes(settings_, place_.workers), place_.workers);
  return {order.lanes(),
          {order.lanes(), order.lanes_of(place_.worker)},
          work_.samples.train,
          0};
}

WorkerPortOptions Worker::port_options(const std::vector<ServerAddress>& servers,
                                       const std::string& token) {
  WorkerPortOptions options{
      .servers = servers,
      .ranges = {},
      .token = token,
      .worker = place_.worker,
      .statistics = work_.statistics_layout.size(),
      .partials = lanes_.gradients().count(),
      .lanes = plan_.part.own.size(),
      .timeout = milliseconds_of(settings_.cluster.operation_timeout)};
  for (int server = 0; server < place_.servers; ++server) {
    options.ranges.push_back(server_range(work_.layout, server, place_.servers));
  }
  return options;
}

PassKey Worker::key(std::uint64_t sequence) const {
  if (course_) return course_->key(settings_.train.seed, place_.worker, sequence);
  return {settings_.train.seed, static_cast<std::uint32_t>(sequence)};
}

const Batch& Worker::batch(std::uint64_t sequence) {
  const std::size_t in_epoch = loader_.batches_per_epoch();
  const bool follows = last_ && sequence == *last_ + 1 && sequence % in_epoch != 0;
  if (!follows) {
    loader_.start_epoch(static_cast<int>(sequence / in_epoch) + 1, sequence % in_epoch);
  }
  last_ = sequence;
  const Batch* next = loader_.next();
  check(next != nullptr, "an epoch has the batches it was planned with");
  return *next;
}

Push Worker::compute(const Assignment& next) {
  const Batch& data = batch(next.sequence);
  own_work_.begin(next.sequence);
  lanes_.run({{data.images, data.labels}, data.whole}, values_, key(next.sequence),
             own_work_);
  Push push{.sequence = next.sequence,
            .version = next.version,
            .samples = data.whole,
            .own_seconds = own_work_.seconds(),
            .data_seconds = loader_.seconds_waited() - data_told_,
            .slept_seconds = own_work_.last_seconds_slept()};
  data_told_ = loader_.seconds_waited();
  for (const LossSum& lane : lanes_.losses()) {
    push.lanes.push_back({lane.loss, lane.correct, lane.samples});
  }
  return push;
}

Assignment Worker::run(WorkerPort& port, const StopRequest& stop,
                       const std::function<void(std::size_t)>& on_step) {
  double exchanging = 0;
  Stopwatch since_asked;
  Assignment next = port.join(values_);
  while (!next.over) {
    if (stop.signal() == 0) since_asked.restart();
    if (since_asked.seconds() > kToBeToldOver) return asked_alone(stop.signal());
    if (on_step) on_step(next.version);
    Push push = compute(next);
    push.exchange_seconds = exchanging;
    const Stopwatch watch;
    next = port.push(push, {lanes_.gradients(), lanes_.found_statistics()}, values_);
    exchanging = watch.seconds();
  }
  return next;
}

}  // namespace convoy
