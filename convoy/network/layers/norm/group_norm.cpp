// SPDX-License-Identifier: Apache-2.0
//
// Of an image, a group is a run of a row's features, so that the kernels of layer norms
// do the work. Rows are made into images of one pixel per row first, sixteen samples at a
// time.

#include "convoy/network/layers/norm/group_norm.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/network/kernels/point/epilogue.h"
#include "convoy/network/kernels/row_norm.h"
#include "convoy/network/layers/rearrange/pixel_rows.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// A sample as one row: rows become pixels.
Shape as_image(Shape shape) {
  return shape.rows == 1 ? shape : Shape{shape.channels, shape.rows, 1, 1};
}

class GroupNormStage final : public Stage {
 public:
  GroupNormStage(const StageContext& context, const GroupNorm& layer, Shape shape)
      : image_(as_image(shape)),
        of_rows_(shape.rows > 1),
        groups_(static_cast<std::size_t>(layer.groups)),
        features_(image_.features() / groups_),
        epsilon_(layer.epsilon),
        moments_(context.reserve_kept(context.most_packs(image_) * groups_ *
                                      sizeof(RowMoments))),
        forward_(context.reserve_scratch(scratch_floats(), context.forward)),
        backward_(context.reserve_scratch(scratch_floats(), context.backward)) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    for_groups(pass, forward_, [&](const Task& task, float* scratch) {
      const float* from = read(task, src[0].values, scratch + kSource * part_floats());
      float* to =
          of_rows_ ? scratch + kResult * part_floats() : dst.values + offset(task);
      spread(pass.parameters[0].values, task, scratch + kScale * part_floats());
      spread(pass.parameters[1].values, task, scratch + kShift * part_floats());
      row_norm_kernels(pass.kernels)
          .normalize({.src = from,
                      .features = features_,
                      .scale = scratch + kScale * part_floats(),
                      .shift = scratch + kShift * part_floats(),
                      .epsilon = epsilon_,
                      .dst = to,
                      .moments = moments(pass, task)});
      write(task, to, dst.values);
    });
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient != nullptr) source_gradient(pass, src[0], dst.gradient);
    const bool sums =
        pass.parameters[0].gradient != nullptr || pass.parameters[1].gradient != nullptr;
    if (sums) sum_gradients(pass, src[0].values, dst.gradient);
  }

  bool backward_reads_src(std::size_t) const override { return true; }
  bool backward_reads_dst() const override { return false; }

 private:
  /// Parts of a thread's scratch memory: numbers per feature, or sums of a channel; of
  /// rows, also copies of a group.
  using Part = std::size_t;
  static constexpr Part kScale = 0, kShift = 1, kSource = 2, kResult = 3;

  /// Channels of a group of sixteen samples: all of them, or one.
  struct Task {
    std::size_t pack, first, count;
    std::size_t samples;  // real ones
  };

  std::size_t scratch_floats() const { return (of_rows_ ? 4 : 2) * part_floats(); }
  std::size_t part_floats() const {
    const std::size_t of_image = std::max(features_, image_.pixels() * kPack);
    return of_rows_ ? features_ * kPack : round_up(of_image, kPack);
  }
  std::size_t channels() const { return features_ / image_.pixels(); }

  RowMoments* moments(const Pass& pass, const Task& task) const {
    return pass.arena.get<RowMoments>(moments_) + task.pack * groups_ +
           task.first / channels();
  }
  Task task_of(const Pass& pass, std::size_t pack, std::size_t first,
               std::size_t count) const {
    return {pack, first, count, static_cast<std::size_t>(pass.real_rows(image_, pack))};
  }
  /// Where the task's channels begin in images.
  std::size_t offset(const Task& task) const {
    return task.pack * pack_floats(image_) + task.first * image_.pixels() * kPack;
  }

  template <class Work>
  void for_groups(const Pass& pass, SlotId slot, const Work& work) const {
    pass.team.run(pass.packs(image_) * groups_, [&](std::size_t task, int thread) {
      work(task_of(pass, task / groups_, task % groups_ * channels(), channels()),
           pass.arena.get(slot) + static_cast<std::size_t>(thread) * scratch_floats());
    });
  }

  /// The channels as an image's: of rows, a copy of them.
  const float* read(const Task& task, const float* values, float* copy) const {
    if (!of_rows_) return values + offset(task);
    rows_to_pixels(rows_of(task), task.first, task.first + task.count,
                   values + task.pack * pack_floats(image_), copy);
    return copy;
  }
  void write(const Task& task, const float* copy, float* values) const {
    if (!of_rows_) return;
    pixels_to_rows(rows_of(task), task.first, task.first + task.count, copy,
                   values + task.pack * pack_floats(image_));
  }
  PixelRows rows_of(const Task& task) const {
    return {static_cast<std::size_t>(image_.channels), image_.pixels(), task.samples};
  }

  /// One number per channel to one per feature of a group.
  void spread(const float* numbers, const Task& task, float* to) const {
    for (std::size_t c = 0; c < task.count; ++c) {
      std::fill_n(to + c * image_.pixels(), image_.pixels(), numbers[task.first + c]);
    }
  }

  void source_gradient(const Pass& pass, const Activation& src,
                       const float* dst_gradient) const {
    for_groups(pass, backward_, [&](const Task& task, float* scratch) {
      const float* values = read(task, src.values, scratch + kSource * part_floats());
      const float* gradient = read(task, dst_gradient, scratch + kResult * part_floats());
      float* to =
          of_rows_ ? scratch + kShift * part_floats() : src.gradient + offset(task);
      spread(pass.parameters[0].values, task, scratch + kScale * part_floats());
      row_norm_kernels(pass.kernels)
          .gradient({.dst_gradient = gradient,
                     .src = values,
                     .features = features_,
                     .scale = scratch + kScale * part_floats(),
                     .moments = moments(pass, task),
                     .src_gradient = to});
      write(task, to, src.gradient);
    });
  }

  /// A task takes one channel through all packs.
  void sum_gradients(const Pass& pass, const float* src,
                     const float* dst_gradient) const {
    const auto channels = static_cast<std::size_t>(image_.channels);
    pass.team.run(channels, [&](std::size_t channel, int thread) {
      float* scratch =
          pass.arena.get(backward_) + static_cast<std::size_t>(thread) * scratch_floats();
      float *sums = scratch + kScale * part_floats(),
            *products = scratch + kShift * part_floats();
      const std::size_t floats = image_.pixels() * kPack;
      std::fill_n(sums, floats, 0.0f);
      std::fill_n(products, floats, 0.0f);
      for (std::size_t pack = 0; pack < pass.packs(image_); ++pack) {
        const Task task = task_of(pass, pack, channel, 1);
        row_norm_kernels(pass.kernels)
            .add_sums({.dst_gradient =
                           read(task, dst_gradient, scratch + kResult * part_floats()),
                       .src = read(task, src, scratch + kSource * part_floats()),
                       .features = image_.pixels(),
                       .moments = moments(pass, task),
                       .sums = sums,
                       .products = products});
      }
      const EpilogueKernels& epilogue = epilogue_kernels(pass.kernels);
      float* scale = pass.parameters[0].gradient;
      float* shift = pass.parameters[1].gradient;
      if (scale != nullptr) scale[channel] = epilogue.sum(products, floats);
      if (shift != nullptr) shift[channel] = epilogue.sum(sums, floats);
    });
  }

  Shape image_;
  bool of_rows_;
  std::size_t groups_, features_;  // features of one group
  float epsilon_;
  SlotId moments_, forward_, backward_;
};

