// SPDX-License-Identifier: Apache-2.0
//
// What a folder's event files hold, as read_events.py reads them.

#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test_places.h"
#include "tests/apps/convoy_process.h"

namespace convoy {

inline CommandResult run_event_reader(const std::filesystem::path& folder) {
  return run_convoy({CONVOY_SOURCE_DIR "/tests/events/read_events.py", folder.string()},
                    "/", {.program = "/usr/bin/python3"});
}

/// All events, in the order of the files' names.
inline std::vector<nlohmann::json> read_events(const std::filesystem::path& folder) {
  const CommandResult result = run_event_reader(folder);
  EXPECT_EQ(result.code, 0) << result.err;
  std::vector<nlohmann::json> events;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    events.push_back(nlohmann::json::parse(line));  // NaN is not JSON; tests write none
  }
  return events;
}

/// The summaries' values, each with its step.
inline std::vector<nlohmann::json> values_of(const std::vector<nlohmann::json>& events) {
  std::vector<nlohmann::json> values;
  for (const nlohmann::json& event : events) {
    if (!event.contains("values")) continue;
    for (nlohmann::json value : event.at("values")) {
      value["step"] = event.at("step");
      values.push_back(std::move(value));
    }
  }
  return values;
}

using ScalarCurve = std::vector<std::pair<int, double>>;  // step and value

inline std::map<std::string, ScalarCurve> curves_of(
    const std::vector<nlohmann::json>& events) {
  std::map<std::string, ScalarCurve> curves;
  for (const nlohmann::json& value : values_of(events)) {
    if (!value.contains("scalar")) continue;
    curves[value.at("tag")].emplace_back(value.at("step"), value.at("scalar"));
  }
  return curves;
}

/// The one value with this tag.
inline nlohmann::json value_tagged(const std::vector<nlohmann::json>& events,
                                   const std::string& tag) {
  nlohmann::json found;
  for (const nlohmann::json& value : values_of(events)) {
    if (value.at("tag") != tag) continue;
    EXPECT_TRUE(found.is_null()) << tag << " is there twice";
    found = value;
  }
  EXPECT_FALSE(found.is_null()) << "nothing has the tag " << tag;
  return found;
}

}  // namespace convoy
