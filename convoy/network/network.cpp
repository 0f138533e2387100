// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/network.h"

#include <algorithm>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/memory.h"
#include "convoy/base/text.h"
#include "convoy/network/add_to.h"
#include "convoy/network/stage_builder.h"

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

Samples Samples::part(Range range) const {
  const std::size_t sample = labels.empty() ? 0 : images.size() / labels.size();
  return {images.subspan(range.begin * sample, range.size() * sample),
          labels.subspan(range.begin, range.size())};
}

Network::Network(const Model& model, const Layout& layout, const NetworkOptions& options,
                 ThreadTeam& team)
    : options_(options),
      team_(team),
      input_(model.input),
      statistics_layout_(build_statistics_layout(model)),
      batch_statistics_(statistics_layout_) {
  check(
      options.training || options.statistics != nullptr || statistics_layout_.size() == 0,
      "a network that does not train has its running statistics");
  plan(model, layout);
}

// The moments of a step with n stages: 0 packs the images, 1 .. n are the stages forward,
// n + 1 is the loss, n + 2 .. 2n + 1 are the stages backward, last to first. Without
// training there is no backward: nothing lives beyond the forward pass.
int Network::backward_moment(std::size_t stage) const {
  if (!options_.training) return forward_moment(stage);
  return static_cast<int>(2 * stages_.size() + 1 - stage);
}

std::size_t Network::activation_bytes(Shape shape) const {
  return round_up(options_.most_samples, kPack) / kPack * pack_floats(shape) *
         sizeof(float);
}

void Network::plan(const Model& model, const Layout& layout) {
  ArenaPlan arena_plan;
  const std::vector<StageSpec> specs = fuse_layers(
      model, layout, {.training = options_.training, .winograd = options_.winograd});
  stages_.resize(specs.size());
  StageContext context{.plan = arena_plan,
                       .src = model.input,
                       .most_packs = round_up(options_.most_samples, kPack) / kPack,
                       .threads = team_.threads(),
                       .forward = 0,
                       .backward = 0,
                       .training = options_.training,
                       .number = 0};
  for (std::size_t i = 0; i < specs.size(); ++i) {
    context.src = specs[i].src;
    context.forward = forward_moment(i);
    context.backward = backward_moment(i);
    ++context.number;
    reports_.push_back({.name = specs[i].name,
                        .src = specs[i].src,
                        .dst = specs[i].dst,
                        .adds_residual = specs[i].residual.has_value(),
                        .flops = specs[i].flops,
                        .real_flops = specs[i].real_flops});
    stages_[i] = {.stage = make_stage(specs[i], context, layout, statistics_layout_),
                  .unit = specs[i].unit,
                  .segments = specs[i].segments,
                  .source = specs[i].source,
                  .residual = specs[i].residual,
                  .source_share = {},
                  .residual_share = {}};
  }
  plan_activations(specs, arena_plan);
  plan_lifetimes(arena_plan);
  if (options_.training) plan_gradients(specs, arena_plan);
  arena_plan.solve();
  refuse_more_than_memory(arena_plan.bytes(), options_.most_samples);
  classes_ = specs.back().dst.size();
  context.src = specs.back().dst;
  loss_ = std::make_unique<SoftmaxLoss>(context, options_.label_smoothing);
  arena_ = Arena(std::move(arena_plan));
}

/// Reserves the activations and finds the stages that read each.
void Network::plan_activations(const std::vector<StageSpec>& specs,
                               ArenaPlan& arena_plan) {
  activations_.push_back(
      {.values = arena_plan.reserve(activation_bytes(input_), {0, 0})});
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const int moment = forward_moment(i);
    activations_.push_back(
        {.values = arena_plan.reserve(activation_bytes(specs[i].dst), {moment, moment}),
         .floats = pack_floats(specs[i].dst)});
    const auto use = [&](ActivationIndex index) {
      activations_[index].used = moment;
      activations_[index].last_user = i;
    };
    use(specs[i].source);
    if (specs[i].residual) use(*specs[i].residual);
  }
  // The loss reads the last one, and again when backward begins.
  activations_.back().used = forward_moment(specs.size());
}

/// Keeps each activation until the last stage that reads it has done so.
void Network::plan_lifetimes(ArenaPlan& arena_plan) {
  for (const PlannedActivation& activation : activations_) {
    arena_plan.extend(activation.values, activation.used);
  }
  if (!options_.training) return;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const PlannedStage& planned = stages_[i];
    if (planned.stage->backward_reads_dst()) {
      arena_plan.extend(activations_[i + 1].values, backward_moment(i));
    }
    if (planned.stage->backward_reads_src()) {
      arena_plan.extend(activations_[planned.source].values, backward_moment(i));
    }
  }
}

/// The last stage to take an activation is the first to give it a gradient; another one
/// that takes it gives its share, which is added.
void Network::plan_gradients(const std::vector<StageSpec>& specs, ArenaPlan& arena_plan) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    PlannedActivation& dst = activations_[i + 1];
    const int moment = backward_moment(i);
    const int given =
        i + 1 == stages_.size() ? moment - 1 : backward_moment(dst.last_user);
    dst.gradient = arena_plan.reserve(activation_bytes(specs[i].dst), {given, moment});
    const auto share = [&](ActivationIndex index, Shape shape) -> std::optional<SlotId> {
      if (index == 0 || activations_[index].last_user == i) return std::nullopt;
      return arena_plan.reserve(activation_bytes(shape), {moment, moment});
    };
    stages_[i].source_share = share(specs[i].source, specs[i].src);
    if (specs[i].residual) {
      stages_[i].residual_share = share(*specs[i].residual, specs[i].src);
    }
  }
}

