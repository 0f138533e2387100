// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/network.h"

#include <algorithm>
#include <map>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/memory.h"
#include "convoy/base/text.h"
#include "convoy/network/add_to.h"

namespace convoy {
namespace {

void refuse_more_than_memory(std::size_t bytes, std::size_t samples) {
  const std::uint64_t available = available_memory_bytes();
  if (bytes <= available) return;
  throw InputError(InputKind::settings,
                   {.where = "memory",
                    .found = human_bytes(bytes) + " of activations for a pass over " +
                             with_commas(samples) + " samples",
                    .expected = "at most " + human_bytes(available) + ", which is free",
                    .hint = "a smaller train.batch_size, or more train.microbatches"});
}

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

}  // namespace

Network::Network(const Model& model, const Layout& layout, const NetworkOptions& options,
                 ThreadTeam& team)
    : layout_(layout),
      options_(options),
      team_(team),
      input_(model.input),
      statistics_layout_(build_statistics_layout(model, layout)),
      batch_statistics_(statistics_layout_) {
  const std::size_t segments = statistics_layout_.segments().size();
  const bool all_measured =
      options.training && statistics_layout_.trained_segment_count() == segments;
  check(all_measured || options.statistics != nullptr || segments == 0,
        "a network that uses running statistics has them");
  plan(model);
}

// The moments of a step with n stages: 0 packs the inputs, 1 .. n are the stages forward,
// n + 1 is the loss, n + 2 .. 2n + 1 are the stages backward, last to first. Without
// training there is no backward: nothing lives beyond the forward pass.
int Network::backward_moment(std::size_t stage) const {
  if (!options_.training) return forward_moment(stage);
  return static_cast<int>(2 * stages_.size() + 1 - stage);
}

std::size_t Network::activation_bytes(Shape shape) const {
  return packs_of(options_.most_samples, shape) * pack_floats(shape) * sizeof(float);
}

void Network::plan(const Model& model) {
  ArenaPlan arena_plan;
  const std::vector<StageSpec> specs =
      fuse_layers(model, {.training = options_.training, .winograd = options_.winograd});
  if (const int rows = specs.back().dst().rows; rows != 1) {
    refuse_layer(model.name, std::to_string(rows) + " rows per sample at the end",
                 "one row of logits", "take_row and row_mean leave one");
  }
  for (const StageSpec& spec : specs) plan_tensors(spec, stages_.emplace_back());
  if (options_.training) plan_backward();
  StageContext context{.plan = arena_plan,
                       .most_samples = options_.most_samples,
                       .threads = team_.threads(),
                       .forward = 0,
                       .backward = 0,
                       .training = options_.training,
                       .number = 0};
  for (const StageSpec& spec : specs) plan_stage(spec, context);
  plan_activations(specs, arena_plan);
  if (options_.training && options_.recompute_cheap) plan_recomputed(arena_plan);
  plan_lifetimes(arena_plan);
  if (options_.training) plan_gradients(arena_plan);
  if (options_.training) plan_shared_parameters(arena_plan);
  reserve_arguments();
  arena_plan.solve();
  refuse_more_than_memory(arena_plan.bytes(), options_.most_samples);
  classes_ = specs.back().dst().size();
  loss_ = std::make_unique<SoftmaxLoss>(options_.most_samples, classes_,
                                        options_.label_smoothing);
  arena_ = Arena(std::move(arena_plan));
}

/// Finds what a stage reads.
void Network::plan_tensors(const StageSpec& spec, PlannedStage& planned) const {
  planned.unit = spec.unit();
  for (const ActivationIndex source : spec.sources) planned.sources.push_back({source});
  for (const SegmentId id : segments_of(spec, layout_, &LayerDescription::parameters)) {
    const Segment& segment = layout_.segment(id);
    planned.parameters.push_back({id, segment.range, segment.trained});
  }
  for (const SegmentId id :
       segments_of(spec, statistics_layout_, &LayerDescription::statistics)) {
    const Segment& segment = statistics_layout_.segment(id);
    planned.statistics.push_back({segment.range.begin, segment.trained});
  }
}

/// A stage has a backward pass if it, or a stage that it reads, trains a parameter.
void Network::plan_backward() {
  for (PlannedStage& planned : stages_) {
    planned.has_backward =
        std::ranges::any_of(planned.parameters, &PlannedParameter::trained) ||
        std::ranges::any_of(planned.sources, [&](const PlannedSource& source) {
          return source.activation > 0 && stages_[source.activation - 1].has_backward;
        });
  }
}

/// Makes the stage after those that there are.
void Network::plan_stage(const StageSpec& spec, StageContext& context) {
  const std::size_t number = reports_.size();
  PlannedStage& planned = stages_[number];
  context.training = planned.has_backward;
  context.forward = forward_moment(number);
  context.backward = planned.has_backward ? backward_moment(number) : context.forward;
  ++context.number;
  reports_.push_back(report_of(spec));
  planned.stage = spec.first().layer.kind().make_stage(spec, context);
}

/// Reserves the activations and finds the stages that read each.
void Network::plan_activations(const std::vector<StageSpec>& specs,
                               ArenaPlan& arena_plan) {
  activations_.push_back(
      {.shape = input_, .values = arena_plan.reserve(activation_bytes(input_), {0, 0})});
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const int moment = forward_moment(i);
    const Shape dst = specs[i].dst();
    activations_.push_back(
        {.shape = dst,
         .values = arena_plan.reserve(activation_bytes(dst), {moment, moment})});
    for (const ActivationIndex source : specs[i].sources) {
      activations_[source].used = moment;
      ++activations_[source].users;
      activations_[source].last_user = i;
    }
  }
  for (std::size_t i = 1; i + 1 < activations_.size(); ++i) {
    if (activations_[i].used > 0) continue;
    refuse_layer(specs[i - 1].name, "a result that no layer reads",
                 "one reader or more for every layer but the last");
  }
  // The loss reads the last one, and again when backward begins.
  activations_.back().used = forward_moment(specs.size());
}

