// SPDX-License-Identifier: Apache-2.0

#include "convoy/checkpoint/weight_saves.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

constexpr const char* kExtension = ".safetensors";

std::filesystem::path saves_of(const std::filesystem::path& run) { return run / "saves"; }

std::filesystem::path save_path(const std::filesystem::path& run, std::uint64_t step) {
  return saves_of(run) / (checkpoint_name(step) + kExtension);
}

/// Returns the step in a save's name; nothing for any other name.
std::optional<std::uint64_t> step_in(const std::filesystem::path& path) {
  const std::string name = path.stem();
  std::uint64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool is_save = error == std::errc() && checkpoint_name(step) == name &&
                       path.extension() == kExtension;
  return is_save ? std::optional(step) : std::nullopt;
}

void remove_file(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) throw storage_error(path, "remove this file", error.value());
}

/// Whether a killed process left the file: the temporary name of a save.
bool is_unfinished(const std::filesystem::path& path) {
  const std::string name = path.filename();
  const std::size_t end = name.find(kExtension);
  if (end == std::string::npos || end == 0) return false;
  return is_temporary_name(name.substr(1, end - 1) + kExtension, name);
}

}  // namespace

std::vector<WeightSave> list_weight_saves(const std::filesystem::path& run) {
  std::vector<WeightSave> saves;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(saves_of(run), ignored)) {
    if (const auto step = step_in(entry.path())) saves.push_back({*step, entry.path()});
  }
  std::ranges::sort(saves, {}, &WeightSave::step);
  return saves;
}

void write_weight_save(const std::filesystem::path& run, std::uint64_t step,
                       const std::vector<SavedPart>& model) {
  make_folders(saves_of(run));
  save_values(save_path(run, step), model);
}

void remove_weight_saves_after(std::uint64_t step, const std::filesystem::path& run) {
  for (const WeightSave& save : list_weight_saves(run)) {
    if (save.step > step) remove_file(save.path);
  }
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(saves_of(run), ignored)) {
    if (is_unfinished(entry.path())) remove_file(entry.path());
  }
}

}  // namespace convoy
