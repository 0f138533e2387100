// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/plan/network_plan.h"

#include <algorithm>
#include <map>

#include "convoy/base/error.h"
#include "convoy/network/plan/recompute.h"

namespace convoy {
namespace {

std::vector<SegmentId> segments_of(const StageSpec& spec, const Layout& layout,
                                   std::vector<TensorSpec> LayerDescription::*tensors) {
  std::vector<SegmentId> segments;
  for (const LayerInfo& layer : spec.layers) {
    for (const TensorSpec& tensor : layer.description.*tensors) {
      segments.push_back(layout.find(tensor.name).value());
    }
  }
  return segments;
}

StageReport report_of(const StageSpec& spec) {
  StageReport report{.name = spec.name, .src = spec.src, .dst = spec.dst()};
  for (const LayerInfo& layer : spec.layers) {
    const LayerDescription& description = layer.description;
    report.parameters += layer.parameters();
    report.flops += description.flops;
    report.real_flops +=
        description.real_flops == 0 ? description.flops : description.real_flops;
  }
  return report;
}

/// Makes one plan, step by step.
class Planner {
 public:
  Planner(const Layout& layout, const NetworkOptions& options, int threads)
      : layout_(layout), options_(options), threads_(threads) {}

  NetworkPlan run(const Model& model);

 private:
  void find_tensors(const StageSpec& spec, PlannedStage& planned) const;
  void find_backward();
  void make_stages(const std::vector<StageSpec>& specs);
  void reserve_activations(Shape input, const std::vector<StageSpec>& specs);
  void reserve_gradients();
  void reserve_shares(std::size_t stage);
  void reserve_shared_parameters();

  std::size_t bytes_of(Shape shape) const {
    return packs_of(options_.most_samples, shape) * pack_floats(shape) * sizeof(float);
  }

  const Layout& layout_;
  const NetworkOptions& options_;
  int threads_;
  NetworkPlan plan_;
};

NetworkPlan Planner::run(const Model& model) {
  const std::vector<StageSpec> specs =
      fuse_layers(model, {.training = options_.training, .winograd = options_.winograd});
  if (const int rows = specs.back().dst().rows; rows != 1) {
    refuse_layer(model.name, std::to_string(rows) + " rows per sample at the end",
                 "one row of logits", "take_row and row_mean leave one");
  }
  plan_.statistics_layout = build_statistics_layout(model, layout_);
  plan_.classes = specs.back().dst().size();
  for (const StageSpec& spec : specs) find_tensors(spec, plan_.stages.emplace_back());
  if (options_.training) find_backward();
  number_moments(plan_, options_);
  make_stages(specs);
  reserve_activations(model.input, specs);
  plan_kept_activations(plan_, options_);
  if (options_.training) reserve_gradients();
  if (options_.training) reserve_shared_parameters();
  plan_.arena.solve();
  return std::move(plan_);
}

/// Finds what a stage reads.
void Planner::find_tensors(const StageSpec& spec, PlannedStage& planned) const {
  planned.unit = spec.unit();
  for (const ActivationIndex source : spec.sources) planned.sources.push_back({source});
  for (const SegmentId id : segments_of(spec, layout_, &LayerDescription::parameters)) {
    const Segment& segment = layout_.segment(id);
    planned.parameters.push_back({id, segment.range, segment.trained});
  }
  for (const SegmentId id :
       segments_of(spec, plan_.statistics_layout, &LayerDescription::statistics)) {
    const Segment& segment = plan_.statistics_layout.segment(id);
    planned.statistics.push_back({segment.range.begin, segment.trained});
  }
}

/// A stage has a backward pass if it, or a stage that it reads, trains a parameter.
void Planner::find_backward() {
  for (PlannedStage& planned : plan_.stages) {
    planned.has_backward =
        std::ranges::any_of(planned.parameters, &PlannedParameter::trained) ||
        std::ranges::any_of(planned.sources, [&](const PlannedSource& source) {
          return source.activation > 0 &&
                 plan_.stages[source.activation - 1].has_backward;
        });
  }
}

void Planner::make_stages(const std::vector<StageSpec>& specs) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    PlannedStage& planned = plan_.stages[i];
    const auto [forward, again, backward] = planned.moments;
    const std::size_t first_slot = plan_.arena.size();
    plan_.reports.push_back(report_of(specs[i]));
    planned.stage = specs[i].first().layer.kind().make_stage(
        specs[i], {.plan = plan_.arena,
                   .most_samples = options_.most_samples,
                   .threads = threads_,
                   .forward = forward,
                   .backward = planned.has_backward ? backward : forward,
                   .training = planned.has_backward,
                   .number = static_cast<std::uint32_t>(i + 1)});
    planned.slots = {first_slot, plan_.arena.size()};
  }
}

