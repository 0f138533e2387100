// SPDX-License-Identifier: Apache-2.0
//
// Plot: draws charts with gnuplot, which runs as a child process. gnuplot is optional:
// without it a command says so once (kNoPlots) and writes its numbers only.

#pragma once

#include <filesystem>
#include <string_view>

#include "convoy/plot/charts.h"

namespace convoy {

/// Whether gnuplot can be started. It is asked once per process.
bool plot_is_available();

/// What a command says where pictures are left out.
inline constexpr std::string_view kNoPlots =
    "no pictures: gnuplot is not installed (Debian: apt install gnuplot-nox)";

/// Draws a chart as PNG or SVG, by the file's extension, and writes the file completely
/// or not at all; takes a minute at most. Throws InputError: of kind `usage` for another
/// extension or for a chart that is too large to draw, of kind `storage` if the file
/// cannot be written or gnuplot fails, with its last lines. Requires:
/// plot_is_available().
void draw(const Chart& chart, const std::filesystem::path& file);

}  // namespace convoy
