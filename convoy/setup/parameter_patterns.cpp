// SPDX-License-Identifier: Apache-2.0

#include "convoy/setup/parameter_patterns.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <cmath>
#include <set>
#include <string_view>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/setup/whitening.h"

namespace convoy {
namespace {

constexpr const char* kFreeze = "train.freeze";
constexpr const char* kGroups = "optimizer.groups";
constexpr double kLargestRule = 1e38;  // becomes a float

InputError refusal(const std::string& where, std::string found, std::string expected,
                   std::string hint) {
  return {InputKind::settings,
          {.where = where,
           .found = std::move(found),
           .expected = std::move(expected),
           .hint = std::move(hint)}};
}

/// "a,b" as "a" and "b".
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// All names, and a pattern for all parameters of each layer or block: "layer1.*".
std::vector<std::string> usual_patterns(const Layout& layout) {
  std::set<std::string> patterns;
  for (const Segment& segment : layout.segments()) {
    patterns.insert(segment.name);
    for (std::size_t dot = 0; (dot = segment.name.find('.', dot)) != std::string::npos;) {
      patterns.insert(segment.name.substr(0, ++dot) + "*");
    }
  }
  return {patterns.begin(), patterns.end()};
}

std::string hint_for(const std::string& pattern, const Layout& layout) {
  const std::string nearest = nearest_name(pattern, usual_patterns(layout));
  if (!nearest.empty()) return "nearest: " + nearest;
  return fmt::format("the parameters are {} ... {}", layout.segments().front().name,
                     layout.segments().back().name);
}

/// "lr=0.1" or "weight_decay=0", for the rule of some segments.
void read_option(const std::string& option, SegmentRule& rule) {
  const std::size_t equals = option.find('=');
  const std::string name = option.substr(0, equals);
  const auto number = equals == std::string::npos
                          ? std::nullopt
                          : number_in(std::string_view(option).substr(equals + 1));
  const bool is_allowed = number && *number >= 0 && *number <= kLargestRule;
  if (!is_allowed || (name != "lr" && name != "weight_decay")) {
    throw refusal(kGroups, option.empty() ? "nothing" : option,
                  "lr=FACTOR or weight_decay=NUMBER, numbers from 0",
                  "for example *.bias:lr=0.1,weight_decay=0");
  }
  if (name == "lr") rule.rate_factor = *number;
  if (name == "weight_decay") rule.weight_decay = *number;
}

/// What a group sets; the other options stay as they are.
void apply_group(const std::string& group, const Layout& layout,
                 std::vector<SegmentRule>& rules) {
  const std::size_t colon = group.find(':');
  if (colon == std::string::npos) {
    throw refusal(kGroups, group.empty() ? "nothing" : group,
                  "PATTERN:OPTION,OPTION, several separated by semicolons",
                  "for example *.bias:lr=0.1,weight_decay=0;fc.*:lr=10");
  }
  const auto options = split(std::string_view(group).substr(colon + 1), ',');
  for (const SegmentId id : matching_segments(layout, group.substr(0, colon), kGroups)) {
    SegmentRule& rule = rules[static_cast<std::size_t>(id)];
    for (const std::string& option : options) read_option(option, rule);
  }
}

void apply_layer_decay(double decay, const Layout& layout,
                       std::vector<SegmentRule>& rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto unit = static_cast<std::size_t>(layout.segments()[i].unit);
    const auto behind = static_cast<double>(layout.unit_count() - 1 - unit);
    rules[i].rate_factor *= std::pow(decay, behind);
  }
}

}  // namespace

std::vector<SegmentId> matching_segments(const Layout& layout, const std::string& pattern,
                                         const std::string& where) {
  std::vector<SegmentId> found;
  for (std::size_t i = 0; i < layout.segments().size(); ++i) {
    const std::string& name = layout.segments()[i].name;
    if (::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0) {
      found.push_back(SegmentId{i});
    }
  }
  if (!found.empty()) return found;
  throw refusal(where,
                fmt::format("{}, which matches no parameter",
                            pattern.empty() ? "an empty pattern" : pattern),
                "patterns of the names of the model's parameters",
                hint_for(pattern, layout));
}

void freeze_parameters(const TrainSettings& settings, LaidOutModel& model) {
  std::vector<SegmentId> frozen;
  if (settings.whiten) frozen.push_back(first_convolution(model.layout));
  if (!settings.freeze.empty()) {
    for (const std::string& pattern : split(settings.freeze, ',')) {
      for (const SegmentId id : matching_segments(model.layout, pattern, kFreeze)) {
        frozen.push_back(id);
      }
    }
  }
  if (frozen.empty()) return;
  freeze(frozen, model);
  if (model.layout.trained_count() > 0) return;
  throw refusal(kFreeze, fmt::format("{}, which matches all parameters", settings.freeze),
                "at least one parameter that is trained",
                "a narrower pattern, such as " + model.layout.segments().front().name);
}

std::vector<SegmentRule> segment_rules(const OptimizerSettings& settings,
                                       const Layout& layout) {
  if (settings.groups.empty() && settings.layer_decay == 1) return {};
  std::vector<SegmentRule> rules(layout.segments().size());
  if (!settings.groups.empty()) {
    for (const std::string& group : split(settings.groups, ';')) {
      apply_group(group, layout, rules);
    }
  }
  apply_layer_decay(settings.layer_decay, layout, rules);
  return rules;
}

}  // namespace convoy
