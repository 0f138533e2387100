// SPDX-License-Identifier: Apache-2.0
//
// What a compiler does not check of the sources: which folder may include which, where
// libraries and #if may appear, and how every file begins. The first is a table in
// docs/design.md: a new edge is a decision, made there.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
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
using Edges = std::map<std::string, std::set<std::string>>;

const fs::path kSource = CONVOY_SOURCE_DIR;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// Folder names of a table's cell: "`base/`, data" are two.
std::vector<std::string> names_in(const std::string& cell) {
  std::vector<std::string> names;
  for (std::string name : split(cell, ',')) {
    std::erase_if(name, [](char c) { return c == ' ' || c == '`' || c == '/'; });
    if (name.starts_with("convoy")) name.erase(0, 6);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

void add_row(const std::string& folders, const std::string& allowed, Edges& edges) {
  const std::vector<std::string> targets = names_in(allowed);
  for (const std::string& folder : names_in(folders)) {
    edges[folder] = {targets.begin(), targets.end()};
  }
}

/// The rows below "| folder | may include |", to the first line that is no row.
Edges parse_table(const std::string& markdown) {
  Edges edges;
  bool inside = false;
  for (const std::string& line : split(markdown, '\n')) {
    const std::vector<std::string> cells = split(line, '|');
    if (!line.starts_with('|') || cells.size() < 3) {
      if (inside) break;
    } else if (line.find("may include") != std::string::npos) {
      inside = true;
    } else if (inside && line.find("---") == std::string::npos) {
      add_row(cells[1], cells[2], edges);
    }
  }
  return edges;
}

Edges allowed_edges() { return parse_table(read_text(kSource / "docs" / "design.md")); }

/// Paths relative to the source's root of all files with these extensions.
std::vector<fs::path> files_in(const std::vector<std::string>& folders,
                               const std::set<std::string>& extensions) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
      if (extensions.contains(entry.path().extension())) {
        paths.push_back(entry.path().lexically_relative(kSource));
      }
    }
  }
  EXPECT_FALSE(paths.empty()) << "no sources below " << kSource;
  return paths;
}

std::vector<fs::path> program_sources() {
  return files_in({"convoy", "apps"}, {".h", ".cpp"});
}

std::vector<fs::path> all_sources() {
  return files_in({"convoy", "apps", "tests", "tools"}, {".h", ".cpp", ".py"});
}

/// The engine's folders, such as "data".
std::vector<std::string> engine_folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kSource / "convoy")) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  EXPECT_FALSE(names.empty());
  return names;
}

/// "data" of convoy/data/idx.h, "apps" of apps/main.cpp.
std::string folder_of(const fs::path& path) {
  auto part = path.begin();
  return *part == "convoy" ? (++part)->string() : part->string();
}

bool is_below(const fs::path& path, const std::string& folder) {
  return path.string().starts_with(folder + "/");
}

using LineVisitor = std::function<void(const fs::path&, int number, const std::string&)>;

void for_each_line(const std::vector<fs::path>& paths, const LineVisitor& visit) {
  for (const fs::path& path : paths) {
    int number = 0;
    for (const std::string& line : split(read_text(kSource / path), '\n')) {
      visit(path, ++number, line);
    }
  }
}

