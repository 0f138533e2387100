// SPDX-License-Identifier: Apache-2.0
//
// The files of the folder web/, which are part of the binary, and the library that draws
// charts in a browser, which is not.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace convoy {

/// The page with places for its parts, "{{style}}" and so on.
std::string_view page_template();
std::string_view page_style();
/// All scripts, one after the other.
std::string page_script();

/// Where ECharts is looked for: the file that CONVOY_ECHARTS names, or the user's cache,
/// where script/bootstrap installs it.
std::filesystem::path chart_library_place();

/// ECharts as one script; "" if it is not installed. Pages then have pictures instead.
std::string chart_library();

/// echarts-gl, which draws surfaces, with its licence, as npm installs it beside ECharts;
/// "" if it is not there.
std::string surface_library();

/// What a page says without it.
inline constexpr std::string_view kNoCharts =
    "pictures instead of interactive charts: ECharts is not installed (script/bootstrap "
    "installs it where npm is)";

}  // namespace convoy
