// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/storage/widened_stage.h"

#include <utility>

namespace convoy {
namespace {

// Numbers that a task converts.
constexpr std::size_t kConvertedFloats = 16 << 10;

template <class Convert>
void convert(const Pass& pass, std::size_t size, const Convert& convert_part) {
  const std::size_t tasks = (size + kConvertedFloats - 1) / kConvertedFloats;
  pass.team.run(tasks, [&](std::size_t task, int) {
    const std::size_t from = task * kConvertedFloats;
    convert_part(from, std::min(kConvertedFloats, size - from));
  });
}

class WidenedStage final : public Stage {
 public:
  WidenedStage(const StageContext& context, std::unique_ptr<Stage> stage,
               const std::vector<StoredShape>& src, const StoredShape& dst)
      : stage_(std::move(stage)), dst_{dst} {
    for (const StoredShape& shape : src) src_.push_back({shape});
    for (std::size_t i = 0; i < src_.size(); ++i) {
      reserve(context, src_[i], /*in_backward=*/stage_->backward_reads_src(i));
    }
    reserve(context, dst_, /*in_backward=*/stage_->backward_reads_dst());
    wide_src_.resize(src.size());
  }

  void forward(const Pass& pass, Activations src, const Activation& dst) override {
    for (std::size_t i = 0; i < src_.size(); ++i) {
      wide_src_[i] = {copy_of(pass, src_[i], src_[i].forward, src[i].values), {}};
      widen_all(pass, src_[i], src[i].values, wide_src_[i].values);
    }
    const Stored result = copy_of(pass, dst_, dst_.forward, dst.values);
    stage_->forward(pass, wide_src_, {result, {}});
    narrow_all(pass, dst_, result, dst.values);
  }

  void backward(const Pass& pass, Activations src, const Activation& dst) override {
    for (std::size_t i = 0; i < src_.size(); ++i) {
      wide_src_[i] = copies(pass, src_[i], src[i]);
      if (stage_->backward_reads_src(i)) {
        widen_all(pass, src_[i], src[i].values, wide_src_[i].values);
      }
    }
    const Activation result = copies(pass, dst_, dst);
    if (stage_->backward_reads_dst()) {
      widen_all(pass, dst_, dst.values, result.values);
    }
    widen_all(pass, dst_, dst.gradient, result.gradient);
    stage_->backward(pass, wide_src_, result);
    for (std::size_t i = 0; i < src_.size(); ++i) {
      narrow_all(pass, src_[i], wide_src_[i].gradient, src[i].gradient);
    }
  }

  bool backward_reads_src(std::size_t source) const override {
    return stage_->backward_reads_src(source);
  }
  bool backward_reads_dst() const override { return stage_->backward_reads_dst(); }
  bool takes_stored() const override { return true; }

 private:
  /// An activation, and where its copies are if it is not fp32.
  struct Copied {
    StoredShape stored;
    SlotId forward{}, backward{}, gradient{};
  };

  static void reserve(const StageContext& context, Copied& of, bool in_backward) {
    if (of.stored.dtype == Dtype::fp32) return;
    const Shape shape = of.stored.shape;
    const std::size_t bytes =
        context.most_packs(shape) * pack_floats(shape) * sizeof(float);
    const Lifetime later = {context.backward, context.backward};
    of.forward = context.plan.reserve(bytes, {context.forward, context.forward});
    if (!context.training) return;
    of.backward = context.plan.reserve(in_backward ? bytes : 0, later);
    of.gradient = context.plan.reserve(bytes, later);
  }

  static Stored copy_of(const Pass& pass, const Copied& of, SlotId slot,
                        const Stored& stored) {
    const bool in_place = stored == nullptr || of.stored.dtype == Dtype::fp32;
    return in_place ? stored : Stored(pass.arena.get(slot));
  }
  static Activation copies(const Pass& pass, const Copied& of, const Activation& stored) {
    return {copy_of(pass, of, of.backward, stored.values),
            copy_of(pass, of, of.gradient, stored.gradient)};
  }

  static std::size_t size(const Pass& pass, const Copied& of) {
    return pass.packs(of.stored.shape) * pack_floats(of.stored.shape);
  }
  static void widen_all(const Pass& pass, const Copied& of, const Stored& from,
                        float* to) {
    if (from.is_fp32()) return;
    convert(pass, size(pass, of), [&](std::size_t first, std::size_t count) {
      from.read(first, count, to + first);
    });
  }
  static void narrow_all(const Pass& pass, const Copied& of, const float* from,
                         const Stored& to) {
    if (to.is_fp32()) return;
    convert(pass, size(pass, of), [&](std::size_t first, std::size_t count) {
      to.store(first, count, from + first);
    });
  }

  std::unique_ptr<Stage> stage_;
  std::vector<Copied> src_;
  Copied dst_;
  std::vector<Activation> wide_src_;
};

}  // namespace

std::unique_ptr<Stage> widened(const StageContext& context, std::unique_ptr<Stage> stage,
                               const std::vector<StoredShape>& src,
                               const StoredShape& dst) {
  return std::make_unique<WidenedStage>(context, std::move(stage), src, dst);
}

}  // namespace convoy
