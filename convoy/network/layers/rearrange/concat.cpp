// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/concat.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/row_copy.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// One task copies a source's part of a pack.
class ConcatChannelsStage final : public Stage {
 public:
  ConcatChannelsStage(const std::vector<Shape>& src, Shape dst)
      : src_(src), dst_(dst), begin_{0} {
    for (const Shape shape : src) begin_.push_back(begin_.back() + pack_floats(shape));
  }

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    for_parts(pass, [&](std::size_t i, std::size_t from, std::size_t to) {
      std::copy_n(src[i].values + from, pack_floats(src_[i]), dst.values + to);
    });
  }
  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    for_parts(pass, [&](std::size_t i, std::size_t from, std::size_t to) {
      if (src[i].gradient == nullptr) return;
      std::copy_n(dst.gradient + to, pack_floats(src_[i]), src[i].gradient + from);
    });
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  template <class Copy>
  void for_parts(const Pass& pass, const Copy& copy) const {
    pass.team.run(pass.packs(dst_) * src_.size(), [&](std::size_t task, int) {
      const std::size_t pack = task / src_.size(), i = task % src_.size();
      copy(i, pack * pack_floats(src_[i]), pack * pack_floats(dst_) + begin_[i]);
    });
  }

  std::vector<Shape> src_;
  Shape dst_;
  std::vector<std::size_t> begin_;  // of each source in a pack
};

class ConcatRowsStage final : public Stage {
 public:
  ConcatRowsStage(const std::vector<Shape>& src, Shape dst) : src_(src), dst_(dst) {
    for (std::size_t i = 0; i < src.size(); ++i) {
      begin_.push_back(source_.size());
      source_.resize(source_.size() + static_cast<std::size_t>(src[i].rows), i);
    }
  }

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    gather_rows(pass, dst_, dst.values, [&](std::size_t row) {
      const std::size_t sample = row / source_.size(), of_sample = row % source_.size();
      const std::size_t i = source_[of_sample];
      const std::size_t from =
          sample * static_cast<std::size_t>(src_[i].rows) + of_sample - begin_[i];
      return src[i].values + row_offset(from, dst_.features());
    });
  }
  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    for (std::size_t i = 0; i < src.size(); ++i) {
      if (src[i].gradient == nullptr) continue;
      const auto rows = static_cast<std::size_t>(src_[i].rows);
      copy_rows(pass, src_[i], dst.gradient, src[i].gradient, [&](std::size_t row) {
        return static_cast<std::ptrdiff_t>(row / rows * source_.size() + begin_[i] +
                                           row % rows);
      });
    }
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  std::vector<Shape> src_;
  Shape dst_;
  std::vector<std::size_t> begin_;   // the first row of each source
  std::vector<std::size_t> source_;  // of each row of a sample
};

class ConcatKind final : public KindOf<Concat, ConcatKind> {
 public:
  ConcatKind()
      : KindOf({.name = "concat",
                .operation = "ConcatV2",
                .least_sources = 2,
                .most_sources = std::numeric_limits<int>::max()}) {}

  static LayerDescription describe_options(const Concat& layer,
                                           const LayerContext& context) {
    if (layer.axis != "channels" && layer.axis != "rows") {
      refuse_layer("concat: axis", layer.axis, "one of channels, rows");
    }
    Shape dst = context.first();
    for (std::size_t i = 1; i < context.src.size(); ++i) {
      append(layer, context.src[i], dst);
    }
    return {.dst = dst, .details = {{"axis", layer.axis}}};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    if (spec.options<Concat>().axis == "rows") {
      return std::make_unique<ConcatRowsStage>(spec.src, spec.dst());
    }
    return std::make_unique<ConcatChannelsStage>(spec.src, spec.dst());
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Concat{}, {{3, 5, 4}, {1, 5, 4}}},
            {"OfThree", Concat{}, {{3, 2, 1}, {5, 2, 1}, {1, 2, 1}}},
            {"OfTokens", Concat{}, {{7, 1, 1, 5}, {4, 1, 1, 5}}},
            {"OfRows", Concat{"rows"}, {{7, 1, 1, 5}, {7, 1, 1, 1}, {7, 1, 1, 18}}}};
  }

 private:
  static void append(const Concat& layer, Shape next, Shape& dst) {
    const bool of_rows = layer.axis == "rows";
    int& extent = of_rows ? dst.rows : dst.channels;
    const int added = of_rows ? next.rows : next.channels;
    (of_rows ? next.rows : next.channels) = extent;
    if (next != dst) {
      refuse_layer("concat",
                   fmt::format("sources that differ in more than {}", layer.axis),
                   "sources that are equal in everything else");
    }
    extent += added;
  }
};

const Registered<ConcatKind> kConcat;

}  // namespace
}  // namespace convoy
