// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/point/multiply.h"

#include "convoy/network/layers/point/broadcast.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class MultiplyKind final : public KindOf<Multiply, MultiplyKind> {
 public:
  MultiplyKind()
      : KindOf({.name = "multiply",
                .operation = "Mul",
                .least_sources = 2,
                .most_sources = 2,
                .ends_block = true}) {}

  static LayerDescription describe_options(const Multiply&, const LayerContext& context) {
    const Broadcast checked("multiply", context.src[0], context.src[1]);
    return {.dst = checked.whole()};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext& context) const override {
    return make_broadcast_stage(context, {"multiply", spec.src[0], spec.src[1]},
                                BroadcastOperation::multiply);
  }
  std::vector<LayerExample> examples() const override {
    return broadcast_examples(Multiply{});
  }
};

const Registered<MultiplyKind> kMultiply;

}  // namespace
}  // namespace convoy
