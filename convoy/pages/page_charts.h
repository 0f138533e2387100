// SPDX-License-Identifier: Apache-2.0
//
// The charts of a page as pictures: what a browser draws, drawn by gnuplot instead.

#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "convoy/plot/charts.h"

namespace convoy {

struct PageChart {
  std::string id;  // "loss", also the name of its file
  Chart chart;
};

/// The id of the landscape as a surface, and what those of histograms begin with.
inline constexpr const char* kSurfaceChart = "landscape-surface";
inline constexpr const char* kHistogramChart = "histogram-";

/// All charts of a page's data. What the data does not have has no chart.
std::vector<PageChart> page_charts(const nlohmann::ordered_json& page);

/// Draws each as PNG and SVG into a folder, which is made. Returns their names. Throws
/// InputError as draw() does. Requires: plot_is_available().
std::vector<std::string> draw_pictures(const std::vector<PageChart>& charts,
                                       const std::filesystem::path& folder);

/// {"loss": "data:image/svg+xml;base64,..."}, for a page without interactive charts; none
/// where gnuplot is not installed or fails.
nlohmann::ordered_json inline_pictures(const std::vector<PageChart>& charts);

}  // namespace convoy
