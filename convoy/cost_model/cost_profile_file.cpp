// SPDX-License-Identifier: Apache-2.0

#include "convoy/cost_model/cost_profile_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "convoy/base/error.h"
#include "convoy/base/json.h"
#include "convoy/system/file.h"

namespace convoy {
namespace {

using json = nlohmann::ordered_json;

constexpr int kVersion = 1;

json to_json(const CostCurve& curve) {
  json points = json::array();
  for (const CostPoint& point : curve.points()) {
    points.push_back({point.bytes, point.seconds});
  }
  return points;
}

json to_json(const CostProfile& profile) {
  json units = json::array(), passes = json::array();
  for (const UnitBytes& unit : profile.units) {
    units.push_back({{"bytes", unit.bytes}, {"tensors", unit.tensors}});
  }
  for (const PassSeconds& pass : profile.passes) {
    json seconds = json::array();
    for (const UnitSeconds& unit : pass.units) {
      seconds.push_back({unit.forward, unit.backward});
    }
    passes.push_back({{"samples", pass.samples}, {"units", seconds}});
  }
  return {{"convoy_cost_profile", kVersion},
          {"model", profile.model},
          {"ranks", profile.ranks},
          {"threads", profile.threads},
          {"cores", profile.cores},
          {"statistics_bytes", profile.statistics_bytes},
          {"pack", profile.pack},
          {"update", profile.update},
          {"rest", profile.rest},
          {"load", profile.load},
          {"sum", profile.sum},
          {"handoff", profile.handoff},
          {"agreement", profile.agreement},
          {"tcp",
           {{"round", profile.tcp.round},
            {"message", profile.tcp.message},
            {"byte", profile.tcp.byte}}},
          {"all_reduce", to_json(profile.all_reduce)},
          {"gather_scatter", to_json(profile.gather_scatter)},
          {"units", units},
          {"passes", passes}};
}

/// Reads a non-negative number of seconds or bytes. Throws std::runtime_error.
double number(const json& value) {
  const double found = value.get<double>();
  if (std::isfinite(found) && found >= 0) return found;
  throw std::runtime_error("a number below zero");
}

std::uint64_t count(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  throw std::runtime_error("not a whole number from 0");
}

int positive(const json& value) {
  const std::uint64_t found = count(value);
  if (found >= 1 && found <= 1'000'000) return static_cast<int>(found);
  throw std::runtime_error("a count out of range");
}

CostCurve curve_of(const json& points) {
  std::vector<CostPoint> found;
  for (const json& point : points) {
    found.push_back({count(point.at(0)), number(point.at(1))});
    if (found.size() > 1 && found[found.size() - 2].bytes >= found.back().bytes) {
      throw std::runtime_error("sizes that do not ascend");
    }
  }
  return CostCurve(found);
}

UnitBytes unit_of(const json& unit) {
  UnitBytes found{.bytes = count(unit.at("bytes"))};
  for (const json& tensor : unit.at("tensors")) found.tensors.push_back(count(tensor));
  return found;
}

PassSeconds pass_of(const json& pass, std::size_t units) {
  PassSeconds found{.samples = count(pass.at("samples"))};
  for (const json& unit : pass.at("units")) {
    found.units.push_back({number(unit.at(0)), number(unit.at(1))});
  }
  if (found.units.size() == units) return found;
  throw std::runtime_error("a pass with another number of units");
}

CostProfile from_json(const json& object) {
  if (object.at("convoy_cost_profile") != kVersion) {
    throw std::runtime_error("another version");
  }
  CostProfile profile;
  profile.model = object.at("model").get<std::string>();
  profile.ranks = positive(object.at("ranks"));
  profile.threads = positive(object.at("threads"));
  profile.cores = positive(object.at("cores"));
  profile.statistics_bytes = count(object.at("statistics_bytes"));
  profile.pack = static_cast<std::size_t>(positive(object.at("pack")));
  profile.update = number(object.at("update"));
  profile.rest = number(object.at("rest"));
  profile.load = number(object.at("load"));
  profile.sum = number(object.at("sum"));
  profile.handoff = number(object.at("handoff"));
  profile.agreement = number(object.at("agreement"));
  const json& tcp = object.at("tcp");
  profile.tcp = {number(tcp.at("round")), number(tcp.at("message")),
                 number(tcp.at("byte"))};
  profile.all_reduce = curve_of(object.at("all_reduce"));
  profile.gather_scatter = curve_of(object.at("gather_scatter"));
  for (const json& unit : object.at("units")) profile.units.push_back(unit_of(unit));
  for (const json& pass : object.at("passes")) {
    profile.passes.push_back(pass_of(pass, profile.units.size()));
  }
  if (profile.units.empty() || profile.passes.empty()) {
    throw std::runtime_error("no units or no passes");
  }
  return profile;
}

}  // namespace

void write_profile(const CostProfile& profile, const std::filesystem::path& path) {
  write_atomically(path, json_text(to_json(profile), 1) + "\n");
}

CostProfile read_profile(const std::filesystem::path& path) {
  const JsonSource source{
      .where = path,
      .expected = "a profile that convoy simulate --predict has written",
      .hint = "remove the file, and it is measured anew"};
  const json content = parse_json(read_text(path, kMostJsonBytes), source);
  try {
    return from_json(content);
  } catch (const std::exception& error) {
    throw InputError(InputKind::data, {.where = source.where,
                                       .found = error.what(),
                                       .expected = source.expected,
                                       .hint = source.hint});
  }
}

}  // namespace convoy