class GroupNormKind final : public KindOf<GroupNorm, GroupNormKind> {
 public:
  GroupNormKind() : KindOf({.name = "group_norm", .operation = "GroupNorm"}) {}

  static LayerDescription describe_options(const GroupNorm& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    const bool images_or_tokens = src.rows == 1 || src.pixels() == 1;
    if (layer.groups < 1 || src.channels % layer.groups != 0 || !images_or_tokens) {
      refuse(layer, src);
    }
    const auto channels = static_cast<std::size_t>(src.channels);
    return {.dst = src,
            .parameters = {{layer.name + ".weight",
                            {channels},
                            Role::norm_scale,
                            Initialization::ones()},
                           {layer.name + ".bias",
                            {channels},
                            Role::norm_shift,
                            Initialization::zeros()}},
            .details = {{"groups", fmt::format("{}", layer.groups)}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return std::make_unique<GroupNormStage>(context, spec.options<GroupNorm>(),
                                            spec.src[0]);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", GroupNorm{"norm", 2}, {{6, 5, 4}}},
            {"OfOneGroup", GroupNorm{"norm", 1, 1e-3f}, {{3, 3, 7}}},
            {"OfEveryChannel", GroupNorm{"norm", 5}, {{5, 3, 2}}},
            {"OfTokens", GroupNorm{"norm", 3}, {{6, 1, 1, 5}}},
            {"OfManyTokens", GroupNorm{"norm", 2}, {{4, 1, 1, 35}}}};
  }

 private:
  [[noreturn]] static void refuse(const GroupNorm& layer, Shape src) {
    throw InputError(
        InputKind::settings,
        {.where = "model: " + layer.name,
         .found = fmt::format("{} groups of {} rows of {} x {} x {}", layer.groups,
                              src.rows, src.channels, src.height, src.width),
         .expected = "a divisor of the channels, and images or tokens",
         .hint = ""});
  }
};

const Registered<GroupNormKind> kGroupNorm;

}  // namespace
}  // namespace convoy
