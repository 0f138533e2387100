// SPDX-License-Identifier: Apache-2.0

#include "convoy/updates/step_all_gather.h"

#include <algorithm>
#include <cstring>

#include "convoy/base/error.h"

namespace convoy {
namespace {

std::vector<MicrobatchPart> parts_of(const ReductionOrder& order) {
  std::vector<MicrobatchPart> parts;
  for (int rank = 0; rank < order.ranks(); ++rank) {
    parts.push_back(order.microbatches_of(rank));
  }
  return parts;
}

std::size_t most_microbatches(std::span<const MicrobatchPart> parts) {
  std::size_t most = 0;
  for (const MicrobatchPart& part : parts) most = std::max(most, part.count());
  return most;
}

}  // namespace

StepAllGather::StepAllGather(AsyncComm& comm, const ReductionOrder& order, int rank)
    : comm_(comm),
      rank_(static_cast<std::size_t>(rank)),
      parts_(parts_of(order)),
      message_((sizeof(StepReport) + most_microbatches(parts_) * sizeof(LossSum)) /
               sizeof(float)),
      all_(message_ * parts_.size()),
      reports_(parts_.size()),
      losses_(order.microbatches()) {
  static_assert(sizeof(StepReport) % sizeof(float) == 0);
  static_assert(sizeof(LossSum) % sizeof(float) == 0);
}

std::byte* StepAllGather::message_of(std::size_t rank) {
  return std::as_writable_bytes(std::span(all_)).data() + rank * message_ * sizeof(float);
}

void StepAllGather::start(const StepReport& own, std::span<const LossSum> microbatches) {
  check(microbatches.size() == parts_[rank_].count(),
        "a rank tells of its own micro-batches");
  std::byte* message = message_of(rank_);
  std::memcpy(message, &own, sizeof own);
  std::memcpy(message + sizeof own, microbatches.data(), microbatches.size_bytes());
  under_way_ = comm_.start_all_gather_parts(all_);
}

LossSum StepAllGather::finish() {
  comm_.wait(under_way_);
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
    const std::byte* message = message_of(rank);
    std::memcpy(&reports_[rank], message, sizeof(StepReport));
    message += sizeof(StepReport);
    for (std::size_t i = 0; i < parts_[rank].count(); ++i) {
      std::memcpy(&losses_[parts_[rank].number(i)], message + i * sizeof(LossSum),
                  sizeof(LossSum));
    }
  }
  LossSum sum;
  for (const LossSum& of_microbatch : losses_) sum += of_microbatch;
  return sum;
}

int StepAllGather::stop_signal() const {
  const auto any = std::ranges::max_element(reports_, {}, &StepReport::stop_signal);
  return static_cast<int>(any->stop_signal);
}

}  // namespace convoy
