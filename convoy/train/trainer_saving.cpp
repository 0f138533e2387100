// SPDX-License-Identifier: Apache-2.0
//
// What a trainer saves, and how it goes on from it.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/resume.h"
#include "convoy/settings/settings_fault.h"
#include "convoy/train/trainer.h"

namespace convoy {
namespace {

constexpr const char* kTrained = ".trained";  // values whose average is the model

std::vector<SavedPart> saved(const std::vector<LoadedPart>& parts) {
  std::vector<SavedPart> list;
  for (const LoadedPart& part : parts) {
    list.push_back({part.layout, part.numbers, part.suffix});
  }
  return list;
}

void broadcast(Comm& comm, FlatBuffer& numbers) {
  comm.broadcast(std::as_writable_bytes(numbers.view({0, numbers.size()})), /*root=*/0);
}

void broadcast(Comm& comm, std::string& text) {
  std::uint64_t size = text.size();
  comm.broadcast(std::as_writable_bytes(std::span(&size, 1)), /*root=*/0);
  text.resize(size);
  comm.broadcast(std::as_writable_bytes(std::span(text)), /*root=*/0);
}

}  // namespace

/// What is evaluated: the averages, if there are any yet.
std::vector<LoadedPart> Trainer::model_parts() {
  const bool averaged = averages_ && averages_->any();
  return {{work_.layout, averaged ? averages_->values() : values_},
          {work_.statistics_layout, averaged ? averages_->statistics() : statistics_}};
}

std::vector<LoadedPart> Trainer::optimizer_parts() {
  std::vector<LoadedPart> parts;
  for (const OptimizerSlot& slot : optimizer_->slots()) {
    parts.push_back({work_.layout, slot.numbers, "." + std::string(slot.name)});
  }
  for (const OptimizerSlot& slot : updates_->slots()) {
    parts.push_back({work_.layout, slot.numbers, "." + std::string(slot.name)});
  }
  if (!averages_ || !averages_->any()) return parts;
  parts.push_back({work_.layout, values_, kTrained});
  parts.push_back({work_.statistics_layout, statistics_, kTrained});
  return parts;
}

PolicyState Trainer::policy_state() const {
  return {.plateau = policy_.plateau().state(),
          .early_stop = policy_.early_stop().state(),
          .averaged = averages_ ? averages_->count() : 0};
}

void Trainer::set_policy_state(const PolicyState& state) {
  policy_.plateau().set_state(state.plateau);
  policy_.early_stop().set_state(state.early_stop);
  if (averages_) averages_->set_count(state.averaged);
}

CheckpointState Trainer::state(const Records& records, bool evaluated) const {
  const std::size_t consumed =
      std::min(records.steps_in_this_epoch() *
                   static_cast<std::size_t>(settings_.train.batch_size),
               updates_->description().samples_per_epoch);
  return {.model = settings_.model.name,
          .data = settings_.data.name,
          .step = records.steps(),
          .epoch = records.epoch(),
          .samples = consumed,
          .evaluated = evaluated,
          .seed = settings_.train.seed,
          .microbatches = updates_->description().microbatches,
          .learning_rate = records.learning_rate(),
          .normalization = work_.normalization,
          .epoch_sum = records.epoch_sum(),
          .best = best_,
          .course = policy_state(),
          .updates = updates_->state()};
}

/// Writing is the first rank's work; the others have the same numbers.
void Trainer::save(const Records& records, bool evaluated, bool best) {
  updates_->synchronize();
  saved_step_ = records.steps();
  if (!writer_) return;
  writer_->save(
      {.state = state(records, evaluated),
       .model = saved(model_parts()),
       .optimizer = saved(optimizer_parts()),
       .config = to_yaml(repeatable(settings_, updates_->description().microbatches))},
      {.best = best});
}

void Trainer::save_at_end(const Records& records) {
  if (saved_step_ != records.steps()) save(records, /*evaluated=*/false);
  if (writer_) writer_->finish();
}

/// After an epoch and its evaluation: if it is the best one, the last one, or due.
void Trainer::save_epoch(const Records& records, bool best, bool last) {
  const int every = settings_.checkpoint.every_epochs;
  const bool due = every > 0 && records.epoch() % every == 0;
  if (best || last || due) save(records, /*evaluated=*/true, best);
}

bool Trainer::note_best(const LossSum& judged, const Records& records) {
  const bool by_loss = settings_.checkpoint.best_metric == "loss";
  const double value = by_loss ? judged.mean_loss() : judged.accuracy();
  if (best_ && (by_loss ? value >= best_->value : value <= best_->value)) return false;
  best_ = BestMark{.value = value, .step = records.steps(), .epoch = records.epoch()};
  return true;
}

/// Whether there is a checkpoint to go on from, as far as this rank can see.
bool Trainer::begins_restored() const {
  const std::filesystem::path from = settings_.train.resume;
  return !from.empty() && !(is_run_folder(from) && list_checkpoints(from).empty());
}

/// On the first rank, before any rank talks to another. A run that was killed before its
/// first checkpoint begins again.
void Trainer::restore() {
  if (!begins_restored()) return;
  const std::filesystem::path checkpoint = find_checkpoint(
      settings_.train.resume, [&](const std::string& text) { damaged_.push_back(text); });
  restored_ = load_state(checkpoint);
  set_policy_state(restored_->course);  // decides which parts there are
  load_numbers(checkpoint, model_parts(), optimizer_parts());
  if (restored_->microbatches == updates_->description().microbatches ||
      settings_.train.resume_force)
    return;
  throw settings_error(
      {.where = "train.microbatches",
       .found = fmt::format("{}", updates_->description().microbatches),
       .expected =
           fmt::format("{}, as in {}", restored_->microbatches, checkpoint.string()),
       .hint =
           "other micro-batches lead to other bits; train.resume_force=true takes them"});
}

/// All ranks take what the first one has: only that one needs the tensors.
void Trainer::share_restored() {
  std::string text = restored_ ? to_json(*restored_).dump() : "";
  broadcast(comm_, text);
  if (!text.empty()) {
    restored_ = state_from_json(nlohmann::ordered_json::parse(text), "rank 0's state");
    set_policy_state(restored_->course);
    updates_->restore(restored_->updates, restored_->step);
  }
  for (const LoadedPart& part : model_parts()) broadcast(comm_, part.numbers);
  for (const LoadedPart& part : optimizer_parts()) broadcast(comm_, part.numbers);
}

/// If it is the folder that the run was in: its best and last are still there. A kill may
/// have come between a checkpoint and the links to it, or before it was uploaded.
void Trainer::go_on_in(const RunFolder& folder) {
  std::error_code none;
  if (!std::filesystem::equivalent(folder.path(), settings_.train.resume, none)) return;
  best_ = restored_->best;
  saved_step_ = restored_->step;
  const std::filesystem::path checkpoints = folder.path() / "checkpoints";
  const std::filesystem::path last = checkpoints / checkpoint_name(restored_->step);
  const std::filesystem::path best =
      checkpoints / checkpoint_name(best_ ? best_->step : 0);
  point_at(last, "last");
  if (best_ && std::filesystem::exists(best, none)) point_at(best, "best");
  if (on_saved_) on_saved_(last, {.best = best_ && best == last});
}

/// A run that ended within an epoch, at train.max_steps, goes on within it.
Trainer::Position Trainer::first_position() const {
  if (!restored_) return {};
  const bool at_end = restored_->samples >= updates_->description().samples_per_epoch;
  if (restored_->evaluated && at_end) return {.epoch = restored_->epoch + 1, .batch = 0};
  const auto batch = static_cast<std::size_t>(settings_.train.batch_size);
  return {.epoch = restored_->epoch, .batch = (restored_->samples + batch - 1) / batch};
}

}  // namespace convoy
