// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/network.h"

#include <algorithm>
#include <optional>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/network/add_to.h"
#include "convoy/system/memory.h"

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

}  // namespace

Network::Network(const Model& model, const Layout& layout, const NetworkOptions& options,
                 ThreadTeam& team)
    : layout_(layout),
      options_(options),
      team_(team),
      input_(model.input),
      plan_(plan_network(model, layout, options, team.threads())),
      batch_statistics_(plan_.statistics_layout) {
  const std::size_t segments = plan_.statistics_layout.segments().size();
  const bool all_measured =
      options.training && plan_.statistics_layout.trained_segment_count() == segments;
  check(all_measured || options.statistics != nullptr || segments == 0,
        "a network that uses running statistics has them");
  refuse_more_than_memory(plan_.arena.bytes(), options_.most_samples);
  reserve_arguments();
  loss_ = std::make_unique<SoftmaxLoss>(options_.most_samples, plan_.classes,
                                        options_.label_smoothing);
  arena_ = Arena(plan_.arena);
}

/// Space for what any stage is given, so that a pass allocates nothing.
void Network::reserve_arguments() {
  for (const PlannedStage& planned : plan_.stages) {
    StageArguments& all = arguments_;
    all.src.resize(std::max(all.src.size(), planned.sources.size()));
    all.parameters.resize(std::max(all.parameters.size(), planned.parameters.size()));
    all.statistics.resize(std::max(all.statistics.size(), planned.statistics.size()));
  }
}

bool Network::is_first_of_unit(std::size_t stage) const {
  return stage == 0 || plan_.stages[stage - 1].unit != plan_.stages[stage].unit;
}

bool Network::is_last_of_unit(std::size_t stage) const {
  return stage + 1 == plan_.stages.size() ||
         plan_.stages[stage + 1].unit != plan_.stages[stage].unit;
}

Pass Network::make_pass(const RngKey& key) {
  return {.team = team_,
          .kernels = options_.kernels,
          .arena = arena_,
          .samples = samples_.count(),
          .key = key,
          .activations = options_.activations,
          .fp32_buffers = arena_.get(plan_.fp32_buffers),
          .buffer_floats = plan_.buffer_floats};
}

Activation Network::activation(ActivationIndex index) {
  const PlannedActivation& planned = plan_.activations[index];
  return {stored(planned.values, planned.dtype),
          planned.gradient ? stored(*planned.gradient, planned.dtype) : Stored()};
}

/// Tells the pass what a stage reads and writes; `gradients` is nullptr in forward.
void Network::set_arguments(std::size_t stage, const float* values, float* gradients,
                            Pass& pass) {
  const PlannedStage& planned = plan_.stages[stage];
  for (std::size_t i = 0; i < planned.sources.size(); ++i) {
    const PlannedSource& source = planned.sources[i];
    arguments_.src[i] = activation(source.activation);
    if (!source.share) continue;
    arguments_.src[i].gradient =
        stored(*source.share, plan_.activations[source.activation].dtype);
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
  pack_inputs(team_, samples, input_, arena_.get(plan_.activations[0].values));
  for (std::size_t i = 0; i < plan_.stages.size(); ++i) {
    const UnitId unit{plan_.stages[i].unit};
    if (is_first_of_unit(i)) listener.before_forward(unit);
    const Stopwatch watch;
    forward_stage(i, values, pass);
    plan_.reports[i].forward_seconds += watch.seconds();
    if (is_last_of_unit(i)) listener.after_forward(unit);
  }
  return loss_->forward(team_, activation(plan_.stages.size()).values, samples);
}

void Network::backward(float scale, const FlatBuffer& values, FlatBuffer& gradients,
                       PassListener& listener) {
  check(options_.training, "the network was planned for training");
  if (!plan_.stages.back().has_backward) return;
  Pass pass = make_pass(key_);
  const Activation logits = activation(plan_.stages.size());
  loss_->backward(team_, logits.values, samples_, scale, logits.gradient);
  std::optional<std::size_t> unit;
  std::size_t run_again = plan_.stages.size();  // from this stage on, where planned
  for (std::size_t i = plan_.stages.size(); i-- > 0;) {
    const PlannedStage& planned = plan_.stages[i];
    if (!planned.has_backward) continue;
    if (unit != planned.unit) {
      if (unit) listener.after_backward(UnitId{*unit});
      unit = planned.unit;
      listener.before_backward(UnitId{*unit});
      // Without samples there is nothing that stages would sum.
      if (samples_.count() == 0) clear_gradients(*unit, gradients);
    }
    const Stopwatch watch;
    if (i < run_again) run_again = forward_unit_again(i, values, pass);
    backward_stage(i, values, gradients, pass);
    plan_.reports[i].backward_seconds += watch.seconds();
    for (const PlannedParameter& parameter : planned.parameters) {
      if (parameter.trained && parameter.ready) {
        listener.gradient_ready(parameter.segment);
      }
    }
  }
  listener.after_backward(UnitId{*unit});
}

void Network::forward_stage(std::size_t stage, const FlatBuffer& values, Pass& pass) {
  set_arguments(stage, values.data(), nullptr, pass);
  plan_.stages[stage].stage->forward(pass, sources_of(stage), activation(stage + 1));
}

/// Runs those stages of a unit once more whose results were not kept, as planned. Returns
/// the first stage of the unit.
std::size_t Network::forward_unit_again(std::size_t last_stage, const FlatBuffer& values,
                                        Pass& pass) {
  std::size_t first = last_stage;
  while (!is_first_of_unit(first)) --first;
  if (first == 0 && plan_.packs_again) {
    pack_inputs(team_, samples_, input_, arena_.get(plan_.activations[0].values));
  }
  for (std::size_t i = first; i <= last_stage; ++i) {
    if (plan_.stages[i].runs_again) forward_stage(i, values, pass);
  }
  return first;
}

void Network::backward_stage(std::size_t stage, const FlatBuffer& values,
                             FlatBuffer& gradients, Pass& pass) {
  const PlannedStage& planned = plan_.stages[stage];
  if (planned.recomputed) forward_stage(*planned.recomputed, values, pass);
  set_arguments(stage, values.data(), gradients.data(), pass);
  planned.stage->backward(pass, sources_of(stage), activation(stage + 1));
  add_shares(stage, gradients.data());
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
  for (const PlannedSource& source : plan_.stages[stage].sources) {
    if (!source.share) continue;
    const PlannedActivation& planned = plan_.activations[source.activation];
    add_to(team_, stored(*source.share, planned.dtype),
           activation(source.activation).gradient,
           packs_of(samples_.count(), planned.shape) * pack_floats(planned.shape));
  }
  for (const PlannedParameter& parameter : plan_.stages[stage].parameters) {
    if (!parameter.share) continue;
    add_to(team_, arena_.get(*parameter.share), gradients + parameter.range.begin,
           parameter.range.size());
  }
}

std::span<const std::int32_t> Network::predictions() const {
  return loss_->predictions().first(samples_.count());
}

float Network::logit(std::size_t sample, std::size_t category) {
  const float* logits = activation(plan_.stages.size()).values;
  return logits[((sample / kPack) * plan_.classes + category) * kPack + sample % kPack];
}

}  // namespace convoy
