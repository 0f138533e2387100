// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/network/layers/rearrange/channel_shuffle.h"
#include "convoy/network/layers/rearrange/concat.h"
#include "convoy/network/layers/rearrange/image_rows.h"
#include "convoy/network/layers/rearrange/pad.h"
#include "convoy/network/layers/rearrange/roll.h"
#include "convoy/network/layers/rearrange/row_mean.h"
#include "convoy/network/layers/rearrange/slice.h"
#include "convoy/network/layers/rearrange/transpose_rows.h"
#include "tests/network/double_layer.h"

namespace convoy {
namespace {

/// A place in one sample.
struct Place {
  int row, c, y, x;
};

/// Calls work(sample, place) for every number of a batch of that shape.
template <class Work>
void for_places(Shape shape, std::size_t samples, const Work& work) {
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (int row = 0; row < shape.rows; ++row) {
      for (int c = 0; c < shape.channels; ++c) {
        for (int y = 0; y < shape.height; ++y) {
          for (int x = 0; x < shape.width; ++x) work(sample, Place{row, c, y, x});
        }
      }
    }
  }
}

double value_at(const DoubleBatch& batch, std::size_t sample, const Place& at) {
  const auto rows = static_cast<std::size_t>(batch.shape.rows);
  return batch.at(sample * rows + static_cast<std::size_t>(at.row), at.c, at.y, at.x);
}

/// dst(place) = src(source_of(place)).
template <class SourceOf>
DoubleBatch moved(const DoubleArguments& of, const SourceOf& source_of) {
  DoubleBatch dst(of.dst, of.samples());
  std::size_t i = 0;
  for_places(of.dst, of.samples(), [&](std::size_t sample, const Place& at) {
    dst.values[i++] = value_at(of.first(), sample, source_of(at));
  });
  return dst;
}

const DoubleLayer<Slice> kSlice("slice", [](const Slice& layer,
                                            const DoubleArguments& of) {
  return moved(of, [&](Place at) {
    int& i = layer.axis == "channels" ? at.c
             : layer.axis == "height" ? at.y
             : layer.axis == "width"  ? at.x
                                      : at.row;
    const int begin = layer.begin < 0 ? of.first().shape.rows + layer.begin : layer.begin;
    i = begin + i * layer.step;
    return at;
  });
});

const DoubleLayer<Pad> kPad("pad", [](const Pad& layer, const DoubleArguments& of) {
  DoubleBatch dst(of.dst, of.samples());
  std::size_t i = 0;
  for_places(of.dst, of.samples(), [&](std::size_t sample, Place at) {
    at.y -= layer.top;
    at.x -= layer.left;
    dst.values[i++] = of.first().has(at.y, at.x) ? value_at(of.first(), sample, at)
                                                 : static_cast<double>(layer.value);
  });
  return dst;
});

const DoubleLayer<Roll> kRoll("roll", [](const Roll& layer, const DoubleArguments& of) {
  const auto back = [](int i, int shift, int extent) {
    return ((i - shift) % extent + extent) % extent;
  };
  return moved(of, [&](const Place& at) {
    return Place{back(at.row, layer.rows, of.dst.rows),
                 back(at.c, layer.channels, of.dst.channels),
                 back(at.y, layer.height, of.dst.height),
                 back(at.x, layer.width, of.dst.width)};
  });
});

const DoubleLayer<ChannelShuffle> kChannelShuffle(
    "channel_shuffle", [](const ChannelShuffle& layer, const DoubleArguments& of) {
      const int of_group = of.dst.channels / layer.groups;
      return moved(of, [&](Place at) {
        at.c = at.c % layer.groups * of_group + at.c / layer.groups;
        return at;
      });
    });

const DoubleLayer<ImageToRows> kImageToRows(
    "image_to_rows", [](const ImageToRows&, const DoubleArguments& of) {
      const int width = of.first().shape.width;
      return moved(of, [&](const Place& at) {
        return Place{0, at.c, at.row / width, at.row % width};
      });
    });

const DoubleLayer<RowsToImage> kRowsToImage(
    "rows_to_image", [](const RowsToImage& layer, const DoubleArguments& of) {
      return moved(of, [&](const Place& at) {
        return Place{at.y * layer.width + at.x, at.c, 0, 0};
      });
    });

const DoubleLayer<TransposeRows> kTransposeRows(
    "transpose_rows", [](const TransposeRows&, const DoubleArguments& of) {
      return moved(of, [](const Place& at) { return Place{at.c, at.row, 0, 0}; });
    });

const DoubleLayer<Concat> kConcat("concat", [](const Concat& layer,
                                               const DoubleArguments& of) {
  DoubleBatch dst(of.dst, of.samples());
  std::size_t i = 0;
  for_places(of.dst, of.samples(), [&](std::size_t sample, Place at) {
    int& element = layer.axis == "rows" ? at.row : at.c;
    std::size_t source = 0;
    const auto extent = [&] {
      const Shape shape = of.src[source].shape;
      return layer.axis == "rows" ? shape.rows : shape.channels;
    };
    for (; element >= extent(); ++source) element -= extent();
    dst.values[i++] = value_at(of.src[source], sample, at);
  });
  return dst;
});

const DoubleLayer<RowMean> kRowMean("row_mean", [](const RowMean&,
                                                   const DoubleArguments& of) {
  DoubleBatch dst(of.dst, of.samples());
  const int rows = of.first().shape.rows;
  std::size_t i = 0;
  for_places(of.dst, of.samples(), [&](std::size_t sample, Place at) {
    double sum = 0;
    for (at.row = 0; at.row < rows; ++at.row) sum += value_at(of.first(), sample, at);
    dst.values[i++] = sum / rows;
  });
  return dst;
});

/// What describe() says of a layer that does not fit.
std::string refusal(const Layer& layer, const std::vector<Shape>& src) {
  try {
    layer.kind().describe(layer, {.src = src});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Rearrangements, RefuseWhatDoesNotFit) {
  EXPECT_EQ(refusal(Slice{"depth"}, {{3, 2, 2}}),
            "model: slice: axis\n  found:    depth\n  expected: one of channels, height, "
            "width, rows");
  EXPECT_EQ(
      refusal(Slice{"channels", 2, 5}, {{3, 2, 2}}),
      "model: slice\n  found:    [2:5:1] of 3\n  expected: a part of the 3 channels");
  EXPECT_EQ(refusal(Pad{.left = -1}, {{3, 2, 2}}),
            "model: pad\n  found:    -1\n  expected: 0 or more");
  EXPECT_EQ(refusal(Roll{.channels = 1, .rows = 1}, {{3, 1, 1, 2}}),
            "model: roll\n  found:    shifts of rows and of other axes\n  expected: rows "
            "in a layer of their own");
  EXPECT_EQ(refusal(ChannelShuffle{2}, {{3, 2, 2}}),
            "model: channel_shuffle: groups\n  found:    2\n  expected: a divisor of 3 "
            "channels");
  EXPECT_EQ(refusal(Concat{}, {{3, 2, 2}, {3, 2, 1}}),
            "model: concat\n  found:    sources that differ in more than channels\n  "
            "expected: sources that are equal in everything else");
  EXPECT_EQ(refusal(Concat{"width"}, {{3, 2, 2}, {3, 2, 1}}),
            "model: concat: axis\n  found:    width\n  expected: one of channels, rows");
  EXPECT_EQ(
      refusal(ImageToRows{}, {{3, 1, 1, 2}}),
      "model: image_to_rows\n  found:    2 rows\n  expected: images, which are one row");
  EXPECT_EQ(refusal(RowsToImage{2, 2}, {{3, 1, 1, 5}}),
            "model: rows_to_image\n  found:    5 rows of 1 x 1\n  expected: 2 x 2 rows "
            "of one pixel");
  EXPECT_EQ(refusal(TransposeRows{}, {{3, 2, 2}}),
            "model: transpose_rows\n  found:    rows of 2 x 2 pixels\n  expected: rows "
            "of channels alone");
}

}  // namespace
}  // namespace convoy