/// Finds the stages that run again in backward, right before the stage that reads their
/// result.
void Network::plan_recomputed(ArenaPlan& arena_plan) {
  for (std::size_t i = 0; i + 1 < stages_.size(); ++i) {
    if (!is_worth_recomputing(i)) continue;
    PlannedActivation& dst = activations_[i + 1];
    const int moment = backward_moment(dst.last_user);
    dst.again = arena_plan.reserve(activation_bytes(dst.shape), {moment, moment});
    stages_[dst.last_user].recomputed = i;
  }
}

/// Whether a stage's result would be kept for one stage alone, of whose time the stage
/// takes a few percent. Its sources have to be there: its own backward needs them, and
/// they are not computed again themselves. If it has parameters, they are of the unit
/// whose backward runs then.
bool Network::is_worth_recomputing(std::size_t stage) const {
  constexpr std::uint64_t kLeastFlopsPerNumber = 1000;
  const PlannedActivation& dst = activations_[stage + 1];
  const PlannedStage &planned = stages_[stage], &reader = stages_[dst.last_user];
  if (!planned.stage->is_cheap() || !planned.has_backward || dst.users != 1) return false;
  const bool values_in_use = planned.parameters.empty() || planned.unit == reader.unit;
  if (!values_in_use || reader.recomputed || reader.sources.size() != 1 ||
      !reader.stage->backward_reads_src(0)) {
    return false;
  }
  const auto kept = [&](const PlannedSource& source) {
    return !activations_[source.activation].again;
  };
  return std::ranges::all_of(planned.sources, kept) &&
         reports_[dst.last_user].real_flops >= kLeastFlopsPerNumber * dst.shape.size();
}

/// Keeps each activation until the last stage that reads it has done so.
void Network::plan_lifetimes(ArenaPlan& arena_plan) {
  for (const PlannedActivation& activation : activations_) {
    arena_plan.extend(activation.values, activation.used);
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const PlannedStage& planned = stages_[i];
    if (!planned.has_backward) continue;
    const int moment = backward_moment(i);
    if (planned.stage->backward_reads_dst()) {
      arena_plan.extend(activations_[i + 1].values, moment);
    }
    for (std::size_t s = 0; s < planned.sources.size(); ++s) {
      const PlannedActivation& read = activations_[planned.sources[s].activation];
      if (!planned.stage->backward_reads_src(s) || read.again) continue;
      arena_plan.extend(read.values, moment);
    }
  }
}

