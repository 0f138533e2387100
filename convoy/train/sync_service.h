// SPDX-License-Identifier: Apache-2.0
//
// SyncService: a server that updates when all workers' gradients of a batch are there,
// added in the order of the lane tree: the same bits as the other synchronous strategies.

#pragma once

#include "convoy/comm/sum_order.h"
#include "convoy/train/served_updates.h"

namespace convoy {

class SyncService final : public ServedUpdates {
 public:
  SyncService(const UpdateParts& parts, const ServiceOptions& service);

  std::string strategy() const override { return kPsSync; }
  std::size_t per_epoch() const override;
  std::size_t samples_per_epoch() const override { return samples_; }
  std::size_t lanes() const override { return order_.lanes(); }
  std::optional<Update> make(const UpdateOrder& order) override;
  UpdateMemory memory() const override;
  std::string plan() const override;

 private:
  std::vector<std::size_t> partials() const override;
  std::vector<std::size_t> lanes_by_worker() const override;
  void assign(int worker, std::size_t step);
  void take(const Arrival& arrival, std::size_t step);
  void ask_again(int worker, std::size_t step);
  void check_attendance() const;
  bool all_there() const;
  LossSum update(const UpdateOrder& order);
  void add(std::span<const std::span<const float>> pushed, std::span<float> sum) const;

  SumOrder order_;
  std::size_t samples_;
  std::vector<std::optional<Arrival>> pushed_;  // by worker, of this step
  std::vector<std::vector<float>> kept_;        // by worker: copies of what it pushed
  std::vector<int> waiting_;                    // workers to be assigned the next step
};

}  // namespace convoy
