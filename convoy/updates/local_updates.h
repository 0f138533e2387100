// SPDX-License-Identifier: Apache-2.0
//
// LocalUpdates: this rank computes its micro-batches of every batch; a strategy makes one
// update of what all ranks found.

#pragma once

#include "convoy/comm/async_comm.h"
#include "convoy/loader/loader.h"
#include "convoy/network/microbatches.h"
#include "convoy/strategy/strategy.h"
#include "convoy/updates/compute_timer.h"
#include "convoy/updates/update_source.h"

namespace convoy {

class LocalUpdates final : public UpdateSource {
 public:
  explicit LocalUpdates(const TrainingContext& parts);

  std::string strategy() const override { return strategy_name_; }
  std::size_t per_epoch() const override { return loader_.batches_per_epoch(); }
  std::size_t samples_per_epoch() const override { return loader_.samples_per_epoch(); }
  std::size_t microbatches() const override { return order_.microbatches(); }
  std::size_t workers() const override {
    return static_cast<std::size_t>(parts_.comm.ranks());
  }

  void begin() override { strategy_->begin(); }
  void start_epoch(int epoch, std::size_t first) override;
  std::optional<Update> make(const StepRequest& order) override;
  const FlatBuffer& gradients() override { return microbatches_.gradients().whole(); }
  void update_bn(int epoch, std::size_t step, const FlatBuffer& values,
                 FlatBuffer& statistics) override;

  UpdateSeconds seconds() const override;
  UpdateMemory memory() const override {
    return {microbatches_.gradient_bytes(), network_.arena_bytes()};
  }
  std::string plan() const override;

 private:
  void start_all_gather(const StepRequest& order);
  LossSum finish_all_gather();
  Replica replica();
  Peers peers() { return {parts_.comm, async_, order_}; }
  MicrobatchPart own_microbatches() const {
    return {order_.microbatches(), order_.microbatches_of(parts_.comm.rank())};
  }
  RngKey key(std::size_t step) const {
    return {parts_.settings.train.seed, static_cast<std::uint32_t>(step)};
  }

  TrainingContext parts_;
  ReductionOrder order_;
  std::string strategy_name_;
  Network network_;
  Microbatches microbatches_;
  AsyncComm async_;
  std::unique_ptr<Strategy> strategy_;
  ComputeTimer compute_timer_;
  StepAllGather all_gather_;
  Loader loader_;
  StepReport next_report_;           // of the step to come, as far as it is known
  double seconds_agreeing_ = 0;      // in all
  double seconds_in_measuring_ = 0;  // waited for data that was not trained on
  double reported_data_seconds_ = 0,
         reported_exposed_seconds_ = 0;  // as last told to the others
  std::uint64_t reported_bytes_ = 0;
};

std::unique_ptr<UpdateSource> make_local_updates(const TrainingContext& parts);

}  // namespace convoy
