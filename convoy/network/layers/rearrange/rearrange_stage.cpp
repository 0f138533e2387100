// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/rearrange_stage.h"

#include <algorithm>

#include "convoy/network/row_copy.h"

namespace convoy {
namespace {

/// Features that stay next to each other.
struct FeatureRun {
  int dst, src, count;
};

/// Features that one task copies: at least so many, and no run is longer.
constexpr int kFeaturesPerCopy = 256;

std::vector<FeatureRun> runs_of(const std::vector<int>& source) {
  std::vector<FeatureRun> runs;
  for (int f = 0; f < static_cast<int>(source.size()); ++f) {
    const int from = source[static_cast<std::size_t>(f)];
    FeatureRun* last = runs.empty() ? nullptr : &runs.back();
    const bool continues =
        last != nullptr && last->count < kFeaturesPerCopy &&
        from == (last->src == kFilled ? kFilled : last->src + last->count);
    if (continues) {
      ++last->count;
    } else {
      runs.push_back({f, from, 1});
    }
  }
  return runs;
}

/// Copies the features of every pack.
class FeatureCopy {
 public:
  FeatureCopy(Shape src, Shape dst, const std::vector<int>& source, float fill)
      : src_(src), dst_(dst), runs_(runs_of(source)), fill_(fill), tasks_{0} {
    int features = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      features += runs_[i].count;
      if (features < kFeaturesPerCopy && i + 1 < runs_.size()) continue;
      tasks_.push_back(i + 1);
      features = 0;
    }
  }

  void copy(const Pass& pass, const float* src, float* dst) const {
    const std::size_t parts = tasks_.size() - 1;
    pass.team.run(pass.packs(dst_) * parts, [&](std::size_t task, int) {
      const std::size_t pack = task / parts, part = task % parts;
      const float* from = src + pack * pack_floats(src_);
      float* to = dst + pack * pack_floats(dst_);
      for (std::size_t i = tasks_[part]; i < tasks_[part + 1]; ++i) {
        copy_run(runs_[i], from, to);
      }
    });
  }

 private:
  void copy_run(const FeatureRun& run, const float* from, float* to) const {
    const std::size_t floats = static_cast<std::size_t>(run.count) * kPack;
    float* begin = to + static_cast<std::ptrdiff_t>(run.dst) * kPack;
    if (run.src == kFilled) {
      std::fill_n(begin, floats, fill_);
    } else {
      std::copy_n(from + static_cast<std::ptrdiff_t>(run.src) * kPack, floats, begin);
    }
  }

  Shape src_, dst_;
  std::vector<FeatureRun> runs_;
  float fill_;
  std::vector<std::size_t> tasks_;  // the first run of each, and the end
};

/// By source element: where it goes.
std::vector<int> inverse_of(const std::vector<int>& source, std::size_t count) {
  std::vector<int> inverse(count, kFilled);
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != kFilled) {
      inverse[static_cast<std::size_t>(source[i])] = static_cast<int>(i);
    }
  }
  return inverse;
}

class FeatureStage final : public Stage {
 public:
  explicit FeatureStage(const Rearrangement& of)
      : forward_(of.src, of.dst, of.source, of.fill),
        backward_(of.dst, of.src, inverse_of(of.source, of.src.features()), 0) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    forward_.copy(pass, src[0].values, dst.values);
  }
  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    backward_.copy(pass, dst.gradient, src[0].gradient);
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  FeatureCopy forward_, backward_;
};

class RowStage final : public Stage {
 public:
  explicit RowStage(const Rearrangement& of)
      : src_(of.src),
        dst_(of.dst),
        source_(of.source),
        inverse_(inverse_of(of.source, static_cast<std::size_t>(of.src.rows))) {}

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    copy(pass, {dst_, source_, src_.rows}, src[0].values, dst.values);
  }
  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    if (src[0].gradient == nullptr) return;
    copy(pass, {src_, inverse_, dst_.rows}, dst.gradient, src[0].gradient);
  }

  bool backward_reads_src(std::size_t) const override { return false; }
  bool backward_reads_dst() const override { return false; }

 private:
  struct Target {
    Shape shape;
    const std::vector<int>& source;
    int source_rows;
  };

  static void copy(const Pass& pass, const Target& to, const float* src, float* dst) {
    copy_rows(pass, to.shape, src, dst, [&](std::size_t row) -> std::ptrdiff_t {
      const std::size_t sample = row / to.source.size();
      const int source = to.source[row % to.source.size()];
      if (source == kFilled) return kNoRow;
      return static_cast<std::ptrdiff_t>(sample) * to.source_rows + source;
    });
  }

  Shape src_, dst_;
  std::vector<int> source_, inverse_;
};

}  // namespace

std::unique_ptr<Stage> make_rearrange_stage(const Rearrangement& rearrangement) {
  if (rearrangement.of_rows) return std::make_unique<RowStage>(rearrangement);
  return std::make_unique<FeatureStage>(rearrangement);
}

}  // namespace convoy
