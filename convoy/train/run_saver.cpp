// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/run_saver.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <nlohmann/json.hpp>
#include <utility>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/checkpoint/checkpoint_folder.h"
#include "convoy/checkpoint/weight_saves.h"
#include "convoy/train/divided_save.h"
#include "convoy/train/training_parts.h"
#include "convoy/train/whole_units.h"

namespace convoy {
namespace {

// Suffix of the trained values if averages are the model.
constexpr const char* kTrained = ".trained";

std::vector<SavedPart> saved(const std::vector<LoadedPart>& parts) {
  std::vector<SavedPart> list;
  for (const LoadedPart& part : parts) {
    list.push_back({part.layout, part.numbers, part.suffix, part.only_trained,
                    /*plan=*/nullptr, /*units=*/nullptr, part.types});
  }
  return list;
}

LoadedPart part_of(const Layout& layout, const OptimizerSlot& slot) {
  return {layout, slot.numbers, "." + std::string(slot.name), /*only_trained=*/true};
}

void broadcast(Comm& comm, FlatBuffer& numbers, Range range) {
  comm.broadcast(std::as_writable_bytes(numbers.view(range)), /*root=*/0);
}

}  // namespace

RunSaver::RunSaver(TrainingParts& parts) : parts_(parts) {
  if (parts.comm.is_first() && resumes_from_checkpoint(parts.settings)) restore();
}

/// Returns what is evaluated: the averages, if there are any yet.
std::vector<LoadedPart> RunSaver::model_parts() {
  TrainingParts& p = parts_;
  const bool averaged = p.averages && p.averages->any();
  if (!averaged) return trained_parts();
  return {{p.work.layout, p.averages->values()},
          {p.work.statistics_layout, p.averages->statistics()}};
}

std::vector<LoadedPart> RunSaver::trained_parts() {
  TrainingParts& p = parts_;
  return {{.layout = p.work.layout, .numbers = p.rig.values(), .types = p.rig.types()},
          {p.work.statistics_layout, p.rig.statistics()}};
}

std::vector<LoadedPart> RunSaver::optimizer_parts(bool with_masters) {
  TrainingParts& p = parts_;
  std::vector<LoadedPart> parts;
  for (const OptimizerSlot& slot : p.rig.optimizer().slots()) {
    if (slot.name != kMasterSlot || with_masters) {
      parts.push_back(part_of(p.work.layout, slot));
    }
  }
  for (const OptimizerSlot& slot : p.updates->slots()) {
    parts.push_back(part_of(p.work.layout, slot));
  }
  if (!p.averages || !p.averages->any()) return parts;
  parts.push_back({p.work.layout, p.rig.values(), kTrained});
  parts.push_back({p.work.statistics_layout, p.rig.statistics(), kTrained});
  return parts;
}

/// Values take the place of the masters that a run in 16 bits has saved: whatever
/// precision this run has, it continues from those.
std::vector<LoadedPart> RunSaver::restored_parts() {
  std::vector<LoadedPart> parts = optimizer_parts(/*with_masters=*/false);
  parts.push_back({.layout = parts_.work.layout,
                   .numbers = parts_.rig.values(),
                   .suffix = "." + std::string(kMasterSlot),
                   .only_trained = true,
                   .optional = true});
  return parts;
}

/// A run that was killed before its first checkpoint starts again.
void RunSaver::restore() {
  const std::size_t microbatches = parts_.description().microbatches;
  const std::filesystem::path checkpoint =
      find_checkpoint(parts_.settings.train.resume,
                      [&](const std::string& text) { damaged_.push_back(text); });
  restored_ = load_state(checkpoint);
  parts_.set_policy_state(restored_->course);  // decides which parts exist
  load_numbers(checkpoint, model_parts(), restored_parts());
  parts_.rig.adopt_values();
  if (restored_->microbatches == microbatches || parts_.settings.train.resume_force) {
    return;
  }
  throw InputError(
      InputKind::settings,
      {.where = "train.microbatches",
       .found = fmt::format("{}", microbatches),
       .expected =
           fmt::format("{}, as in {}", restored_->microbatches, checkpoint.string()),
       .hint = "another number leads to other bits; train.resume_force=true allows it"});
}

void RunSaver::share_restored() {
  if (parts_.settings.train.resume.empty()) return;
  std::string text = restored_ ? to_json(*restored_).dump() : "";
  broadcast_text(parts_.comm, text);
  if (!text.empty()) {
    const char* where = "rank 0's state";
    restored_ = state_from_json(parse_json(text, {.where = where}), where);
    parts_.set_policy_state(restored_->course);
    parts_.updates->restore(restored_->updates, restored_->step);
    LossScaler* scaler = parts_.rig.scaler();
    if (scaler != nullptr && restored_->loss_scale) {
      scaler->restore(*restored_->loss_scale);
    }
  }
  for (const LoadedPart& part : model_parts()) share(part);
  for (const LoadedPart& part : optimizer_parts()) share(part);
}

/// Of what is divided, ranks keep their own part. The values and their masters stay whole
/// until the source of updates begins.
void RunSaver::share(const LoadedPart& part) {
  const ShardPlan* plan = plan_of(part);
  const bool is_whole = &part.numbers == &parts_.rig.values() ||
                        &part.numbers == &parts_.rig.trained_values();
  if (plan == nullptr || is_whole) {
    return broadcast(parts_.comm, part.numbers, {0, part.numbers.size()});
  }
  ParameterStore store(part.layout, part.numbers, *plan, parts_.comm.rank());
  for (std::size_t unit = 0; unit < part.layout.unit_count(); ++unit) {
    broadcast(parts_.comm, part.numbers, part.layout.unit(UnitId{unit}));
    store.release(UnitId{unit});
  }
}

void RunSaver::open(const RunFolder& folder) {
  if (restored_) continue_in(folder);
  if (!parts_.settings.checkpoint.enabled) return;
  writer_.emplace(folder.path(), parts_.settings.checkpoint.keep, on_saved_);
  begin_weight_saves(folder);
}

/// Later weights are made again. The first are those that training begins with.
void RunSaver::begin_weight_saves(const RunFolder& folder) {
  const std::size_t step = restored_ ? restored_->step : 0;
  remove_weight_saves_after(step, folder.path());
  const bool continues = restored_ && !list_weight_saves(folder.path()).empty();
  if (parts_.settings.checkpoint.saves_per_epoch == 0 || continues) return;
  writer_->save_weights(step, saved(trained_parts()));
}

void RunSaver::save_weights(const TrainPosition& position) {
  parts_.updates->synchronize();
  if (has_divided_state()) return save_weights_together(position.step);
  if (writer_) writer_->save_weights(position.step, saved(trained_parts()));
}

/// If the run continues in its folder, its best and last checkpoints are still there. The
/// process may have been killed between a checkpoint and its links, or before it was
/// uploaded.
void RunSaver::continue_in(const RunFolder& folder) {
  std::error_code none;
  if (!std::filesystem::equivalent(folder.path(), parts_.settings.train.resume, none)) {
    return;
  }
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

CheckpointState RunSaver::state(const SavePoint& point, bool evaluated) const {
  const Settings& settings = parts_.settings;
  const auto batch = static_cast<std::size_t>(settings.train.batch_size);
  PolicyState course = parts_.policy_state();
  course.seconds = point.seconds;
  return {.model = settings.model.name,
          .data = settings.data.name,
          .step = point.position.step,
          .epoch = point.position.epoch,
          .samples = std::min(point.position.step_in_epoch * batch,
                              parts_.description().samples_per_epoch),
          .evaluated = evaluated,
          .seed = settings.train.seed,
          .microbatches = parts_.description().microbatches,
          .learning_rate = point.learning_rate,
          .normalization = parts_.work.normalization,
          .epoch_sum = point.epoch_sum,
          .best = best_,
          .course = course,
          .precision = choice_name(settings.precision.name),
          .loss_scale = parts_.rig.loss_scale_state(),
          .updates = parts_.updates->state()};
}

TrainPosition position_of(const CheckpointState& state, std::size_t batch_size) {
  return {.step = state.step,
          .epoch = state.epoch,
          .step_in_epoch = (state.samples + batch_size - 1) / batch_size};
}

/// Only the first rank writes; the others have the same numbers, or parts of them.
void RunSaver::write(const SavePoint& point, bool evaluated, bool best) {
  if (!parts_.settings.checkpoint.enabled) return;
  parts_.updates->synchronize();
  saved_step_ = point.position.step;
  if (!writer_ && !has_divided_state()) return;
  CheckpointContent content{
      .state = state(point, evaluated),
      .model = {},
      .optimizer = {},
      .config = to_yaml(repeatable(parts_.settings, parts_.description().microbatches))};
  if (has_divided_state()) return save_together(std::move(content), {.best = best});
  content.model = saved(model_parts());
  content.optimizer = saved(optimizer_parts());
  writer_->save(content, {.best = best});
}

bool RunSaver::has_divided_state() const {
  return parts_.description().sharding.state != nullptr;
}

/// Whether the first rank, which alone knows what its folder has, wants to save. Only
/// where ranks save together the others have to know.
bool RunSaver::agreed(bool wanted) {
  auto answer = static_cast<std::byte>(wanted);
  if (has_divided_state()) parts_.comm.broadcast(std::span(&answer, 1), /*root=*/0);
  return answer != std::byte{0};
}

/// The plan by which a part is divided over the ranks; nullptr: it is not.
const ShardPlan* RunSaver::plan_of(const LoadedPart& part) const {
  if (&part.layout != &parts_.work.layout) return nullptr;
  const Sharding& sharding = parts_.description().sharding;
  return part.only_trained ? sharding.state : sharding.values;
}

/// Parts of which ranks have pieces, and what makes their units whole.
class RunSaver::DividedParts {
 public:
  explicit DividedParts(const RunSaver& saver) : saver_(saver) {}

  std::vector<SavedPart> of(const std::vector<LoadedPart>& parts) {
    std::vector<SavedPart> list = saved(parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      list[i].plan = saver_.plan_of(parts[i]);
      list[i].units = &whole_
                           .emplace_back(parts[i].layout, parts[i].numbers, list[i].plan,
                                         saver_.parts_.description().sharding.pool,
                                         saver_.parts_.comm)
                           .listener();
    }
    return list;
  }

 private:
  const RunSaver& saver_;
  std::list<WholeUnits> whole_;
};

/// Nothing is copied: training waits.
void RunSaver::save_together(CheckpointContent content, const SaveRequest& order) {
  DividedParts divided(*this);
  content.model = divided.of(model_parts());
  content.optimizer = divided.of(optimizer_parts());
  if (!writer_) return help_to_save(content, parts_.comm);
  const auto make = [&](const std::filesystem::path& run) {
    return save_divided(run, content, parts_.comm);
  };
  writer_->save_now(make, order);
}

/// Units are made whole one after the other, and the first rank writes them.
void RunSaver::save_weights_together(std::uint64_t step) {
  DividedParts divided(*this);
  const std::vector<SavedPart> model = divided.of(trained_parts());
  if (writer_) return writer_->save_weights_now(step, model);
  walk_units(model);
}

void RunSaver::save(const SavePoint& point) {
  write(point, /*evaluated=*/false, /*best=*/false);
}

void RunSaver::save_epoch(const SavePoint& point, const LossSum* evaluation,
                          bool is_last) {
  const int every = parts_.settings.checkpoint.every_epochs;
  const bool due = every > 0 && point.position.epoch % every == 0;
  const bool best = evaluation != nullptr && note_best(*evaluation, point.position);
  if (agreed(best || is_last || due)) write(point, /*evaluated=*/true, best);
}

bool RunSaver::note_best(const LossSum& evaluation, const TrainPosition& position) {
  const bool by_loss = parts_.settings.checkpoint.best_metric == BestMetric::loss;
  const double value = by_loss ? evaluation.mean_loss() : evaluation.accuracy();
  if (best_ && (by_loss ? value >= best_->value : value <= best_->value)) return false;
  best_ = BestMark{.value = value, .step = position.step, .epoch = position.epoch};
  return true;
}

void RunSaver::rethrow_failure() {
  if (writer_) writer_->rethrow_failure();
}

void RunSaver::finish(const SavePoint* last) {
  if (last != nullptr && agreed(saved_step_ != last->position.step)) save(*last);
  if (!writer_) return;
  if (last != nullptr) writer_->finish();
  seconds_before_ += writer_->seconds_blocked();
  writer_.reset();
}

double RunSaver::seconds_blocked() const {
  if (parts_.description().clock != &kSteadyClock) return 0;
  return seconds_before_ + (writer_ ? writer_->seconds_blocked() : 0);
}

}  // namespace convoy
