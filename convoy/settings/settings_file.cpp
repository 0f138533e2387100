// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings_file.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/settings/settings_fault.h"
#include "convoy/settings/settings_value.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

/// The canonical name: `model: lenet5` and `model.name: lenet5`, or a name and its alias,
/// set the same.
std::string target(const std::string& name) {
  const Setting* option = find_option_setting(name);
  const Setting* setting = option ? option : find_setting(name);
  return setting ? setting->name : name;
}

std::string expected_at(const std::string& name) {
  if (name == kExperiment) return "the name of an experiment";
  if (const Setting* setting = find_setting(target(name))) {
    return expected_text(*setting, {});
  }
  const std::vector<std::string> settings = settings_of_group(name);
  if (settings.empty()) return "a value";
  return "a map of settings, such as " + settings.front();
}

/// Walks one document and collects its settings.
class Collector {
 public:
  /// Borrows the names besides the settings.
  Collector(std::string path, std::span<const std::string> more)
      : path_(std::move(path)), more_(more) {}

  std::vector<SettingAssignment> collect(const YAML::Node& document) {
    if (document.IsNull()) return {};
    if (!document.IsMap()) {
      throw settings_error(
          {.where = fmt::format("{}:{}", path_, document.Mark().line + 1),
           .found = document.IsSequence() ? "a list" : "a single value",
           .expected = "a map of settings",
           .hint = "write name: value"});
    }
    visit_map(document, "");
    return std::move(found_);
  }

 private:
  std::string where(const YAML::Mark& mark, const std::string& name) const {
    return fmt::format("{}:{}: {}", path_, mark.line + 1, shown(name));
  }

  void visit_map(const YAML::Node& map, const std::string& prefix) {
    std::map<std::string, int> lines;  // of the map's keys
    for (const auto& entry : map) {
      const std::string key = key_text(entry.first, prefix);
      const std::string name = prefix + key;
      const std::string here = where(entry.first.Mark(), name);
      refuse_second(lines, key, entry.first.Mark().line + 1, here);
      visit(entry.second, name, here, entry.first.Mark().line + 1);
    }
  }

  std::string key_text(const YAML::Node& key, const std::string& prefix) const {
    if (key.IsScalar()) return key.Scalar();
    throw settings_error({.where = fmt::format("{}:{}", path_, key.Mark().line + 1),
                          .found = "a key that is not a name",
                          .expected = "the name of a setting",
                          .hint = prefix.empty() ? "" : "inside " + prefix});
  }

  void visit(const YAML::Node& node, const std::string& name, const std::string& here,
             int line) {
    const bool group = !settings_of_group(name).empty() || has_more_below(name);
    if (!group && !is_choice(name) && !find_setting(name) && !is_more(name))
      throw unknown_setting(name, here);
    if (node.IsMap() && group) return visit_map(node, name + ".");
    const bool list = node.IsSequence() && is_list(name);
    if (!node.IsScalar() && !list) throw not_a_value(node, name, here);
    refuse_second(lines_, target(name), line, here);
    found_.push_back({name, list ? list_text(node, name, here) : node.Scalar(), here});
  }

  bool is_more(const std::string& name) const {
    return std::ranges::find(more_, name) != more_.end();
  }

  bool has_more_below(const std::string& group) const {
    return std::ranges::any_of(
        more_, [&](const std::string& one) { return one.starts_with(group + "."); });
  }

  static std::string list_text(const YAML::Node& list, const std::string& name,
                               const std::string& here) {
    std::vector<std::string> texts;
    for (const YAML::Node& one : list) {
      if (!one.IsScalar()) throw not_a_value(one, name, here);
      texts.push_back(one.Scalar());
    }
    return "[" + join(texts) + "]";
  }

  static InputError not_a_value(const YAML::Node& node, const std::string& name,
                                const std::string& here) {
    return settings_error(
        {.where = here,
         .found = node.IsMap()        ? "a map"
                  : node.IsSequence() ? "a list"
                                      : "nothing (null)",
         .expected = expected_at(name),
         .hint = node.IsNull() ? "leave the line out for the default" : ""});
  }

  static void refuse_second(std::map<std::string, int>& lines, const std::string& key,
                            int line, const std::string& here) {
    const auto [first, fresh] = lines.emplace(key, line);
    if (fresh) return;
    throw settings_error(
        {.where = here,
         .found = fmt::format("a second time, after line {}", first->second),
         .expected = "each setting once in a file",
         .hint = ""});
  }

  std::string path_;
  std::span<const std::string> more_;
  std::vector<SettingAssignment> found_;
  std::map<std::string, int> lines_;  // of settings, by dotted name
};

void refuse_bad_utf8(const std::string& path, const std::string& text) {
  const std::size_t bad = find_bad_utf8(text);
  if (bad == std::string::npos) return;
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(bad);
  const auto line = std::count(text.begin(), end, '\n') + 1;
  throw settings_error({.where = fmt::format("{}:{}", path, line),
                        .found = "bytes that are not UTF-8",
                        .expected = "YAML in UTF-8",
                        .hint = ""});
}

/// Records where documents start, and ignores their content.
class DocumentStarts final : public YAML::EventHandler {
 public:
  std::vector<int> lines;

  void OnDocumentStart(const YAML::Mark& mark) override {
    lines.push_back(mark.line + 1);
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// YAML::Load silently ignores all documents but the first, and YAML::LoadAll never ends
/// on a stray ',' (yaml-cpp 0.7), which the parser takes for infinitely many documents.
void refuse_second_document(const std::string& path, const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (starts.lines.size() < 2 && parser.HandleNextDocument(starts)) {
  }
  if (starts.lines.size() < 2) return;
  throw settings_error({.where = fmt::format("{}:{}", path, starts.lines[1]),
                        .found = "more after the end of the YAML document",
                        .expected = "one document",
                        .hint = "remove what does not belong there"});
}

YAML::Node parse(const std::string& path, const std::string& text) try {
  refuse_second_document(path, text);
  return YAML::Load(text);
} catch (const YAML::Exception& error) {
  throw settings_error({.where = fmt::format("{}:{}", path, error.mark.line + 1),
                        .found = error.msg,
                        .expected = "YAML",
                        .hint = ""});
}

}  // namespace

std::vector<SettingAssignment> read_settings_file(const std::filesystem::path& path,
                                                  std::span<const std::string> more) {
  const std::string text = read_text(path);
  refuse_bad_utf8(path.string(), text);
  return Collector(path.string(), more).collect(parse(path.string(), text));
}

}  // namespace convoy
