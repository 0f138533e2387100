// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/layers/rearrange/window_rows.h"

#include <fmt/format.h>

#include "convoy/network/layers/rearrange/rearrange_stage.h"
#include "convoy/network/stage_builder.h"

namespace convoy {
namespace {

/// The pixel of each row in the order of windows.
std::vector<int> window_order(const WindowRows& of) {
  const int high = of.window_height, wide = of.window_width, size = high * wide;
  std::vector<int> pixels;
  for (int row = 0; row < of.height * of.width; ++row) {
    const int window = row / size, inside = row % size, across = of.width / wide;
    const int y = window / across * high + inside / wide;
    const int x = window % across * wide + inside % wide;
    pixels.push_back(y * of.width + x);
  }
  return pixels;
}

/// Which part of a rolled axis a pixel is in: before the last window, or in it before or
/// after what was moved to the end.
int part_of(int position, int extent, int window, int shift) {
  if (position < extent - window) return 0;
  return position < extent - shift ? 1 : 2;
}

class WindowRowsKind final : public KindOf<WindowRows, WindowRowsKind> {
 public:
  WindowRowsKind() : KindOf({.name = "window_rows", .operation = "Transpose"}) {}

  static LayerDescription describe_options(const WindowRows& layer,
                                           const LayerContext& context) {
    const Shape src = context.first();
    const bool sizes = layer.height > 0 && layer.width > 0 && layer.window_height > 0 &&
                       layer.window_width > 0 &&
                       layer.height % layer.window_height == 0 &&
                       layer.width % layer.window_width == 0;
    if (!sizes || src.rows / layer.height != layer.width ||
        src.rows % layer.height != 0) {
      refuse_layer("window_rows",
                   fmt::format("{} rows, windows of {} x {}", src.rows,
                               layer.window_height, layer.window_width),
                   fmt::format("{} x {} rows, of which windows are whole parts",
                               layer.height, layer.width));
    }
    return {.dst = src};
  }
  std::unique_ptr<Stage> make_stage(const StageSpec& spec,
                                    const StageContext&) const override {
    const auto& layer = spec.options<WindowRows>();
    std::vector<int> order = window_order(layer);
    Rearrangement result{
        .src = spec.src[0], .dst = spec.src[0], .of_rows = true, .source = order};
    for (std::size_t i = 0; i < order.size() && layer.back; ++i) {
      result.source[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    }
    return make_rearrange_stage(result);
  }
  std::vector<LayerExample> examples() const override {
    return {{"OfTokens", WindowRows{4, 6, 2, 3}, {{3, 1, 1, 24}}},
            {"Back", WindowRows{4, 6, 2, 3, /*back=*/true}, {{3, 1, 1, 24}}}};
  }
};

const Registered<WindowRowsKind> kWindowRows;

}  // namespace

std::vector<int> shifted_regions(const WindowRows& windows, int shift_height,
                                 int shift_width) {
  std::vector<int> regions;
  for (const int pixel : window_order(windows)) {
    const int down = part_of(pixel / windows.width, windows.height, windows.window_height,
                             shift_height);
    const int right =
        part_of(pixel % windows.width, windows.width, windows.window_width, shift_width);
    regions.push_back(3 * down + right);
  }
  return regions;
}

}  // namespace convoy
