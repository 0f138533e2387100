// SPDX-License-Identifier: Apache-2.0
//
// PsSync: a server that updates when it has all workers' gradients of a batch, which it
// adds in the order of the reduction tree: it has the same bits as the other synchronous
// strategies.

#pragma once

#include "convoy/comm/reduction_order.h"
#include "convoy/ps/server_updates.h"

namespace convoy {

class PsSync final : public ServerUpdates {
 public:
  PsSync(const TrainingContext& parts, const ServiceOptions& service);

  NextUpdate next(const StepRequest& request) override;

 private:
  std::vector<std::size_t> partials() const override;
  std::vector<std::size_t> microbatches_by_worker() const override;
  void assign(int worker, std::size_t step);
  void take(const Arrival& arrival, std::size_t step);
  void ask_again(int worker, std::size_t step);
  void check_liveness() const;
  bool all_there() const;
  bool are_finite(const StepRequest& request);
  LossSum update(const StepRequest& request);
  void add_gradients(std::span<const std::span<const float>> pushed);
  void add(std::span<const std::span<const float>> pushed, std::span<float> sum) const;

  UpdateMemory memory() const;
  std::string plan() const;

  ReductionOrder order_;
  std::vector<std::optional<Arrival>> pushed_;  // by worker, of this step
  std::vector<std::vector<float>> kept_;        // by worker: copies of its pushes
  std::vector<int> waiting_;                    // workers that get the next step
};

}  // namespace convoy
