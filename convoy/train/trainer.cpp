// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/trainer.h"

#include <span>
#include <utility>

#include "convoy/train/run_plan.h"
#include "convoy/train/run_saver.h"
#include "convoy/train/training_loop.h"
#include "convoy/train/training_parts.h"
#include "convoy/updates/local_updates.h"

namespace convoy {

Trainer::Trainer(const Settings& settings, Comm& comm)
    : Trainer(settings, comm, make_local_updates) {}

Trainer::Trainer(const Settings& settings, Comm& comm,
                 const UpdateSourceFactory& make_updates,
                 const std::optional<JobShape>& job)
    : parts_(std::make_unique<TrainingParts>(settings, comm, make_updates, job)),
      saver_(std::make_unique<RunSaver>(*parts_)) {}

Trainer::~Trainer() = default;

void Trainer::gather_kernel_sets() {
  const KernelSet own = kernel_set(parts_->settings);
  parts_->kernels.resize(static_cast<std::size_t>(parts_->comm.ranks()));
  parts_->comm.all_gather(std::as_bytes(std::span(&own, 1)),
                          std::as_writable_bytes(std::span(parts_->kernels)));
}

std::string Trainer::plan() const { return run_plan(*parts_, saver_->restored()); }

Outcome Trainer::train(RunFolder* folder, Progress* progress, const StopRequest& stop,
                       const std::string& command) {
  return TrainingLoop(*parts_, *saver_, {folder, progress, command, on_step_}, stop)
      .run();
}

void Trainer::tell_steps_to(std::function<void(std::size_t)> on_step) {
  on_step_ = std::move(on_step);
}

void Trainer::tell_checkpoints_to(
    std::function<void(const std::filesystem::path&, const SaveRequest&)> on_saved) {
  saver_->tell_checkpoints_to(std::move(on_saved));
}

const CheckpointState* Trainer::restored() const { return saver_->restored(); }
const std::vector<std::string>& Trainer::damaged() const { return saver_->damaged(); }
const Workload& Trainer::work() const { return parts_->work; }
std::size_t Trainer::microbatches() const { return parts_->description().microbatches; }
const FlatBuffer& Trainer::values() const { return parts_->weights().values; }
const FlatBuffer& Trainer::statistics() const { return parts_->weights().statistics; }
PolicyState Trainer::policy_state() const { return parts_->policy_state(); }
void Trainer::set_policy_state(const PolicyState& state) {
  parts_->set_policy_state(state);
}

}  // namespace convoy
