// SPDX-License-Identifier: Apache-2.0
//
// LocalUpdates: this rank computes its lanes of every batch; a strategy makes one update
// of what all ranks found.

#pragma once

#include "convoy/comm/async_comm.h"
#include "convoy/loader/loader.h"
#include "convoy/network/lanes.h"
#include "convoy/strategy/strategy.h"
#include "convoy/train/own_work.h"
#include "convoy/train/updates.h"

namespace convoy {

class LocalUpdates final : public Updates {
 public:
  explicit LocalUpdates(const UpdateParts& parts);

  std::string strategy() const override { return strategy_name_; }
  std::size_t per_epoch() const override { return loader_.batches_per_epoch(); }
  std::size_t samples_per_epoch() const override { return loader_.samples_per_epoch(); }
  std::size_t lanes() const override { return order_.lanes(); }
  std::size_t workers() const override {
    return static_cast<std::size_t>(parts_.comm.ranks());
  }

  void begin() override { strategy_->begin(); }
  void start_epoch(int epoch, std::size_t first) override;
  std::optional<Update> make(const UpdateOrder& order) override;
  const FlatBuffer& gradients() override { return lanes_.gradients().whole(); }
  void measure_statistics(int epoch, std::size_t step, const FlatBuffer& values,
                          FlatBuffer& statistics) override;

  UpdateSeconds seconds() const override;
  UpdateMemory memory() const override {
    return {lanes_.gradient_bytes(), network_.arena_bytes()};
  }
  std::string plan() const override;

 private:
  void start_agreement(const UpdateOrder& order);
  LossSum finish_agreement();
  Replica replica();
  Peers peers() { return {parts_.comm, async_, order_}; }
  LanePart own_lanes() const {
    return {order_.lanes(), order_.lanes_of(parts_.comm.rank())};
  }
  PassKey key(std::size_t step) const {
    return {parts_.settings.train.seed, static_cast<std::uint32_t>(step)};
  }

  UpdateParts parts_;
  SumOrder order_;
  std::string strategy_name_;
  Network network_;
  Lanes lanes_;
  AsyncComm async_;
  std::unique_ptr<Strategy> strategy_;
  OwnWork own_work_;
  Agreement agreement_;
  Loader loader_;
  StepReport next_report_;                   // of the step to come, as far as it is known
  double seconds_agreeing_ = 0;              // in all
  double seconds_in_measuring_ = 0;          // waited for data that was not trained on
  double data_told_ = 0, exposed_told_ = 0;  // as last told to the others
  std::uint64_t bytes_told_ = 0;
};

std::unique_ptr<Updates> make_local_updates(const UpdateParts& parts);

}  // namespace convoy
