// SPDX-License-Identifier: Apache-2.0
//
// Every registered layer refuses sources that it cannot take by an InputError, in
// whatever model an author writes: no shape and no number of sources ends the process.

#include "convoy/network/layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/network/layers/take_row.h"

namespace convoy {
namespace {

/// The description, or none and what the InputError said.
struct Described {
  std::optional<LayerDescription> description;
  std::string refusal;
};

Described described(const Layer& layer, const std::vector<Shape>& src) {
  try {
    return {layer.kind().describe(layer, {.src = src}), ""};
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind(), InputKind::settings);
    return {std::nullopt, error.what()};
  }
}

class EveryLayer : public testing::TestWithParam<const LayerKind*> {
 protected:
  const LayerTraits& traits() const { return GetParam()->traits(); }
  std::vector<LayerExample> examples() const { return GetParam()->examples(); }
};

TEST_P(EveryLayer, RefusesAnotherNumberOfSources) {
  const auto expect_refused = [&](const LayerExample& example, int count) {
    const std::vector<Shape> src(static_cast<std::size_t>(count), example.src.front());
    EXPECT_THAT(described(example.layer, src).refusal,
                testing::StartsWith("model: " + std::string(traits().name) +
                                    "\n  found:    " + std::to_string(count) +
                                    " sources\n  expected: "));
  };
  for (const LayerExample& example : examples()) {
    expect_refused(example, 0);
    expect_refused(example, traits().least_sources - 1);
    if (traits().most_sources == std::numeric_limits<int>::max()) continue;
    expect_refused(example, traits().most_sources + 1);
  }
}

TEST_P(EveryLayer, TakesAShapeOrRefusesIt) {
  const std::vector<Shape> shapes = {{1, 1, 1},       {7, 1, 1},       {5, 1, 1, 7},
                                     {12, 1, 1, 1},   {3, 2, 5},       {2, 9, 1},
                                     {4, 3, 3, 2},    {1, 1, 16, 3},   {6, 32, 32},
                                     {1, 1, 1, 1000}, {1000, 1, 1, 1}, {3, 1, 1, 64}};
  for (const LayerExample& example : examples()) {
    for (const Shape& first : shapes) {
      for (const Shape& other : shapes) {
        std::vector<Shape> src(example.src.size(), other);
        src.front() = first;
        const auto [description, refusal] = described(example.layer, src);
        if (!description) {
          EXPECT_THAT(refusal, testing::StartsWith("model: "));
        } else {
          EXPECT_GE(std::min({description->dst.channels, description->dst.height,
                              description->dst.width, description->dst.rows}),
                    1)
              << example.name;
        }
        if (src.size() == 1) break;  // there is no other
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryLayer,
                         testing::ValuesIn(layer_kinds().begin(), layer_kinds().end()),
                         [](const auto& info) {
                           std::string name = info.param->traits().name;
                           std::erase(name, '_');
                           return name;
                         });

TEST(TakeRow, RefusesARowThatIsNotThere) {
  for (const int row : {-1, 5}) {
    EXPECT_EQ(described(TakeRow{row}, {{7, 1, 1, 5}}).refusal,
              "model: take_row\n  found:    row " + std::to_string(row) +
                  " of 5\n  expected: a row that is there, counted from 0");
  }
}

}  // namespace
}  // namespace convoy