/// The last stage to read an activation is the first to give it a gradient, as what it
/// reads first; whatever else reads it gives a share, which is added.
void Network::plan_gradients(ArenaPlan& arena_plan) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (!stages_[i].has_backward) continue;
    PlannedActivation& dst = activations_[i + 1];
    const int moment = backward_moment(i);
    const int given =
        i + 1 == stages_.size() ? moment - 1 : backward_moment(dst.last_user);
    dst.gradient = arena_plan.reserve(activation_bytes(dst.shape), {given, moment});
    std::vector<ActivationIndex> given_here;
    for (PlannedSource& source : stages_[i].sources) {
      const PlannedActivation& read = activations_[source.activation];
      if (!read.gradient) continue;
      const bool first =
          read.last_user == i &&
          std::ranges::find(given_here, source.activation) == given_here.end();
      given_here.push_back(source.activation);
      if (first) continue;
      source.share = arena_plan.reserve(activation_bytes(read.shape), {moment, moment});
    }
  }
}

/// Likewise for a parameter that several stages use.
void Network::plan_shared_parameters(ArenaPlan& arena_plan) {
  std::map<SegmentId, PlannedParameter*> users;
  for (std::size_t i = stages_.size(); i-- > 0;) {
    for (PlannedParameter& parameter : stages_[i].parameters) {
      if (!parameter.trained) continue;
      PlannedParameter*& later = users[parameter.segment];
      if (later != nullptr) {
        later->ready = false;
        const int moment = backward_moment(i);
        parameter.share =
            arena_plan.reserve(parameter.range.size() * sizeof(float), {moment, moment});
      }
      later = &parameter;
    }
  }
}

/// Room for what any stage is given, so that a pass allocates nothing.
void Network::reserve_arguments() {
  for (const PlannedStage& planned : stages_) {
    StageArguments& all = arguments_;
    all.src.resize(std::max(all.src.size(), planned.sources.size()));
    all.parameters.resize(std::max(all.parameters.size(), planned.parameters.size()));
    all.statistics.resize(std::max(all.statistics.size(), planned.statistics.size()));
  }
}

bool Network::is_first_of_unit(std::size_t stage) const {
  return stage == 0 || stages_[stage - 1].unit != stages_[stage].unit;
}

bool Network::is_last_of_unit(std::size_t stage) const {
  return stage + 1 == stages_.size() || stages_[stage + 1].unit != stages_[stage].unit;
}

Pass Network::make_pass(const RngKey& key) {
  return {.team = team_,
          .kernels = options_.kernels,
          .arena = arena_,
          .samples = samples_.count(),
          .key = key};
}

Activation Network::activation(ActivationIndex index) {
  const PlannedActivation& planned = activations_[index];
  return {arena_.get(planned.values),
          planned.gradient ? arena_.get(*planned.gradient) : nullptr};
}

/// Tells the pass what a stage reads and writes; `gradients` is nullptr in forward.
void Network::set_arguments(std::size_t stage, const float* values, float* gradients,
                            Pass& pass) {
  const PlannedStage& planned = stages_[stage];
  for (std::size_t i = 0; i < planned.sources.size(); ++i) {
    const PlannedSource& source = planned.sources[i];
    arguments_.src[i] = activation(source.activation);
    const auto again = activations_[source.activation].again;
    if (again && gradients != nullptr) arguments_.src[i].values = arena_.get(*again);
    if (source.share) arguments_.src[i].gradient = arena_.get(*source.share);
  }
  for (std::size_t i = 0; i < planned.parameters.size(); ++i) {
    const PlannedParameter& parameter = planned.parameters[i];
    const bool wanted = gradients != nullptr && parameter.trained;
    float* gradient = wanted ? gradients + parameter.range.begin : nullptr;
    if (parameter.share && gradient != nullptr) gradient = arena_.get(*parameter.share);
    arguments_.parameters[i] = {values + parameter.range.begin, gradient};
  }
  for (std::size_t i = 0; i < planned.statistics.size(); ++i) {
    const auto [begin, trained] = planned.statistics[i];
    const bool measured = options_.training && trained;
    arguments_.statistics[i] = {measured ? nullptr : options_.statistics->data() + begin,
                                batch_statistics_.data() + begin};
  }
  pass.parameters = std::span(arguments_.parameters).first(planned.parameters.size());
  pass.statistics = std::span(arguments_.statistics).first(planned.statistics.size());
}

