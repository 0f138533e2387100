// SPDX-License-Identifier: Apache-2.0
//
// What a reader follows in the Markdown files leads somewhere: links, the files that the
// modules' READMEs list, the tour of the engine, and the functions that docs/walk.md
// names.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "convoy/system/file.h"
#include "test_places.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = CONVOY_SOURCE_DIR;

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::istringstream text(read_text(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

/// The documents of the project; what is built or written by runs is none of it.
std::vector<fs::path> documents() {
  std::vector<fs::path> paths;
  const auto add = [&](const fs::directory_entry& entry) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  };
  for (const auto& entry : fs::directory_iterator(kRoot)) add(entry);
  for (const char* folder :
       {"apps", "bench", "configs", "convoy", "docs", "script", "tests", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) add(entry);
  }
  return paths;
}

std::vector<fs::path> modules() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kRoot / "convoy")) {
    if (entry.is_directory()) paths.push_back(entry.path());
  }
  return paths;
}

/// The matches of a pattern's first group, in order.
std::vector<std::string> all_matches(const std::string& text, const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end;
       ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

/// Targets of the links that lead to files, without what stands in blocks of code.
std::vector<std::string> relative_links(const fs::path& document) {
  static const std::regex link(R"(\]\(([^)#\s]+)(?:#[^)]*)?\))");
  std::vector<std::string> targets;
  bool in_code = false;
  for (const std::string& line : lines_of(document)) {
    if (line.starts_with("```")) in_code = !in_code;
    if (in_code) continue;
    for (const std::string& target : all_matches(line, link)) {
      if (target.find("://") == std::string::npos) targets.push_back(target);
    }
  }
  return targets;
}

/// Every folder of the engine with a README: modules, and some of the folders inside
/// them.
std::vector<fs::path> folders_with_readme() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "convoy")) {
    if (fs::exists(entry.path() / "README.md")) paths.push_back(entry.path());
  }
  return paths;
}

/// "layout" of layout.h and layout.cpp, "point/softmax" of what is in a folder that has
/// no README of its own.
std::set<std::string> stems_of(const fs::path& folder) {
  std::set<std::string> stems;
  fs::recursive_directory_iterator entries(folder);
  for (const fs::directory_entry& entry : entries) {
    if (fs::exists(entry.path() / "README.md")) entries.disable_recursion_pending();
    const fs::path extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    stems.insert(entry.path().lexically_relative(folder).replace_extension());
  }
  return stems;
}

/// What stands in backticks in the first column of a README's table, except for files and
/// folders that are named in full, such as "tensorboard.proto".
std::set<std::string> listed_stems(const fs::path& module) {
  static const std::regex quoted("`([^`]+)`");
  std::set<std::string> stems;
  for (const std::string& line : lines_of(module / "README.md")) {
    if (!line.starts_with("| `")) continue;
    const auto names = all_matches(line.substr(0, line.find(" | ")), quoted);
    for (const std::string& name : names) {
      if (!fs::exists(module / name)) stems.insert(name);
    }
  }
  return stems;
}

TEST(Documents, LinkToFilesThatExist) {
  std::size_t links = 0;
  for (const fs::path& document : documents()) {
    for (const std::string& target : relative_links(document)) {
      EXPECT_TRUE(fs::exists(document.parent_path() / target))
          << document << " links to " << target;
      ++links;
    }
  }
  EXPECT_GT(links, 100u);
}

TEST(ModuleReadmes, ListTheFilesThatThereAre) {
  for (const fs::path& folder : folders_with_readme()) {
    EXPECT_EQ(listed_stems(folder), stems_of(folder)) << folder;
  }
}

TEST(ModuleReadmes, SayWhatComesInAndWhatGoesOut) {
  for (const fs::path& module : modules()) {
    const std::string text = read_text(module / "README.md");
    EXPECT_TRUE(text.starts_with("# " + module.filename().string() + "\n\n")) << module;
    EXPECT_NE(text.find("\n- **In:** "), std::string::npos) << module;
    EXPECT_NE(text.find("\n- **Out:** "), std::string::npos) << module;
  }
}

TEST(TourOfTheEngine, PassesEveryModule) {
  const std::vector<std::string> links = relative_links(kRoot / "convoy" / "README.md");
  for (const fs::path& module : modules()) {
    const std::string name = module.filename();
    EXPECT_TRUE(std::ranges::find(links, name) != links.end()) << name;
  }
}

/// A hop of a walk: "[file](path) `Class::function`", as its own line of a list.
struct Hop {
  std::string line, path, function;
};

std::vector<Hop> hops() {
  static const std::regex hop(R"(\d+\. \[[^\]]+\]\(([^)]+)\) `([^`]+)`: .*)");
  std::vector<Hop> found;
  for (const std::string& line : lines_of(kRoot / "docs" / "walk.md")) {
    std::smatch match;
    if (std::regex_match(line, match, hop)) found.push_back({line, match[1], match[2]});
  }
  return found;
}

/// Whether the name is followed by its arguments somewhere, and is no end of another
/// name.
bool has_function(const std::string& source, const std::string& name) {
  const std::string call = name + "(";
  std::size_t at = source.find(call);
  while (at != std::string::npos) {
    const char before = at == 0 ? ' ' : source[at - 1];
    if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_')
      return true;
    at = source.find(call, at + 1);
  }
  return false;
}

TEST(Walks, NameFunctionsThatTheirFilesHave) {
  for (const Hop& hop : hops()) {
    const fs::path file = kRoot / "docs" / hop.path;
    ASSERT_TRUE(fs::exists(file)) << hop.line;
    EXPECT_TRUE(has_function(read_text(file), hop.function)) << hop.line;
  }
}

TEST(Walks, HaveAFunctionInEveryStep) {
  std::size_t steps = 0, walks = 0;
  for (const std::string& line : lines_of(kRoot / "docs" / "walk.md")) {
    if (std::regex_match(line, std::regex(R"(\d+\. .*)"))) ++steps;
    if (line.starts_with("## ")) ++walks;
  }
  EXPECT_EQ(hops().size(), steps);
  EXPECT_EQ(walks, 3u);
}

}  // namespace
}  // namespace convoy
