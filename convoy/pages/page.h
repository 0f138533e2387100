// SPDX-License-Identifier: Apache-2.0
//
// Page: one HTML file that shows page data, with everything that it needs in it.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace convoy {

/// {"format", "kind", "version", "runs", "comparison", "sweep", "live"} without runs.
nlohmann::ordered_json empty_page();

/// Whether a page has the script that draws surfaces, which is large: if one is shown; a
/// page that is served fetches it when one is.
enum class Surfaces { none, in_page, on_demand };

/// The page. It loads nothing, and its policy (CSP) lets it run its own scripts only. The
/// data may contain any text: none of it becomes markup.
std::string page_html(std::string_view page_data_json, std::string_view title,
                      Surfaces surfaces = Surfaces::none);

/// Text for HTML, between tags or in an attribute.
std::string html_text(std::string_view text);

}  // namespace convoy
