// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/network.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/base/memory.h"
#include "convoy/base/text.h"
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
                    .hint = "a smaller train.batch_size, or more train.lanes"});
}

}  // namespace

Samples Samples::part(Range range) const {
  const std::size_t sample = labels.empty() ? 0 : images.size() / labels.size();
  return {images.subspan(range.begin * sample, range.size() * sample),
          labels.subspan(range.begin, range.size())};
}

Network::Network(const Model& model, const Layout& layout, const NetworkOptions& options,
                 ThreadTeam& team)
    : options_(options), team_(team), input_(model.input) {
  plan(model, layout);
}

// The moments of a step with n stages: 0 packs the images, 1 .. n are the stages forward,
// n + 1 is the loss, n + 2 .. 2n + 1 are the stages backward, last to first.
void Network::plan(const Model& model, const Layout& layout) {
  ArenaPlan arena_plan;
  const std::vector<StageSpec> specs =
      fuse_layers(model, options_.training, options_.winograd);
  const int count = static_cast<int>(specs.size());
  StageContext context{.plan = arena_plan,
                       .src = model.input,
                       .most_packs = round_up(options_.most_samples, kPack) / kPack,
                       .threads = team_.threads(),
                       .forward = 0,
                       .backward = 2 * count + 2,
                       .training = options_.training,
                       .number = 0};
  const auto activation_bytes = [&](Shape shape) {
    return context.most_packs * pack_floats(shape) * sizeof(float);
  };
  input_slot_ = arena_plan.reserve(activation_bytes(model.input), {0, 0});
  for (const StageSpec& spec : specs) {
    context.forward += 1;
    context.backward -= 1;
    // Without training there is no backward: nothing lives beyond the forward pass.
    if (!options_.training) context.backward = context.forward;
    ++context.number;
    Planned& planned = stages_.emplace_back();
    planned.unit = spec.unit;
    planned.segments = spec.segments;
    planned.stage = make_stage(spec, context, layout);
    const std::size_t bytes = activation_bytes(spec.dst);
    planned.dst = arena_plan.reserve(bytes, {context.forward, context.forward + 1});
    if (options_.training) {
      planned.dst_gradient =
          arena_plan.reserve(bytes, {context.backward - 1, context.backward});
    }
    context.src = spec.dst;
  }
  plan_lifetimes(arena_plan);
  arena_plan.solve();
  refuse_more_than_memory(arena_plan.bytes(), options_.most_samples);
  classes_ = context.src.size();
  loss_ = std::make_unique<SoftmaxLoss>(context);
  arena_ = Arena(std::move(arena_plan));
}

/// Keeps each activation until the last stage that reads it has done so.
void Network::plan_lifetimes(ArenaPlan& arena_plan) {
  const int count = static_cast<int>(stages_.size());
  arena_plan.extend(input_slot_, 1);
  // The loss reads the last activation at n + 1, and again when backward begins.
  arena_plan.extend(stages_.back().dst, options_.training ? count + 1 : count);
  if (!options_.training) return;
  for (int i = 0; i < count; ++i) {
    const int backward = 2 * count + 1 - i;
    const Stage& stage = *stages_[i].stage;
    if (stage.backward_reads_dst()) arena_plan.extend(stages_[i].dst, backward);
    const SlotId src = i == 0 ? input_slot_ : stages_[i - 1].dst;
    if (stage.backward_reads_src()) arena_plan.extend(src, backward);
  }
}

bool Network::is_first_of_unit(std::size_t stage) const {
  return stage == 0 || stages_[stage - 1].unit != stages_[stage].unit;
}

bool Network::is_last_of_unit(std::size_t stage) const {
  return stage + 1 == stages_.size() || stages_[stage + 1].unit != stages_[stage].unit;
}

Pass Network::make_pass(const FlatBuffer& values, float* gradients, const PassKey& key) {
  return {.team = team_,
          .kernels = *options_.kernels,
          .arena = arena_,
          .values = values.data(),
          .gradients = gradients,
          .packs = round_up(samples_.count(), kPack) / kPack,
          .key = key};
}

/// Turns [sample][feature] into [pack][feature][16], the last pack filled up with zeros.
void Network::pack_images(const Samples& samples) {
  const std::size_t features = input_.size();
  const std::size_t packs = round_up(samples.count(), kPack) / kPack;
  // Fine tasks: a pack has much to copy, and a batch few packs.
  constexpr std::size_t kFeaturesATask = 128;
  const std::size_t parts = (features + kFeaturesATask - 1) / kFeaturesATask;
  float* packed = arena_.get(input_slot_);
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
                         const PassKey& key, PassListener& listener) {
  check(samples.count() <= options_.most_samples, "a batch fits the plan");
  check(samples.images.size() == samples.count() * input_.size(), "images fit the model");
  samples_ = samples;
  key_ = key;
  const Pass pass = make_pass(values, nullptr, key);
  pack_images(samples);
  const float* src = arena_.get(input_slot_);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const UnitId unit{stages_[i].unit};
    if (is_first_of_unit(i)) listener.before_forward(unit);
    float* dst = arena_.get(stages_[i].dst);
    stages_[i].stage->forward(pass, src, dst);
    if (is_last_of_unit(i)) listener.after_forward(unit);
    src = dst;
  }
  return loss_->forward(pass, src, samples.labels);
}

void Network::backward(float scale, const FlatBuffer& values, FlatBuffer& gradients,
                       PassListener& listener) {
  check(options_.training, "the network was planned for training");
  const Pass pass = make_pass(values, gradients.data(), key_);
  loss_->backward(pass, arena_.get(stages_.back().dst), samples_.labels, scale,
                  arena_.get(stages_.back().dst_gradient));
  for (std::size_t i = stages_.size(); i-- > 0;) {
    Planned& planned = stages_[i];
    if (is_last_of_unit(i)) listener.before_backward(UnitId{planned.unit});
    const Activation dst = {arena_.get(planned.dst), arena_.get(planned.dst_gradient)};
    Activation src = {arena_.get(input_slot_), nullptr};
    if (i > 0)
      src = {arena_.get(stages_[i - 1].dst), arena_.get(stages_[i - 1].dst_gradient)};
    planned.stage->backward(pass, src, dst);
    for (const SegmentId segment : planned.segments) listener.gradient_ready(segment);
  }
}

std::span<const std::int32_t> Network::predictions() const {
  return loss_->predictions().first(samples_.count());
}

float Network::logit(std::size_t sample, std::size_t category) {
  const float* logits = arena_.get(stages_.back().dst);
  return logits[((sample / kPack) * classes_ + category) * kPack + sample % kPack];
}

}  // namespace convoy
