// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/agreement.h"

#include <algorithm>
#include <cstring>

#include "convoy/base/error.h"

namespace convoy {
namespace {

std::vector<std::size_t> lane_counts(const SumOrder& order) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < order.ranks(); ++rank) {
    counts.push_back(order.lanes_of(rank).size());
  }
  return counts;
}

}  // namespace

Agreement::Agreement(AsyncComm& comm, const SumOrder& order, int rank)
    : comm_(comm),
      rank_(static_cast<std::size_t>(rank)),
      lanes_(lane_counts(order)),
      message_((sizeof(StepReport) + std::ranges::max(lanes_) * sizeof(LossSum)) /
               sizeof(float)),
      all_(message_ * lanes_.size()),
      reports_(lanes_.size()) {
  static_assert(sizeof(StepReport) % sizeof(float) == 0);
  static_assert(sizeof(LossSum) % sizeof(float) == 0);
}

std::byte* Agreement::message_of(std::size_t rank) {
  return std::as_writable_bytes(std::span(all_)).data() + rank * message_ * sizeof(float);
}

void Agreement::start(const StepReport& own, std::span<const LossSum> lanes) {
  check(lanes.size() == lanes_[rank_], "a rank tells of its own lanes");
  std::byte* message = message_of(rank_);
  std::memcpy(message, &own, sizeof own);
  std::memcpy(message + sizeof own, lanes.data(), lanes.size_bytes());
  under_way_ = comm_.start_all_gather_parts(all_);
}

LossSum Agreement::finish() {
  comm_.wait(under_way_);
  LossSum sum;
  for (std::size_t rank = 0; rank < lanes_.size(); ++rank) {
    const std::byte* message = message_of(rank);
    std::memcpy(&reports_[rank], message, sizeof(StepReport));
    message += sizeof(StepReport);
    for (std::size_t lane = 0; lane < lanes_[rank]; ++lane) {
      LossSum of_lane;
      std::memcpy(&of_lane, message + lane * sizeof(LossSum), sizeof of_lane);
      sum += of_lane;
    }
  }
  return sum;
}

int Agreement::stop_signal() const {
  const auto any = std::ranges::max_element(reports_, {}, &StepReport::stop_signal);
  return static_cast<int>(any->stop_signal);
}

}  // namespace convoy
