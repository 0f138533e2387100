// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/point/broadcast.h"

#include <fmt/format.h>

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/network/row_copy.h"

namespace convoy {
namespace {

std::string broadcast_text(Shape shape) {
  return fmt::format("{} rows of {} x {} x {}", shape.rows, shape.channels, shape.height,
                     shape.width);
}

/// A pack is divided into blocks of channels, one per task.
class BroadcastStage final : public Stage {
 public:
  BroadcastStage(const StageContext& context, const Broadcast& broadcast,
                 BroadcastOperation operation)
      : broadcast_(broadcast),
        multiply_(operation == BroadcastOperation::multiply),
        channels_(static_cast<std::size_t>(broadcast.whole().channels)),
        pixels_(broadcast.whole().pixels()),
        block_(std::clamp<std::size_t>(kFloatsPerTask / (pixels_ * kPack), 1, channels_)),
        forward_part_(context.reserve_scratch(scratch_floats(), context.forward)),
        backward_part_(context.reserve_scratch(scratch_floats(), context.backward)) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    combine(pass, {src[0].values, src[1].values, dst.values, forward_part_}, multiply_);
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient != nullptr) whole_gradient(pass, src, dst);
    if (src[1].gradient == nullptr) return;
    if (broadcast_.over_rows()) {
      sum_over_rows(pass, src, dst);
    } else {
      sum_over_features(pass, src, dst);
    }
  }

  bool backward_reads_src(std::size_t) const override { return multiply_; }
  bool backward_reads_dst() const override { return false; }

 private:
  static constexpr std::size_t kFloatsPerTask = 4096;

  struct Operands {
    const float* whole;
    const float* part;
    float* dst;
    SlotId scratch;
  };

  /// Channels of a task.
  struct Block {
    std::size_t first, count;
  };
  std::size_t blocks() const { return (channels_ + block_ - 1) / block_; }
  Block block(std::size_t number) const {
    const std::size_t first = number * block_;
    return {first, std::min(block_, channels_ - first)};
  }

  std::size_t scratch_floats() const {
    return broadcast_.over_rows() ? block_ * pixels_ * kPack : 0;
  }
  std::size_t whole_offset(std::size_t pack, std::size_t channel) const {
    return (pack * channels_ + channel) * pixels_ * kPack;
  }

  void combine(const Pass& pass, const Operands& of, bool multiply) const {
    const BroadcastKernels& kernels = broadcast_kernels(pass.kernels);
    const auto work = multiply ? kernels.multiply : kernels.add;
    pass.team.run(pass.packs(broadcast_.whole()) * blocks(),
                  [&](std::size_t task, int thread) {
                    const std::size_t pack = task / blocks();
                    const Block channels = block(task % blocks());
                    const std::size_t from = whole_offset(pack, channels.first);
                    work({.a = of.whole + from,
                          .b = part_of(pass, of, pack, channels, thread),
                          .b_stride = broadcast_.stride(),
                          .dst = of.dst + from,
                          .channels = channels.count,
                          .pixels = pixels_});
                  });
  }

  /// The part for a block of channels of a pack of the whole.
  const float* part_of(const Pass& pass, const Operands& of, std::size_t pack,
                       Block channels, int thread) const {
    const std::size_t first = channels.first * broadcast_.stride().channel;
    if (!broadcast_.over_rows()) {
      return of.part + pack * pack_floats(broadcast_.part()) + first;
    }
    const Shape part = broadcast_.part();
    const std::size_t count =
        part.pixels() * (broadcast_.over_channels() ? 1 : channels.count);
    const auto rows = static_cast<std::size_t>(broadcast_.whole().rows);
    float* to =
        pass.arena.get(of.scratch) + static_cast<std::size_t>(thread) * scratch_floats();
    for (std::size_t lane = 0; lane < kPack; ++lane) {
      // Rows that fill up the last pack take what is there.
      const std::size_t sample = std::min((pack * kPack + lane) / rows, pass.samples - 1);
      const float* from = of.part + row_offset(sample, part.features(), first / kPack);
      for (std::size_t f = 0; f < count; ++f) to[f * kPack + lane] = from[f * kPack];
    }
    return to;
  }

  void whole_gradient(const Pass& pass, Activations src, const Activation& dst) const {
    if (multiply_) {
      combine(pass, {dst.gradient, src[1].values, src[0].gradient, backward_part_}, true);
      return;
    }
    pass.team.run(pass.packs(broadcast_.whole()), [&](std::size_t pack, int) {
      const std::size_t size = pack_floats(broadcast_.whole());
      std::copy_n(dst.gradient + pack * size, size, src[0].gradient + pack * size);
    });
  }

  /// Tasks are packs, and blocks of channels where each channel has sums of its own.
  void sum_over_features(const Pass& pass, Activations src, const Activation& dst) const {
    const std::size_t parts = broadcast_.over_channels() ? 1 : blocks();
    pass.team.run(pass.packs(broadcast_.whole()) * parts, [&](std::size_t task, int) {
      const std::size_t pack = task / parts;
      const Block channels = parts == 1 ? Block{0, channels_} : block(task % parts);
      const std::size_t from = whole_offset(pack, channels.first);
      const BroadcastStride stride = broadcast_.stride();
      float* sums = src[1].gradient + pack * pack_floats(broadcast_.part()) +
                    channels.first * stride.channel;
      std::fill_n(sums, sums_floats(channels), 0.0f);
      broadcast_kernels(pass.kernels)
          .add_products({.gradient = dst.gradient + from,
                         .factor = multiply_ ? src[0].values + from : nullptr,
                         .sums = sums,
                         .sums_stride = stride,
                         .channels = channels.count,
                         .pixels = pixels_});
    });
  }

