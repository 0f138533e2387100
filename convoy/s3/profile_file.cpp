// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/profile_file.h"

#include <sstream>
#include <string_view>

#include "convoy/system/file.h"

namespace convoy {
namespace {

constexpr std::string_view kSpace = " \t\r";

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

/// Returns the name in "[name]", with single spaces; "" if the line is not a section.
std::string section_name(const std::string& line) {
  if (!line.starts_with('[') || line.find(']') == std::string::npos) return "";
  std::istringstream words(line.substr(1, line.find(']') - 1));
  std::string name;
  for (std::string word; words >> word;) name += (name.empty() ? "" : " ") + word;
  return name;
}

bool is_comment(const std::string& line) {
  return line.starts_with('#') || line.starts_with(';');
}

ProfileFile parse(const std::string& text) {
  ProfileFile file;
  std::string section;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) section = section_name(line);
    const std::size_t equals = line.find('=');
    const bool is_pair = !line.empty() && equals != std::string::npos &&
                         kSpace.find(line.front()) == std::string_view::npos;
    if (section.empty()) continue;
    file.try_emplace(section);
    if (!is_pair || is_comment(line) || line.starts_with('[')) continue;
    file[section][trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
  }
  return file;
}

}  // namespace

ProfileFile read_profiles(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return {};
  return parse(read_text(path));
}

}  // namespace convoy
