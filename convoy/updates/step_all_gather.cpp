// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/step_all_gather.h"

#include <algorithm>
#include <cstring>

#include "convoy/base/error.h"

namespace convoy {
namespace {

std::vector<std::size_t> microbatch_counts(const ReductionOrder& order) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < order.ranks(); ++rank) {
    counts.push_back(order.microbatches_of(rank).size());
  }
  return counts;
}

}  // namespace

StepAllGather::StepAllGather(AsyncComm& comm, const ReductionOrder& order, int rank)
    : comm_(comm),
      rank_(static_cast<std::size_t>(rank)),
      microbatches_(microbatch_counts(order)),
      message_((sizeof(StepReport) + std::ranges::max(microbatches_) * sizeof(LossSum)) /
               sizeof(float)),
      all_(message_ * microbatches_.size()),
      reports_(microbatches_.size()) {
  static_assert(sizeof(StepReport) % sizeof(float) == 0);
  static_assert(sizeof(LossSum) % sizeof(float) == 0);
}

std::byte* StepAllGather::message_of(std::size_t rank) {
  return std::as_writable_bytes(std::span(all_)).data() + rank * message_ * sizeof(float);
}

void StepAllGather::start(const StepReport& own, std::span<const LossSum> microbatches) {
  check(microbatches.size() == microbatches_[rank_],
        "a rank tells of its own micro-batches");
  std::byte* message = message_of(rank_);
  std::memcpy(message, &own, sizeof own);
  std::memcpy(message + sizeof own, microbatches.data(), microbatches.size_bytes());
  under_way_ = comm_.start_all_gather_parts(all_);
}

LossSum StepAllGather::finish() {
  comm_.wait(under_way_);
  LossSum sum;
  for (std::size_t rank = 0; rank < microbatches_.size(); ++rank) {
    const std::byte* message = message_of(rank);
    std::memcpy(&reports_[rank], message, sizeof(StepReport));
    message += sizeof(StepReport);
    for (std::size_t microbatch = 0; microbatch < microbatches_[rank]; ++microbatch) {
      LossSum of_microbatch;
      std::memcpy(&of_microbatch, message + microbatch * sizeof(LossSum),
                  sizeof of_microbatch);
      sum += of_microbatch;
    }
  }
  return sum;
}

int StepAllGather::stop_signal() const {
  const auto any = std::ranges::max_element(reports_, {}, &StepReport::stop_signal);
  return static_cast<int>(any->stop_signal);
}

}  // namespace convoy