/// Reserves the activations and finds the stages that read each.
void Planner::reserve_activations(Shape input, const std::vector<StageSpec>& specs) {
  plan_.activations.push_back(
      {.shape = input, .values = plan_.arena.reserve(bytes_of(input), {0, 0})});
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const int moment = plan_.stages[i].moments.forward;
    const Shape dst = specs[i].dst();
    plan_.activations.push_back(
        {.shape = dst, .values = plan_.arena.reserve(bytes_of(dst), {moment, moment})});
    for (const ActivationIndex source : specs[i].sources) {
      plan_.activations[source].users.push_back(i);
    }
  }
  for (std::size_t i = 1; i + 1 < plan_.activations.size(); ++i) {
    if (!plan_.activations[i].users.empty()) continue;
    refuse_layer(specs[i - 1].name, "a result that no layer reads",
                 "one reader or more for every layer but the last");
  }
}

/// The last stage to read an activation is the first to give it a gradient, as what it
/// reads first; whatever else reads it gives a share, which is added.
void Planner::reserve_gradients() {
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    if (!plan_.stages[i].has_backward) continue;
    PlannedActivation& dst = plan_.activations[i + 1];
    const int moment = plan_.stages[i].moments.backward;
    const int given =
        dst.users.empty() ? moment - 1 : plan_.stages[dst.users.back()].moments.backward;
    dst.gradient = plan_.arena.reserve(bytes_of(dst.shape), {given, moment});
    reserve_shares(i);
  }
}

void Planner::reserve_shares(std::size_t stage) {
  const int moment = plan_.stages[stage].moments.backward;
  std::vector<ActivationIndex> given_here;
  for (PlannedSource& source : plan_.stages[stage].sources) {
    const PlannedActivation& read = plan_.activations[source.activation];
    if (!read.gradient) continue;
    const bool first =
        read.users.back() == stage &&
        std::ranges::find(given_here, source.activation) == given_here.end();
    given_here.push_back(source.activation);
    if (first) continue;
    source.share = plan_.arena.reserve(bytes_of(read.shape), {moment, moment});
  }
}

/// Likewise for a parameter that several stages use.
void Planner::reserve_shared_parameters() {
  std::map<SegmentId, PlannedParameter*> users;
  for (std::size_t i = plan_.stages.size(); i-- > 0;) {
    for (PlannedParameter& parameter : plan_.stages[i].parameters) {
      if (!parameter.trained) continue;
      PlannedParameter*& later = users[parameter.segment];
      if (later != nullptr) {
        later->ready = false;
        const int moment = plan_.stages[i].moments.backward;
        parameter.share =
            plan_.arena.reserve(parameter.range.size() * sizeof(float), {moment, moment});
      }
      later = &parameter;
    }
  }
}

}  // namespace

NetworkPlan plan_network(const Model& model, const Layout& layout,
                         const NetworkOptions& options, int threads) {
  return Planner(layout, options, threads).run(model);
}

}  // namespace convoy
