// SPDX-License-Identifier: Apache-2.0
//
// Settings: all settings of a run, with their defaults.
//
// A plain struct of plain structs: `settings.train.epochs` is an int. The fields of each
// group, their types, defaults and meaning are the rows of settings_table.inc; read that
// instead of this file. settings_resolve.h says where values come from.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "convoy/settings/setting_choices.h"

namespace convoy {

using Numbers = std::vector<double>;

// clang-format off
#define GROUP(Type) struct Type {
#define SETTING(group, member, type, initial, ...) type member = initial;
#define SUBGROUP(Type) struct Type {
#define END_SUBGROUP(Type, member) bool operator==(const Type&) const = default; }; Type member;
#define END_GROUP(Type) bool operator==(const Type&) const = default; };
#include "convoy/settings/settings_table.inc"
// clang-format on

struct Settings {
  ModelSettings model;
  DataSettings data;
  TrainSettings train;
  OptimizerSettings optimizer;
  ScheduleSettings schedule;
  PrecisionSettings precision;
  StrategySettings strategy;
  DdpSettings ddp;
  FsdpSettings fsdp;
  PsSettings ps;
  InjectSettings inject;
  SimSettings sim;
  ClusterSettings cluster;
  NetworkSettings network;
  CheckpointSettings checkpoint;
  EvalSettings eval;
  ConsoleSettings console;
  RunSettings run;

  bool operator==(const Settings&) const = default;
};

/// Where settings that are not at their defaults were set, by name: "run.yaml:3:
/// train.epochs".
using SettingOrigins = std::map<std::string, std::string, std::less<>>;

/// Refuses values that are out of range or contradict each other.
///
/// Names of models and datasets are checked by resolve_settings() instead. Throws
/// InputError of kind `settings`, naming the setting's origin if it is known.
void validate(const Settings& settings, const SettingOrigins& origins = {});

/// Formats all settings as nested YAML. Resolving that file gives equal settings, bit for
/// bit. Requires: the settings are valid.
std::string to_yaml(const Settings& settings);

}  // namespace convoy
