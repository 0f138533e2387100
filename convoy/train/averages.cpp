// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/averages.h"

#include <utility>

#include "convoy/base/error.h"

namespace convoy {
namespace {

std::optional<double> decay_of(const TrainSettings& settings) {
  return settings.swa_start > 0 ? std::nullopt : std::optional(settings.ema);
}

Range all_of(const FlatBuffer& numbers) { return {0, numbers.size()}; }

}  // namespace

Averages::Averages(const TrainSettings& settings, const Layout& layout,
                   const Layout& statistics_layout, std::vector<Range> own,
                   ThreadTeam& team)
    : swa_start_(settings.swa_start),
      own_(std::move(own)),
      values_(layout, decay_of(settings), team),
      statistics_(statistics_layout, decay_of(settings), team) {
  check((settings.ema > 0) != (settings.swa_start > 0), "either ema or swa_start is set");
}

void Averages::after_step(const Weights& now) {
  if (swa_start_ > 0) return;
  update_values(now.values);
  statistics_.update(count_, all_of(now.statistics), now.statistics);
  ++count_;
}

bool Averages::after_epoch(int epoch, const FlatBuffer& values) {
  if (swa_start_ == 0 || epoch < swa_start_) return false;
  update_values(values);
  ++count_;
  return true;
}

void Averages::update_values(const FlatBuffer& values) {
  for (const Range& range : own_) values_.update(count_, range, values);
}

std::size_t Averages::bytes() const {
  std::size_t numbers = statistics_.average().size();
  for (const Range& range : own_) numbers += range.size();
  return numbers * sizeof(float);
}

}  // namespace convoy
