// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/local_updates.h"

#include <fmt/format.h>

#include <cmath>

#include "convoy/strategy/registry.h"
#include "convoy/train/measured_statistics.h"

namespace convoy {

LocalUpdates::LocalUpdates(const UpdateParts& parts)
    : parts_(parts),
      order_(chosen_lanes(parts.settings, parts.comm.ranks()), parts.comm.ranks()),
      strategy_name_(chosen_strategy(parts.settings, parts.comm.ranks())),
      network_(parts.work.model, parts.work.layout,
               chosen_network(parts.settings,
                              Lanes::most_samples(static_cast<std::size_t>(
                                                      parts.settings.train.batch_size),
                                                  order_.lanes())),
               parts.team),
      lanes_(network_, parts.work.layout, own_lanes(), parts.team),
      async_(parts.comm),
      strategy_(make_strategy(strategy_name_, replica(), peers(),
                              chosen_strategy_options(parts.settings))),
      own_work_(*strategy_, parts.work.layout.segments().size(),
                chosen_delay(parts.settings, parts.comm.rank(), parts.comm.ranks())),
      agreement_(async_, order_, parts.comm.rank()),
      loader_(parts.work.data.train, parts.work.samples.train,
              training_loader(parts.settings, parts.work, own_lanes())) {}

std::unique_ptr<Updates> make_local_updates(const UpdateParts& parts) {
  return std::make_unique<LocalUpdates>(parts);
}

Replica LocalUpdates::replica() {
  return {.layout = parts_.work.layout,
          .values = parts_.values,
          .statistics = parts_.statistics,
          .gradients = lanes_.gradients(),
          .found_statistics = lanes_.found_statistics(),
          .optimizer = parts_.optimizer,
          .clip = parts_.clip};
}

void LocalUpdates::start_epoch(int epoch, std::size_t first) {
  loader_.start_epoch(epoch, first);
}

std::optional<Update> LocalUpdates::make(const UpdateOrder& order) {
  const Batch* batch = loader_.next();
  if (batch == nullptr) return std::nullopt;
  const Stopwatch watch;
  parts_.optimizer.start_step(order.step, order.rates);
  own_work_.begin(order.step);
  lanes_.run({{batch->images, batch->labels}, batch->whole}, parts_.values,
             key(order.step), own_work_);
  start_agreement(order);
  strategy_->step();
  lanes_.follow_statistics(batch->whole, parts_.statistics);
  const LossSum loss = finish_agreement();
  return Update{.loss = loss,
                .rate = order.rates.rate,
                .seconds = watch.seconds(),
                .reports = agreement_.reports(),
                .stop_signal = agreement_.stop_signal(),
                .gather_resources = agreement_.reports().front().gather_resources != 0,
                .diverged = !std::isfinite(loss.loss)};
}

/// Begins to tell all ranks of the step whose backward is over.
void LocalUpdates::start_agreement(const UpdateOrder& order) {
  next_report_.stop_signal = order.stop_signal();
  next_report_.own_seconds = own_work_.seconds();
  next_report_.data_seconds = loader_.seconds_waited() - data_told_;
  next_report_.gather_resources = order.gather_resources ? 1 : 0;
  data_told_ = loader_.seconds_waited();
  agreement_.start(next_report_, lanes_.losses());
}

/// Returns the loss of the whole batch. Now that nothing is under way, what this step's
/// exchange took can be counted, to be told with the next.
LossSum LocalUpdates::finish_agreement() {
  const Stopwatch watch;
  const LossSum loss = agreement_.finish();
  seconds_agreeing_ += watch.seconds();
  const double exposed = seconds().exposed;
  const std::uint64_t sent = parts_.comm.total_traffic().bytes_sent;
  next_report_.exposed_seconds = exposed - exposed_told_;
  next_report_.bytes_sent = sent - bytes_told_;
  exposed_told_ = exposed;
  bytes_told_ = sent;
  return loss;
}

void LocalUpdates::measure_statistics(int epoch, std::size_t step,
                                      const FlatBuffer& values, FlatBuffer& statistics) {
  convoy::measure_statistics({loader_, lanes_, peers(), key(step)}, epoch, values,
                             statistics);
  seconds_in_measuring_ += loader_.seconds_waited() - data_told_;
  data_told_ = loader_.seconds_waited();  // of no step
}

UpdateSeconds LocalUpdates::seconds() const {
  return {.waiting_for_data = loader_.seconds_waited() - seconds_in_measuring_,
          .exposed = strategy_->seconds_exposed() + seconds_agreeing_,
          .slept = own_work_.seconds_slept()};
}

std::string LocalUpdates::plan() const {
  const int ranks = parts_.comm.ranks();
  const std::size_t lanes = order_.lanes();
  return fmt::format(
      "cluster   {} rank{}, strategy {}, {} threads{}, {} kernels\n"
      "batch     {} samples an update in {} lane{}: the same bits on up to {} rank{}\n",
      ranks, ranks == 1 ? "" : "s", strategy_name_, parts_.team.threads(),
      ranks == 1 ? "" : " each", network_.kernels().name,
      parts_.settings.train.batch_size, lanes, lanes == 1 ? "" : "s", lanes,
      lanes == 1 ? "" : "s");
}

}  // namespace convoy
