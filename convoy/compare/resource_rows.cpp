// SPDX-License-Identifier: Apache-2.0

#include "convoy/compare/resource_rows.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

constexpr std::size_t kMostResourceBytes = std::size_t{1} << 28;

std::optional<RecordedResources> row_of(std::string_view line) {
  std::array<double, 8> numbers{};
  for (double& number : numbers) {
    const char* const end = line.data() + line.size();
    const auto [rest, error] = std::from_chars(line.data(), end, number);
    if (error != std::errc()) return {};
    line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
    if (!line.empty() && line.front() == ',') line.remove_prefix(1);
  }
  const auto [time, rank, user, system, resident, peak, sent, received] = numbers;
  return RecordedResources{time, rank, user + system, resident, sent, received};
}

}  // namespace

std::vector<RecordedResources> read_resource_rows(const std::filesystem::path& path) try {
  const std::string text = read_text(path, kMostResourceBytes);
  std::vector<RecordedResources> rows;
  std::string_view rest = text;
  for (std::size_t end = 0; (end = rest.find('\n')) != rest.npos;) {
    if (const auto row = row_of(rest.substr(0, end))) rows.push_back(*row);
    rest.remove_prefix(end + 1);
  }
  return rows;
} catch (const InputError&) {
  return {};
}

}  // namespace convoy
