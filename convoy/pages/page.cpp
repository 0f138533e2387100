// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/page.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "convoy/base/base64.h"
#include "convoy/base/digest.h"
#include "convoy/base/version.h"
#include "convoy/pages/web_files.h"

namespace convoy {
namespace {

/// The policy's name of a script: its hash, in base 64.
std::string hash_of(std::string_view script) {
  Digest digest(DigestKind::sha256);
  digest.add(std::as_bytes(std::span(script)));
  return "'sha256-" + base64(digest.finish()) + "'";
}

std::string script_element(std::string_view script) {
  if (script.empty()) return "";
  return fmt::format("<script>{}</script>\n", script);
}

/// JSON in which no text can end the element that it stands in.
std::string data_element(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return fmt::format("<script type=\"application/json\" id=\"page-data\">{}</script>\n",
                     safe);
}

std::string policy(std::initializer_list<std::string_view> all_scripts) {
  std::string scripts;
  for (const std::string_view script : all_scripts) {
    if (!script.empty()) scripts += " " + hash_of(script);
  }
  return fmt::format(
      "default-src 'none'; script-src{}; style-src 'unsafe-inline'; img-src data:; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'",
      scripts);
}

/// Replaces every "{{name}}" of the template.
std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string>>& parts) {
  std::string text;
  while (!page.empty()) {
    const std::size_t begin = page.find("{{");
    text += page.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = page.find("}}", begin);
    const std::string_view name = page.substr(begin + 2, end - begin - 2);
    for (const auto& [key, value] : parts) {
      if (key == name) text += value;
    }
    page.remove_prefix(end + 2);
  }
  return text;
}

}  // namespace

nlohmann::ordered_json empty_page() {
  return {{"format", 1},           {"kind", "runs"},
          {"version", version()},  {"runs", nlohmann::ordered_json::array()},
          {"comparison", nullptr}, {"sweep", nullptr},
          {"live", nullptr}};
}

std::string html_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string page_html(std::string_view page_data_json, std::string_view title,
                      Surfaces surfaces) {
  const std::string charts = chart_library();
  const std::string gl =
      charts.empty() || surfaces == Surfaces::none ? "" : surface_library();
  const bool inside = surfaces == Surfaces::in_page;
  const std::string script = page_script();
  return filled(page_template(),
                {{"policy", html_text(policy({script, charts, gl}))},
                 {"title", html_text(title)},
                 {"style", std::string(page_style())},
                 {"data", data_element(page_data_json)},
                 {"charts", script_element(charts) + (inside ? script_element(gl) : "")},
                 {"script", script_element(script)}});
}

}  // namespace convoy
