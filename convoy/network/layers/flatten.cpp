// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/flatten.h"

#include "convoy/base/error.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

class FlattenKind final : public KindOf<Flatten, FlattenKind> {
 public:
  FlattenKind() : KindOf({.name = "flatten", .operation = "Reshape", .flattens = true}) {}

  /// An activation is laid out as [channel][y][x] already.
  static LayerDescription describe_options(const Flatten&, const LayerContext& context) {
    const Shape src = context.first();
    return {.dst = {static_cast<int>(src.features()), 1, 1, src.rows}, .identity = true};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec&,
                                    const StageContext&) const override {
    check(false, "a flatten has no stage");
    return nullptr;
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfImages", Flatten{}, {{3, 5, 4}}}};
  }
};

const Registered<FlattenKind> kFlatten;

}  // namespace
}  // namespace convoy