/// What a line includes, or "".
std::string included(const std::string& line) {
  static const std::regex include(R"(\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  std::smatch match;
  return std::regex_match(line, match, include) ? match[1].str() : "";
}

TEST(IncludeRules, AreATableOfAllFolders) {
  const Edges edges = allowed_edges();

  EXPECT_TRUE(edges.contains("apps"));
  for (const std::string& folder : engine_folders()) {
    EXPECT_TRUE(edges.contains(folder)) << folder;
  }
  for (const auto& [folder, targets] : edges) {
    for (const std::string& target : targets) {
      EXPECT_TRUE(edges.contains(target)) << folder << " may include '" << target << "'?";
    }
  }
}

TEST(IncludeRules, AllowNoFolderToReachItself) {
  const Edges edges = allowed_edges();
  for (const auto& [start, unused] : edges) {
    std::set<std::string> reached;
    std::vector<std::string> open{start};
    while (!open.empty()) {
      const std::string folder = open.back();
      open.pop_back();
      if (!edges.contains(folder)) continue;
      for (const std::string& next : edges.at(folder)) {
        if (reached.insert(next).second) open.push_back(next);
      }
    }
    EXPECT_FALSE(reached.contains(start)) << "a circle through " << start;
  }
}

TEST(IncludeRules, HoldForEveryInclude) {
  const Edges edges = allowed_edges();
  for_each_line(program_sources(), [&](const fs::path& path, int number,
                                       const std::string& line) {
    const std::string target = included(line);
    if (!target.starts_with("convoy/") && !target.starts_with("apps/")) return;
    const std::string from = folder_of(path), to = folder_of(target);
    const auto row = edges.find(from);
    const bool allowed = from == to || (row != edges.end() && row->second.contains(to));
    EXPECT_TRUE(allowed) << path << ":" << number << ": " << from << " may not include "
                         << to;
  });
}

TEST(IncludeRules, KeepLibrariesInTheirFolders) {
  const std::map<std::string, std::vector<std::string>> homes = {
      {"hwy/", {"convoy/network/kernels"}},
      {"dnnl", {"convoy/network/kernels"}},
      {"oneapi/", {"convoy/network/kernels"}},
      {"immintrin", {"convoy/base", "convoy/network/kernels"}},
      {"gloo/", {"convoy/comm"}},
      {"jpeglib", {"convoy/images"}},
      {"google/protobuf", {"convoy/events"}},
      {"microhttpd", {"convoy/board"}},
      {"convoy/events/tensorboard.pb", {"convoy/events"}},
      {"convoy/events/messages", {"convoy/events"}}};
  for_each_line(
      program_sources(), [&](const fs::path& path, int number, const std::string& line) {
        for (const auto& [library, folders] : homes) {
          if (!included(line).starts_with(library)) continue;
          const bool is_home = std::ranges::any_of(
              folders, [&](const std::string& home) { return is_below(path, home); });
          EXPECT_TRUE(is_home) << path << ":" << number << ": " << library
                               << " belongs into " << folders.front();
        }
      });
}

TEST(IncludeRules, KeepConditionalCodeInBaseSystemAndKernels) {
  const std::regex conditional(R"(\s*#\s*(if|ifdef|ifndef|elif)\b.*)");
  for_each_line(program_sources(), [&](const fs::path& path, int number,
                                       const std::string& line) {
    if (is_below(path, "convoy/base") || is_below(path, "convoy/system") ||
        is_below(path, "convoy/network/kernels"))
      return;
    EXPECT_FALSE(std::regex_match(line, conditional)) << path << ":" << number << line;
  });
}

/// Depth and size are bounded there. The safetensors header is read by events.
TEST(Sources, ParseForeignJsonInOnePlace) {
  const std::regex parser(R"(\b(ordered_)?json::(parse|accept|sax_parse|from_\w+)\()");
  std::set<std::string> homes;
  for_each_line(program_sources(),
                [&](const fs::path& path, int, const std::string& line) {
                  if (std::regex_search(line, parser)) homes.insert(path);
                });
  EXPECT_EQ(homes, (std::set<std::string>{"convoy/base/json.cpp",
                                          "convoy/checkpoint/safetensors_header.cpp"}));
}

TEST(Sources, BeginWithTheirLicence) {
  for (const fs::path& path : all_sources()) {
    std::string text = read_text(kSource / path);
    if (text.starts_with("#!")) text.erase(0, text.find('\n') + 1);
    const char* mark = path.extension() == ".py" ? "# " : "// ";
    EXPECT_TRUE(
        text.starts_with(mark + std::string("SPDX-License-Identifier: Apache-2.0\n")))
        << path;
  }
}

TEST(Sources, HaveAtMostFiveHundredLines) {
  for (const fs::path& path : all_sources()) {
    const std::string text = read_text(kSource / path);
    EXPECT_LE(std::ranges::count(text, '\n'), 500) << path;
  }
}

TEST(Sources, PostponeNothing) {
  const std::regex note(
      "\\b(TO"
      "DO|FIX"
      "ME)\\b");
  for_each_line(all_sources(),
                [&](const fs::path& path, int number, const std::string& line) {
                  EXPECT_FALSE(std::regex_search(line, note)) << path << ":" << number;
                });
}

/// Two of a name are merged by the linker, whatever they are, or keep files from
/// including both.
TEST(Sources, DefineATypeInOneHeader) {
  const std::regex definition(
      R"((?:enum class|enum|class|struct) (?:alignas\([^)]*\) )?(\w+)\b[^;]*)");
  std::map<std::string, fs::path> homes;
  for_each_line(files_in({"convoy", "apps"}, {".h"}),
                [&](const fs::path& path, int number, const std::string& line) {
                  std::smatch match;
                  if (!std::regex_match(line, match, definition)) return;
                  const auto [home, is_new] = homes.try_emplace(match[1], path);
                  EXPECT_TRUE(is_new) << path << ":" << number << ": " << match[1]
                                      << " is defined in " << home->second << " as well";
                });
  EXPECT_TRUE(homes.contains("Traffic"));
}

TEST(Sources, HaveAReadmeInEveryFolderOfTheEngine) {
  for (const std::string& folder : engine_folders()) {
    EXPECT_TRUE(fs::exists(kSource / "convoy" / folder / "README.md")) << folder;
  }
}

/// "`base`, `system`" of the line that begins "**May include:**", up to the first full
/// stop.
std::set<std::string> may_include(const std::string& readme) {
  const std::string mark = "**May include:**";
  const std::size_t begin = readme.find(mark);
  if (begin == std::string::npos) return {"no such line"};
  const std::size_t end = readme.find('.', begin);
  std::string list = readme.substr(begin + mark.size(), end - begin - mark.size());
  std::ranges::replace(list, '\n', ' ');
  if (list == " nothing of ours") return {};
  const std::vector<std::string> names = names_in(list);
  return {names.begin(), names.end()};
}

TEST(IncludeRules, StandInTheReadmeOfEveryModule) {
  const Edges edges = allowed_edges();
  for (const std::string& folder : engine_folders()) {
    const std::string readme = read_text(kSource / "convoy" / folder / "README.md");
    EXPECT_EQ(may_include(readme), edges.at(folder)) << folder;
  }
}

}  // namespace
}  // namespace convoy