  std::size_t sums_floats(Block channels) const {
    const std::size_t count = broadcast_.over_channels() ? 1 : channels.count;
    return count * broadcast_.part().pixels() * kPack;
  }

  /// Sixteen samples of the part are as many packs of the whole as a sample has rows.
  void sum_over_rows(const Pass& pass, Activations src, const Activation& dst) const {
    const std::size_t parts = broadcast_.over_channels() ? 1 : blocks();
    pass.team.run(pass.packs(broadcast_.part()) * parts, [&](std::size_t task, int) {
      const std::size_t pack = task / parts;
      const Block channels = parts == 1 ? Block{0, channels_} : block(task % parts);
      const BroadcastStride stride = broadcast_.stride();
      float* sums = src[1].gradient + pack * pack_floats(broadcast_.part());
      std::fill_n(sums + channels.first * stride.channel, sums_floats(channels), 0.0f);
      const std::size_t end = (channels.first + channels.count) * pixels_;
      for (std::size_t f = channels.first * pixels_; f < end; ++f) {
        add_rows(pass, src[0].values, dst.gradient, {pack, f},
                 sums + f / pixels_ * stride.channel + f % pixels_ * stride.pixel);
      }
    });
  }

  struct FeatureOfPack {
    std::size_t pack, feature;
  };

  /// Adds one feature of sixteen samples' rows, those of each sample in their order.
  void add_rows(const Pass& pass, const float* values, const float* gradient,
                FeatureOfPack of, float* sums) const {
    const auto rows = static_cast<std::size_t>(broadcast_.whole().rows);
    const std::size_t features = broadcast_.whole().features();
    const std::size_t first = of.pack * kPack;
    const std::size_t samples = std::min<std::size_t>(kPack, pass.samples - first);
    for (std::size_t sample = 0; sample < samples; ++sample) {
      for (std::size_t row = 0; row < rows; ++row) {
        const std::size_t at =
            row_offset((first + sample) * rows + row, features, of.feature);
        sums[sample] += multiply_ ? gradient[at] * values[at] : gradient[at];
      }
    }
  }

  Broadcast broadcast_;
  bool multiply_;
  std::size_t channels_, pixels_;  // of the whole
  std::size_t block_;              // channels of one task
  SlotId forward_part_, backward_part_;
};

}  // namespace

Broadcast::Broadcast(const char* layer, Shape whole, Shape part)
    : whole_(whole), part_(part) {
  const auto fits = [](int of_part, int of_whole) {
    return of_part == of_whole || of_part == 1;
  };
  const bool one_pixel = part.pixels() == 1;
  const bool same_pixels = part.height == whole.height && part.width == whole.width;
  if (fits(part.channels, whole.channels) && fits(part.rows, whole.rows) &&
      (one_pixel || same_pixels)) {
    return;
  }
  throw InputError(
      InputKind::settings,
      {.where = fmt::format("model: {}", layer),
       .found = "a second source of " + broadcast_text(part),
       .expected = fmt::format("the first one's {}, or one of what it has several of",
                               broadcast_text(whole)),
       .hint = "the second source is the one that is broadcast"});
}

BroadcastStride Broadcast::stride() const {
  const std::size_t pixel = part_.pixels() == whole_.pixels() ? kPack : 0;
  return {.channel = over_channels() ? 0 : part_.pixels() * kPack, .pixel = pixel};
}

std::unique_ptr<Stage> make_broadcast_stage(const StageContext& context,
                                            const Broadcast& broadcast,
                                            BroadcastOperation operation) {
  return std::make_unique<BroadcastStage>(context, broadcast, operation);
}

std::vector<LayerExample> broadcast_examples(const Layer& layer) {
  return {{"OfImages", layer, {{3, 5, 4}, {3, 5, 4}}},
          {"OfTokens", layer, {{7, 1, 1, 5}, {7, 1, 1, 5}}},
          {"OfOneNumberPerChannel", layer, {{3, 5, 4}, {3, 1, 1}}},
          {"OfOneNumberPerPixel", layer, {{3, 5, 4}, {1, 5, 4}}},
          {"OfOneNumberPerImage", layer, {{3, 5, 4}, {1, 1, 1}}},
          {"OfOneNumberPerToken", layer, {{7, 1, 1, 5}, {1, 1, 1, 5}}},
          {"OfOneRowPerSample", layer, {{7, 1, 1, 5}, {7, 1, 1, 1}}},
          {"OfOneNumberPerSample", layer, {{7, 1, 1, 5}, {1, 1, 1, 1}}},
          {"OfRowsOfImages", layer, {{3, 2, 3, 4}, {3, 1, 1, 1}}},
          {"OfManyChannels", layer, {{37, 13, 11}, {37, 1, 1}}},
          {"OfManyFeatures", layer, {{301, 1, 1, 3}, {301, 1, 1, 1}}}};
}

}  // namespace convoy
