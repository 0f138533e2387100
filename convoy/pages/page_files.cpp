// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/page_files.h"

#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kMostFileBytes = std::size_t{1} << 24;
constexpr std::size_t kMostClassesShown = 100;

}  // namespace

json page_file(const fs::path& path) try {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return nullptr;
  json parsed = parse_json(read_text(path, kMostFileBytes), {.where = path.string()});
  return parsed.is_object() ? parsed : json(nullptr);
} catch (const InputError&) {
  return nullptr;
}

json page_evaluation(const fs::path& folder) {
  json evaluation = page_file(folder / "eval.json");
  const auto matrix = evaluation.find("confusion_matrix");
  if (matrix != evaluation.end() && matrix->size() > kMostClassesShown) {
    evaluation.erase(matrix);
  }
  return evaluation;
}

json page_landscape(const fs::path& folder) {
  json landscape = page_file(folder / "landscape.json");
  if (landscape.is_object()) landscape.erase("accuracy");
  return landscape;
}

json page_sweep(const fs::path& folder) {
  json sweep = page_file(folder / "sweep.json");
  if (!sweep.is_object() || !sweep.contains("rows")) return sweep;
  for (json& row : sweep["rows"]) {
    if (row.is_object()) row.erase("folder");
  }
  return sweep;
}

}  // namespace convoy
