// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/plan/network_plan.h"

#include <algorithm>
#include <map>

#include "convoy/base/error.h"
#include "convoy/network/plan/recompute.h"
#include "convoy/network/storage/widened_stage.h"

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
  std::unique_ptr<Stage> make_stage(const StageSpec& spec, std::size_t number);
  void reserve_activations(Shape input, const std::vector<StageSpec>& specs);
  void reserve_gradients();
  void reserve_shares(std::size_t stage);
  void reserve_shared_parameters();

  /// The input and the logits are fp32.
  Dtype dtype_of(ActivationIndex index) const {
    const bool inner = index > 0 && index < plan_.stages.size();
    return inner ? options_.activations : Dtype::fp32;
  }
  std::size_t activation_bytes(Shape shape, Dtype dtype) const {
    return packs_of(options_.most_samples, shape) * pack_floats(shape) * bytes_of(dtype);
  }
  SlotId reserve(const PlannedActivation& like, Lifetime lifetime) {
    return plan_.arena.reserve(activation_bytes(like.shape, like.dtype), lifetime);
  }
  void add_activation(Shape shape, int moment);
  void reserve_buffers();

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
  reserve_buffers();
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
    const std::size_t first_slot = plan_.arena.size();
    plan_.reports.push_back(report_of(specs[i]));
    plan_.stages[i].stage = make_stage(specs[i], i);
    plan_.stages[i].slots = {first_slot, plan_.arena.size()};
  }
}

std::unique_ptr<Stage> Planner::make_stage(const StageSpec& spec, std::size_t number) {
  const PlannedStage& planned = plan_.stages[number];
  const auto [forward, again, backward] = planned.moments;
  const StageContext context{.plan = plan_.arena,
                             .most_samples = options_.most_samples,
                             .threads = threads_,
                             .forward = forward,
                             .backward = planned.has_backward ? backward : forward,
                             .training = planned.has_backward,
                             .number = static_cast<std::uint32_t>(number + 1),
                             .activations = options_.activations,
                             .buffer_floats = &plan_.buffer_floats};
  std::unique_ptr<Stage> stage = spec.first().layer.kind().make_stage(spec, context);
  if (options_.activations == Dtype::fp32 || stage->takes_stored()) return stage;
  std::vector<StoredShape> src;
  for (std::size_t i = 0; i < spec.src.size(); ++i) {
    src.push_back({spec.src[i], dtype_of(spec.sources[i])});
  }
  return widened(context, std::move(stage), src, {spec.dst(), dtype_of(number + 1)});
}

void Planner::add_activation(Shape shape, int moment) {
  PlannedActivation next{
      .shape = shape, .dtype = dtype_of(plan_.activations.size()), .values = {}};
  next.values = reserve(next, {moment, moment});
  plan_.activations.push_back(std::move(next));
}

/// What threads widen numbers into, at any moment.
void Planner::reserve_buffers() {
  const std::size_t floats = plan_.buffer_floats * static_cast<std::size_t>(threads_);
  plan_.fp32_buffers =
      plan_.arena.reserve(floats * sizeof(float), {0, std::numeric_limits<int>::max()});
}

/// Reserves the activations and finds the stages that read each.
void Planner::reserve_activations(Shape input, const std::vector<StageSpec>& specs) {
  add_activation(input, 0);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    add_activation(specs[i].dst(), plan_.stages[i].moments.forward);
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
    dst.gradient = reserve(dst, {given, moment});
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
    source.share = reserve(read, {moment, moment});
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