LossSum Network::forward(const Samples& samples, const FlatBuffer& values,
                         const RngKey& key, PassListener& listener) {
  check(samples.count() <= options_.most_samples, "a batch fits the plan");
  check(samples.inputs.size() == samples.count() * input_.size(), "inputs fit the model");
  samples_ = samples;
  key_ = key;
  Pass pass = make_pass(key);
  pack_inputs(team_, samples, input_, arena_.get(activations_[0].values));
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const UnitId unit{stages_[i].unit};
    if (is_first_of_unit(i)) listener.before_forward(unit);
    const Stopwatch watch;
    set_arguments(i, values.data(), nullptr, pass);
    stages_[i].stage->forward(pass,
                              std::span(arguments_.src).first(stages_[i].sources.size()),
                              activation(i + 1));
    reports_[i].forward_seconds += watch.seconds();
    if (is_last_of_unit(i)) listener.after_forward(unit);
  }
  return loss_->forward(team_, activation(stages_.size()).values, samples);
}

void Network::backward(float scale, const FlatBuffer& values, FlatBuffer& gradients,
                       PassListener& listener) {
  check(options_.training, "the network was planned for training");
  if (!stages_.back().has_backward) return;
  Pass pass = make_pass(key_);
  const Activation logits = activation(stages_.size());
  loss_->backward(team_, logits.values, samples_, scale, logits.gradient);
  std::optional<std::size_t> unit;
  for (std::size_t i = stages_.size(); i-- > 0;) {
    if (!stages_[i].has_backward) continue;
    if (unit != stages_[i].unit) {
      if (unit) listener.after_backward(UnitId{*unit});
      unit = stages_[i].unit;
      listener.before_backward(UnitId{*unit});
      // Without samples there is nothing that stages would sum.
      if (samples_.count() == 0) clear_gradients(*unit, gradients);
    }
    const Stopwatch watch;
    if (stages_[i].recomputed) recompute(*stages_[i].recomputed, values, pass);
    set_arguments(i, values.data(), gradients.data(), pass);
    stages_[i].stage->backward(pass,
                               std::span(arguments_.src).first(stages_[i].sources.size()),
                               activation(i + 1));
    add_shares(i, gradients.data());
    reports_[i].backward_seconds += watch.seconds();
    for (const PlannedParameter& parameter : stages_[i].parameters) {
      if (parameter.trained && parameter.ready) {
        listener.gradient_ready(parameter.segment);
      }
    }
  }
  listener.after_backward(UnitId{*unit});
}

/// Runs the stage's forward a second time, for the stage that reads its result.
void Network::recompute(std::size_t stage, const FlatBuffer& values, Pass& pass) {
  set_arguments(stage, values.data(), nullptr, pass);
  stages_[stage].stage->forward(
      pass, std::span(arguments_.src).first(stages_[stage].sources.size()),
      {.values = arena_.get(activations_[stage + 1].again.value())});
}

/// A parameter of several units belongs to the first, whose backward comes last.
void Network::clear_gradients(std::size_t unit, FlatBuffer& gradients) const {
  const Range of_unit = layout_.unit(UnitId{unit});
  for (const Range& trained : layout_.trained()) {
    const Range range = common(trained, of_unit);
    std::ranges::fill(gradients.view(range), 0.0f);
  }
}

/// Adds what a stage gave to gradients that are sums.
void Network::add_shares(std::size_t stage, float* gradients) {
  for (const PlannedSource& source : stages_[stage].sources) {
    if (!source.share) continue;
    const Shape shape = activations_[source.activation].shape;
    add_to(team_, arena_.get(*source.share), activation(source.activation).gradient,
           packs_of(samples_.count(), shape) * pack_floats(shape));
  }
  for (const PlannedParameter& parameter : stages_[stage].parameters) {
    if (!parameter.share) continue;
    add_to(team_, arena_.get(*parameter.share), gradients + parameter.range.begin,
           parameter.range.size());
  }
}

std::span<const std::int32_t> Network::predictions() const {
  return loss_->predictions().first(samples_.count());
}

float Network::logit(std::size_t sample, std::size_t category) {
  const float* logits = activation(stages_.size()).values;
  return logits[((sample / kPack) * classes_ + category) * kPack + sample % kPack];
}

}  // namespace convoy
