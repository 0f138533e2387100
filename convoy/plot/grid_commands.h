// SPDX-License-Identifier: Apache-2.0
//
// What contour lines and surfaces share: their grid, its range and its axes.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convoy/plot/levels.h"
#include "convoy/plot/picture.h"

namespace convoy {

/// The block $grid. Requires: as ChartGrid says.
std::string grid_block(const ChartGrid& grid, bool positive);

/// The range of values that is drawn, never a point.
ValueRange drawn_range(const ChartGrid& grid, const ChartAxis& value);

/// Scale and range of x and y, whose ends are the grid's if they are not given.
std::string plane_commands(const ChartAxis& x, const ChartAxis& y, const ChartGrid& grid);

/// Scale, range and ticks of an axis of values: "z", "cb".
std::string value_commands(std::string_view name, bool logarithmic,
                           const ValueRange& range, const std::vector<double>& ticks);

/// The scale of colours. Its frame is in pixels.
std::string colour_scale_commands(const Frame& frame, const Picture& picture);

}  // namespace convoy
