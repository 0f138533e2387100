// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "convoy/base/printable.h"
#include "convoy/base/text.h"
#include "convoy/checkpoint/checkpoint_state.h"
#include "convoy/setup/precision.h"
#include "convoy/train/training_parts.h"

namespace convoy {
namespace {

std::string frozen_note(const Layout& layout) {
  const std::size_t trained = layout.trained_count();
  if (trained == layout.parameter_count()) return "";
  return fmt::format(", {} of them trained", with_commas(trained));
}

std::string model_lines(const TrainingParts& parts) {
  const Model& model = parts.work.model;
  std::string text = fmt::format(
      "model     {} for {} x {} x {} images, {} classes, {} parameters{}\n", model.name,
      model.input.channels, model.input.height, model.input.width, class_count(model),
      with_commas(parts.work.layout.parameter_count()), frozen_note(parts.work.layout));
  if (!parts.initial) return text;
  return text + fmt::format("init      {}: {}\n", parts.settings.model.init,
                            parts.initial->summary());
}

/// If the checkpoint is of a run in another precision.
std::string precision_note(const TrainingParts& parts, const CheckpointState& restored) {
  const std::string& now = choice_name(parts.settings.precision.name);
  if (restored.precision == now) return "";
  return fmt::format("          from precision {} to {}: its {}\n",
                     printable(restored.precision), now,
                     restored.precision == "fp32" ? "values become masters"
                                                  : "masters are trained further");
}

std::string resume_line(const TrainingParts& parts, const CheckpointState& restored) {
  return fmt::format("resume    {}: step {}, epoch {}, {} of {} samples in\n",
                     parts.settings.train.resume, with_commas(restored.step),
                     restored.epoch, with_commas(restored.samples),
                     with_commas(parts.description().samples_per_epoch)) +
         precision_note(parts, restored);
}

std::string data_line(const TrainingParts& parts) {
  const Workload& work = parts.work;
  return fmt::format("data      {}: {} training, {} validation, {} test samples\n",
                     parts.settings.data.name, with_commas(work.samples.train.size()),
                     with_commas(work.samples.validation.size()),
                     with_commas(work.data.test.size()));
}

/// What becomes of bits where ranks use these kernels.
std::string bits_of_kernels(const std::vector<KernelSet>& by_rank) {
  const Products products = products_of(by_rank[0]);
  if (!std::ranges::all_of(by_rank,
                           [&](KernelSet set) { return products_of(set) == products; })) {
    return "whose products of bf16 differ:\n"
           "          bits depend on which rank computes what";
  }
  if (products == Products::fp32) return "to the same bits";
  return fmt::format(
      "to the bits of {}, which differ from those of other kernels",
      products == Products::bf16_dot ? "bf16 dot products" : "matrix registers of bf16");
}

/// Only if ranks differ, or all have bf16 products: else the line of the cluster has told
/// it.
std::string kernels_line(const std::vector<KernelSet>& by_rank) {
  if (by_rank.empty()) return "";
  if (std::ranges::count(by_rank, by_rank[0]) == std::ssize(by_rank)) {
    return products_of(by_rank[0]) == Products::fp32
               ? ""
               : fmt::format("kernels   {}, {}\n", name_of(by_rank[0]),
                             bits_of_kernels(by_rank));
  }
  std::string text = "kernels  ";
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    text += fmt::format(" {} on rank {},", name_of(by_rank[rank]), rank);
  }
  return text + " " + bits_of_kernels(by_rank) + "\n";
}

std::string schedule_lines(const TrainingParts& parts) {
  return fmt::format(
      "steps     {} per epoch, {} in total\n"
      "schedule  {}, learning rate {:.4g} at first, {:.4g} at last\n",
      with_commas(parts.description().steps_per_epoch),
      with_commas(parts.steps_planned()), choice_name(parts.settings.schedule.name),
      parts.schedule.at(0).rate, parts.schedule.at(parts.steps_planned() - 1).rate);
}

std::string units_text(const TrainingParts& parts, std::size_t recomputed) {
  const std::size_t units = parts.work.layout.unit_count();
  return recomputed >= units ? "all units"
                             : fmt::format("{} of {} units", recomputed, units);
}

std::string memory_lines(const TrainingParts& parts) {
  const std::size_t buffer = parts.work.layout.size() * sizeof(float);
  const std::size_t slot = parts.work.layout.trained_size() * sizeof(float);
  const std::size_t slots =
      parts.rig.optimizer().slots().size() + parts.updates->slots().size();
  const std::size_t averages = parts.averages ? parts.averages->bytes() : 0;
  const UpdateMemory& memory = parts.description().memory;
  const DataPair& data = parts.work.data;
  return fmt::format(
      "memory    values {}, gradients {}, optimizer {},\n"
      "          activations {}, evaluation {}, data {}\n",
      human_bytes(memory.values.value_or(buffer)), human_bytes(memory.gradients),
      human_bytes(slots * memory.slot.value_or(slot) + averages),
      human_bytes(memory.activations), human_bytes(parts.evaluator.bytes()),
      human_bytes(data.train.images.memory_bytes() + data.test.images.memory_bytes()));
}

/// What else a process has, and the sum.
std::string planned_lines(const TrainingParts& parts) {
  if (!parts.memory) return "";
  const auto& [plan, units, limit] = *parts.memory;
  return fmt::format(
      "          loader {}, exchange {}, checkpoint copies {}, process {}\n"
      "          {} planned in all, at most {} {}{}\n",
      human_bytes(plan.loader), human_bytes(plan.strategy.exchange),
      human_bytes(plan.strategy.checkpoint), human_bytes(plan.process),
      human_bytes(plan.total()), human_bytes(limit.bytes), limit.source,
      units == 0 ? ""
                 : "; activations of " + units_text(parts, units) + " are recomputed");
}

}  // namespace

std::string run_plan(const TrainingParts& parts, const CheckpointState* restored) {
  return model_lines(parts) + (restored != nullptr ? resume_line(parts, *restored) : "") +
         data_line(parts) + parts.description().plan + kernels_line(parts.kernels) +
         precision_lines(parts.settings) + schedule_lines(parts) + memory_lines(parts) +
         planned_lines(parts);
}

}  // namespace convoy