bool Network::is_first_of_unit(std::size_t stage) const {
  return stage == 0 || stages_[stage - 1].unit != stages_[stage].unit;
}

bool Network::is_last_of_unit(std::size_t stage) const {
  return stage + 1 == stages_.size() || stages_[stage + 1].unit != stages_[stage].unit;
}

Pass Network::make_pass(const FlatBuffer& values, float* gradients, const RngKey& key) {
  const FlatBuffer* running = options_.training ? nullptr : options_.statistics;
  return {.team = team_,
          .kernels = *options_.kernels,
          .arena = arena_,
          .values = values.data(),
          .gradients = gradients,
          .statistics = running == nullptr ? nullptr : running->data(),
          .batch_statistics = batch_statistics_.data(),
          .samples = samples_.count(),
          .packs = round_up(samples_.count(), kPack) / kPack,
          .key = key};
}

Activation Network::activation(ActivationIndex index) {
  const PlannedActivation& planned = activations_[index];
  return {arena_.get(planned.values),
          planned.gradient ? arena_.get(*planned.gradient) : nullptr};
}

/// Packs [sample][feature] into [pack][feature][16], the last pack filled up with zeros.
void Network::pack_images(const Samples& samples) {
  const std::size_t features = input_.size();
  const std::size_t packs = round_up(samples.count(), kPack) / kPack;
  // Small tasks: a pack has much to copy, and a batch has few packs.
  constexpr std::size_t kFeaturesATask = 128;
  const std::size_t parts = (features + kFeaturesATask - 1) / kFeaturesATask;
  float* packed = arena_.get(activations_[0].values);
  team_.run(packs * parts, [&](std::size_t task, int) {
    const std::size_t pack = task / parts, first = task % parts * kFeaturesATask;
    const std::size_t last = std::min(features, first + kFeaturesATask);
    for (std::size_t image = 0; image < kPack; ++image) {
      const std::size_t sample = pack * kPack + image;
      float* to = packed + pack * features * kPack + image;
      const bool real = sample < samples.count();
      const float* from = samples.images.data() + (real ? sample * features : 0);
      for (std::size_t f = first; f < last; ++f) to[f * kPack] = real ? from[f] : 0.0f;
    }
  });
}

LossSum Network::forward(const Samples& samples, const FlatBuffer& values,
                         const RngKey& key, PassListener& listener) {
  check(samples.count() <= options_.most_samples, "a batch fits the plan");
  check(samples.images.size() == samples.count() * input_.size(), "images fit the model");
  samples_ = samples;
  key_ = key;
  Pass pass = make_pass(values, nullptr, key);
  pack_images(samples);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const PlannedStage& planned = stages_[i];
    const UnitId unit{planned.unit};
    if (is_first_of_unit(i)) listener.before_forward(unit);
    pass.residual = planned.residual ? activation(*planned.residual) : Activation{};
    const Stopwatch watch;
    planned.stage->forward(pass, activation(planned.source).values,
                           activation(i + 1).values);
    reports_[i].forward_seconds += watch.seconds();
    if (is_last_of_unit(i)) listener.after_forward(unit);
  }
  return loss_->forward(pass, activation(stages_.size()).values, samples.labels);
}

void Network::backward(float scale, const FlatBuffer& values, FlatBuffer& gradients,
                       PassListener& listener) {
  check(options_.training, "the network was planned for training");
  // Without samples there is nothing that stages would sum.
  if (samples_.count() == 0) std::fill_n(gradients.data(), gradients.size(), 0.0f);
  Pass pass = make_pass(values, gradients.data(), key_);
  const Activation logits = activation(stages_.size());
  loss_->backward(pass, logits.values, samples_.labels, scale, logits.gradient);
  for (std::size_t i = stages_.size(); i-- > 0;) {
    if (is_last_of_unit(i)) listener.before_backward(UnitId{stages_[i].unit});
    const Stopwatch watch;
    stage_backward(i, pass);
    reports_[i].backward_seconds += watch.seconds();
    for (const SegmentId segment : stages_[i].segments) listener.gradient_ready(segment);
  }
}

/// The activation for a stage that computes only a share of its gradient.
Activation Network::with_share(ActivationIndex index, std::optional<SlotId> share) {
  Activation result = activation(index);
  if (share) result.gradient = arena_.get(*share);
  return result;
}

void Network::add_share(ActivationIndex index, std::optional<SlotId> share,
                        std::size_t packs) {
  if (!share) return;
  add_to(team_, arena_.get(*share), activation(index).gradient,
         packs * activations_[index].floats);
}

void Network::stage_backward(std::size_t stage, Pass& pass) {
  const PlannedStage& planned = stages_[stage];
  pass.residual = planned.residual ? with_share(*planned.residual, planned.residual_share)
                                   : Activation{};
  planned.stage->backward(pass, with_share(planned.source, planned.source_share),
                          activation(stage + 1));
  add_share(planned.source, planned.source_share, pass.packs);
  if (planned.residual) add_share(*planned.residual, planned.residual_share, pass.packs);
}

std::span<const std::int32_t> Network::predictions() const {
  return loss_->predictions().first(samples_.count());
}

float Network::logit(std::size_t sample, std::size_t category) {
  const float* logits = activation(stages_.size()).values;
  return logits[((sample / kPack) * classes_ + category) * kPack + sample % kPack];
}

}  // namespace convoy
