// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/class_token.h"
#include "convoy/network/layers/patches.h"
#include "convoy/network/layers/position_embedding.h"
#include "convoy/network/layers/take_row.h"
#include "tests/network/double_layer.h"

namespace convoy {
namespace {

const DoubleLayer<ClassToken> kClassToken("class_token", [](const ClassToken&,
                                                            const DoubleArguments& of) {
  const auto tokens = static_cast<std::size_t>(of.dst.rows);
  DoubleBatch dst(of.dst, of.samples());
  for (std::size_t row = 0; row < dst.rows(); ++row) {
    for (int c = 0; c < of.dst.channels; ++c) {
      const std::size_t sample = row / tokens;
      dst.at(row, c) =
          row % tokens == 0 ? of.parameters[0][c] : of.first().at(row - sample - 1, c);
    }
  }
  return dst;
});

const DoubleLayer<PositionEmbedding> kPositionEmbedding(
    "position_embedding", [](const PositionEmbedding&, const DoubleArguments& of) {
      DoubleBatch dst = of.first();
      for (std::size_t i = 0; i < dst.values.size(); ++i) {
        dst.values[i] += of.parameters[0][i % of.dst.size()];
      }
      return dst;
    });

const DoubleLayer<Patches> kPatches("patches", [](const Patches& layer,
                                                  const DoubleArguments& of) {
  const DoubleBatch& src = of.first();
  const int across = src.shape.width / layer.size, pixels = layer.size * layer.size;
  DoubleBatch dst(of.dst, of.samples());
  for (std::size_t row = 0; row < dst.rows(); ++row) {
    const std::size_t sample = row / static_cast<std::size_t>(of.dst.rows);
    const int patch = static_cast<int>(row % static_cast<std::size_t>(of.dst.rows));
    for (int f = 0; f < of.dst.channels; ++f) {
      const int y = patch / across * layer.size + f % pixels / layer.size;
      const int x = patch % across * layer.size + f % layer.size;
      dst.at(row, f) = src.at(sample, f / pixels, y, x);
    }
  }
  return dst;
});

const DoubleLayer<TakeRow> kTakeRow("take_row", [](const TakeRow& layer,
                                                   const DoubleArguments& of) {
  const auto rows = static_cast<std::size_t>(of.first().shape.rows);
  DoubleBatch dst(of.dst, of.samples());
  for (std::size_t sample = 0; sample < of.samples(); ++sample) {
    for (int c = 0; c < of.dst.channels; ++c) {
      dst.at(sample, c) =
          of.first().at(sample * rows + static_cast<std::size_t>(layer.row), c);
    }
  }
  return dst;
});

}  // namespace
}  // namespace convoy
