// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/web_files.h"

#include <cstdlib>

#include "convoy/base/error.h"
#include "convoy/system/file.h"
#include "convoy/system/user_cache.h"
#include "web_texts.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLibraryBytes = std::size_t{1} << 23;
constexpr const char* kLibrary = "node_modules/echarts/dist/echarts.min.js";

/// "</script" would end the element that the script stands in; no script has reason to
/// contain it.
bool can_be_embedded(std::string_view script) {
  return !script.empty() && script.find("</script") == std::string_view::npos &&
         script.find("<!--") == std::string_view::npos;
}

std::string text_of(const fs::path& path) try {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return "";
  std::string script = read_text(path, kMostLibraryBytes);
  return can_be_embedded(script) ? script : "";
} catch (const InputError&) {
  return "";
}

}  // namespace

std::string_view page_template() { return kPageHtml; }
std::string_view page_style() { return kPageCss; }

std::string page_script() {
  std::string script;
  for (const std::string_view part : kPageScripts) script += part;
  return script;
}

fs::path chart_library_place() {
  const char* const given = std::getenv("CONVOY_ECHARTS");
  if (given != nullptr && *given != '\0') return given;
  return user_cache() / "convoy" / "echarts" / kLibrary;
}

std::string chart_library() { return text_of(chart_library_place()); }

std::string surface_library() {
  const fs::path modules =
      chart_library_place().parent_path().parent_path().parent_path();
  const fs::path package = modules / "echarts-gl";
  const std::string script = text_of(package / "dist" / "echarts-gl.min.js");
  const std::string license = text_of(package / "LICENSE");
  if (script.empty() || license.empty() || license.find("*/") != license.npos) return "";
  return "/*! echarts-gl\n" + license + "*/\n" + script;
}

}  // namespace convoy
