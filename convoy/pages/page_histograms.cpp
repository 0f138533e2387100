// SPDX-License-Identifier: Apache-2.0

#include "convoy/pages/page_histograms.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/pages/page_series.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t kMostTensors = 500, kMostParts = 200;
constexpr std::size_t kMostRecords = 10, kLeastRecords = 2;
constexpr std::size_t kMostCounts = 100'000;  // of a page

/// The record's tensors with an epoch; null if it is no such record.
json record_of(const std::string& line) try {
  json record = parse_json(line, {.where = "metrics.jsonl"});
  const bool whole = record.is_object() && record.contains("epoch") &&
                     record["epoch"].is_number() && record.contains("tensors") &&
                     record["tensors"].is_object();
  return whole ? record : json(nullptr);
} catch (const InputError&) {
  return nullptr;
}

/// The histogram, with short numbers; null if it is none.
json histogram_of(const json& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  if (found == tensors.end() || !found->is_object()) return nullptr;
  const json least = found->value("least", json()), most = found->value("most", json()),
             counts = found->value("counts", json());
  const bool is_good = least.is_number() && most.is_number() && counts.is_array() &&
                       counts.size() <= kMostParts &&
                       std::ranges::all_of(counts, &json::is_number_unsigned);
  if (!is_good) return nullptr;
  return {{"least", number_json(least.get<double>())},
          {"most", number_json(most.get<double>())},
          {"counts", counts}};
}

/// The names of the last record, which has all of them.
std::vector<std::string> names_of(const json& record) {
  std::vector<std::string> names;
  for (const auto& [name, ignored] : record["tensors"].items()) {
    if (names.size() < kMostTensors) names.push_back(name);
  }
  return names;
}

/// About that many lines, with the first and the last.
std::vector<json> chosen(const std::vector<std::string>& lines, std::size_t count) {
  std::set<std::size_t> indices;
  for (std::size_t i = 0; i < count; ++i) {
    indices.insert(i * (lines.size() - 1) / (count - 1));
  }
  std::vector<json> records;
  for (const std::size_t i : indices) {
    if (json record = record_of(lines[i]); record.is_object()) {
      records.push_back(std::move(record));
    }
  }
  return records;
}

}  // namespace

json page_histograms(const std::vector<std::string>& lines) {
  const json last = lines.empty() ? json(nullptr) : record_of(lines.back());
  if (!last.is_object() || last["tensors"].empty()) return nullptr;
  const std::vector<std::string> names = names_of(last);
  const std::size_t fitting = kMostCounts / (names.size() * 40);
  json page = {{"epochs", json::array()}, {"tensors", json::array()}};
  for (const std::string& name : names) {
    page["tensors"].push_back({{"name", name}, {"records", json::array()}});
  }
  for (const json& record :
       chosen(lines, std::clamp(fitting, kLeastRecords, kMostRecords))) {
    page["epochs"].push_back(record["epoch"]);
    for (std::size_t i = 0; i < names.size(); ++i) {
      page["tensors"][i]["records"].push_back(histogram_of(record["tensors"], names[i]));
    }
  }
  return page;
}

}  // namespace convoy
