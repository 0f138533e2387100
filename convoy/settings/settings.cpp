// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/settings.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>

#include "convoy/base/text.h"
#include "convoy/s3/location.h"
#include "convoy/settings/delay_milliseconds.h"
#include "convoy/settings/settings_fault.h"
#include "convoy/settings/settings_value.h"

namespace convoy {
namespace {

constexpr std::size_t kLongestFileName = 255;  // bytes, on Linux file systems

std::string origin(const SettingOrigins& origins, const std::string& name) {
  const auto found = origins.find(name);
  return found == origins.end() ? name : found->second;
}

// ---- rules that involve several settings

void check_microbatches(const TrainSettings& train, const SettingOrigins& origins) {
  if (train.microbatches <= train.batch_size || train.batch_size == 0) return;
  throw settings_error(
      {.where = origin(origins, "train.microbatches"),
       .found = fmt::format("{} micro-batches for a batch of {}", train.microbatches,
                            train.batch_size),
       .expected = "no more micro-batches than train.batch_size",
       .hint = fmt::format("train.microbatches={} or train.batch_size={} is possible",
                           train.batch_size, train.microbatches)});
}

void check_upload(const CheckpointSettings& checkpoint, const SettingOrigins& origins) {
  if (checkpoint.upload.empty()) return;
  S3Location::parse(checkpoint.upload, origin(origins, "checkpoint.upload"));
}

void check_enabled(const CheckpointSettings& checkpoint, const SettingOrigins& origins) {
  if (checkpoint.enabled) return;
  for (const auto& [wanted, name, off] :
       {std::tuple(!checkpoint.upload.empty(), "checkpoint.upload", ""),
        std::tuple(checkpoint.every_steps > 0, "checkpoint.every_steps", "0"),
        std::tuple(checkpoint.saves_per_epoch > 0, "checkpoint.saves_per_epoch", "0")}) {
    if (!wanted) continue;
    throw settings_error({.where = origin(origins, "checkpoint.enabled"),
                          .found = fmt::format("false, though {} is set", name),
                          .expected = "checkpoints, or no settings that need them",
                          .hint = fmt::format("{}={} is possible", name, off)});
  }
}

void check_nesterov(const OptimizerSettings& optimizer, const SettingOrigins& origins) {
  if (optimizer.nesterov && optimizer.name != OptimizerChoice::sgd) {
    throw settings_error({.where = origin(origins, "optimizer.nesterov"),
                          .found = "true with optimizer=" + choice_name(optimizer.name),
                          .expected = "false, or optimizer=sgd",
                          .hint = ""});
  }
  if (!optimizer.nesterov || optimizer.momentum > 0) return;
  throw settings_error({.where = origin(origins, "optimizer.nesterov"),
                        .found = "true with optimizer.momentum=0",
                        .expected = "false, or optimizer.momentum above 0",
                        .hint = "optimizer.momentum=0.9 is usual"});
}

void check_normalization(const DataSettings& data, const SettingOrigins& origins) {
  const bool given = !data.mean.empty() || !data.std.empty();
  if (data.normalize != NormalizeChoice::fixed && given) {
    const char* name = data.mean.empty() ? "data.std" : "data.mean";
    throw settings_error(
        {.where = origin(origins, name),
         .found = "numbers with data.normalize=" + choice_name(data.normalize),
         .expected = "no numbers, or data.normalize=fixed",
         .hint = ""});
  }
  if (data.normalize != NormalizeChoice::fixed ||
      (given && data.mean.size() == data.std.size())) {
    return;
  }
  throw settings_error(
      {.where = origin(origins, "data.normalize"),
       .found = fmt::format("fixed with {} means and {} stds", data.mean.size(),
                            data.std.size()),
       .expected = "data.mean and data.std with one number each for all channels, "
                   "or one for each",
       .hint = ""});
}

void check_split(const DataSettings& data, const SettingOrigins& origins) {
  if (data.split.empty()) return;
  const auto refuse = [&](const std::string& found, const std::string& expected,
                          const std::string& hint) {
    throw settings_error({.where = origin(origins, "data.split"),
                          .found = found,
                          .expected = expected,
                          .hint = hint});
  };
  Numbers sizes = data.split;
  const bool whole =
      std::ranges::all_of(sizes, [](double size) { return size == std::floor(size); });
  if (sizes.size() != 3 || !whole || sizes[0] < 1 || sizes[2] < 1) {
    refuse(value_text(&sizes),
           "three whole numbers: training samples (from 1), validation samples (from 0), "
           "test samples (from 1)",
           "data.split=45000,5000,10000, for example");
  }
  for (const auto& [name, fraction, usual] :
       {std::tuple("data.val_fraction", data.val_fraction, 0.0),
        std::tuple("data.train_fraction", data.train_fraction, 1.0)}) {
    if (fraction == usual) continue;
    refuse(fmt::format("{} with {}={}", value_text(&sizes), name, fraction),
           "sizes or fractions, not both", fmt::format("leave {} out", name));
  }
}

/// A fold of a training set that is divided in no other way.
void check_folds(const DataSettings& data, const SettingOrigins& origins) {
  const auto refuse = [&](const std::string& name, const std::string& found,
                          const std::string& expected) {
    throw settings_error({.where = origin(origins, name),
                          .found = found,
                          .expected = expected,
                          .hint = ""});
  };
  if (data.folds == 1) refuse("data.folds", "1", "0 for none, or from 2");
  if (data.fold >= std::max(1, data.folds)) {
    refuse("data.fold", fmt::format("fold {} of {}", data.fold, data.folds),
           "a fold from 0, below data.folds");
  }
  if (data.folds == 0 || (data.val_fraction == 0 && data.split.empty())) return;
  refuse("data.folds",
         fmt::format("{} with {}", data.folds,
                     data.split.empty() ? "data.val_fraction" : "data.split"),
         "one way to hold out samples for validation");
}

void check_schedule(const Settings& settings, const SettingOrigins& origins) {
  const ScheduleSettings& schedule = settings.schedule;
  const auto refuse = [&](const char* name, double found, const std::string& expected) {
    throw settings_error({.where = origin(origins, name),
                          .found = fmt::format("{}", found),
                          .expected = expected,
                          .hint = ""});
  };
  if (schedule.name == ScheduleChoice::onecycle && schedule.warmup_epochs > 0) {
    refuse("schedule.warmup_epochs", schedule.warmup_epochs,
           "0 with schedule=onecycle, whose warm-up is schedule.pct_start");
  }
  if (schedule.warmup_epochs > settings.train.epochs) {
    refuse("schedule.warmup_epochs", schedule.warmup_epochs,
           fmt::format("at most {}, the run's epochs", settings.train.epochs));
  }
  if (schedule.name == ScheduleChoice::plateau && schedule.gamma >= 1) {
    refuse("schedule.gamma", schedule.gamma, "below 1 with schedule=plateau");
  }
  const bool has_lowest =
      schedule.name == ScheduleChoice::cosine || schedule.name == ScheduleChoice::plateau;
  if (has_lowest && schedule.min_lr > settings.optimizer.lr) {
    refuse("schedule.min_lr", schedule.min_lr,
           fmt::format("at most {}, the learning rate", settings.optimizer.lr));
  }
}

void check_precision(const Settings& settings, const SettingOrigins& origins) {
  const std::string& precision = choice_name(settings.precision.name);
  if (settings.ddp.compress != CompressChoice::none &&
      settings.precision.name != PrecisionChoice::fp32) {
    throw settings_error(
        {.where = origin(origins, "ddp.compress"),
         .found = fmt::format("{} with precision={}", choice_name(settings.ddp.compress),
                              precision),
         .expected = "none, or precision=fp32",
         .hint = "16-bit training exchanges 16 bits anyway"});
  }
  int exponent = 0;
  const double scale = settings.precision.init_scale;
  if (std::frexp(scale, &exponent) == 0.5) return;
  throw settings_error(
      {.where = origin(origins, "precision.init_scale"),
       .found = fmt::format("{}", scale),
       .expected = "a power of two, from 1 to 16777216",
       .hint = fmt::format("{} is possible", std::ldexp(0.5, exponent))});
}

void check_averages(const TrainSettings& train, const SettingOrigins& origins) {
  if (train.swa_start > 0 && train.ema > 0) {
    throw settings_error(
        {.where = origin(origins, "train.swa_start"),
         .found = fmt::format("{} with train.ema={}", train.swa_start, train.ema),
         .expected = "one kind of average",
         .hint = "train.ema=0 or train.swa_start=0"});
  }
  if (train.swa_start <= train.epochs) return;
  throw settings_error(
      {.where = origin(origins, "train.swa_start"),
       .found = fmt::format("{}", train.swa_start),
       .expected = fmt::format("at most {}, the run's epochs", train.epochs),
       .hint = "0 averages nothing"});
}

void check_staleness(const PsSettings& ps, const SettingOrigins& origins) {
  if (ps.max_staleness == "none") return;
  const std::optional<double> bound = number_in(ps.max_staleness);
  if (bound && *bound >= 0 && *bound <= 1e6 && *bound == std::floor(*bound)) return;
  throw settings_error({.where = origin(origins, "ps.max_staleness"),
                        .found = shown(ps.max_staleness),
                        .expected = "none, or a whole number from 0 to 1000000",
                        .hint = ""});
}

void check_compute(const SimSettings& sim, const SettingOrigins& origins) {
  if (sim.compute_ms == "auto" || sim.compute_ms == "measure") return;
  const std::optional<double> value = number_in(sim.compute_ms);
  if (value && *value > 0 && *value <= 1e6) return;
  throw settings_error({.where = origin(origins, "sim.compute_ms"),
                        .found = shown(sim.compute_ms),
                        .expected = "auto, measure, or milliseconds above 0 up to 1e6",
                        .hint = ""});
}

void check_delay(const InjectSettings& inject, const SettingOrigins& origins) {
  if (delay_milliseconds(inject.delay)) return;
  throw settings_error(
      {.where = origin(origins, "inject.delay"),
       .found = shown(inject.delay),
       .expected = "none, small, medium, long, or milliseconds up to 60000",
       .hint = ""});
}

void check_slow_rank(const InjectSettings& inject, const SettingOrigins& origins) {
  if (inject.slow_ms == 0) return;
  const auto refuse = [&](const std::string& found, const std::string& expected,
                          const std::string& hint) {
    throw settings_error({.where = origin(origins, "inject.slow_ms"),
                          .found = fmt::format("{} with {}", inject.slow_ms, found),
                          .expected = expected,
                          .hint = hint});
  };
  if (inject.slow_rank < 0) {
    refuse("inject.slow_rank=-1", "the rank that is slow", "inject.slow_rank=0");
  }
  if (inject.slow_factor != InjectSettings().slow_factor) {
    refuse(fmt::format("inject.slow_factor={}", inject.slow_factor),
           "milliseconds or a factor, not both", "leave inject.slow_factor out");
  }
}

void check_min_epochs(const TrainSettings& train, const SettingOrigins& origins) {
  if (train.min_epochs <= train.epochs) return;
  throw settings_error(
      {.where = origin(origins, "train.min_epochs"),
       .found = fmt::format("{}", train.min_epochs),
       .expected = fmt::format("at most {}, the run's epochs", train.epochs),
       .hint = ""});
}

void check_run(const RunSettings& run, const SettingOrigins& origins) {
  if (run.dir.empty()) {
    throw settings_error({.where = origin(origins, "run.dir"),
                          .found = shown(run.dir),
                          .expected = "a folder's path",
                          .hint = "run.dir=. is the current folder"});
  }
  const bool names_a_folder = run.name != "." && run.name != ".." &&
                              run.name.find('/') == std::string::npos &&
                              run.name.size() <= kLongestFileName;
  if (names_a_folder) return;
  throw settings_error(
      {.where = origin(origins, "run.name"),
       .found = shown(run.name),
       .expected = fmt::format("a folder's name: no '/', not '.' or '..', up to {} bytes",
                               kLongestFileName),
       .hint = "run.dir says where runs go"});
}

// ---- YAML

/// Words that some YAML readers interpret.
constexpr std::string_view kSpecial[] = {"true", "false", "yes", "no", "on",
                                         "off",  "null",  "y",   "n"};

/// Whether every YAML reader takes the text, unquoted, for a string.
bool plain_in_yaml(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto safe = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && letter(text.front()) && std::ranges::all_of(text, safe) &&
         std::ranges::find(kSpecial, text) == std::end(kSpecial);
}

void emit_list(YAML::Emitter& out, Numbers& numbers) {
  out << YAML::Flow << YAML::BeginSeq;
  for (double& number : numbers) out << value_text(&number);
  out << YAML::EndSeq;
}

void emit_value(YAML::Emitter& out, const Field& field) {
  if (const auto* numbers = std::get_if<Numbers*>(&field)) {
    return emit_list(out, **numbers);
  }
  const std::string text = value_text(field);
  const bool is_text = std::holds_alternative<std::string*>(field) ||
                       std::holds_alternative<ChoiceField>(field);
  if (is_text && !plain_in_yaml(text)) {
    out << YAML::DoubleQuoted;
  }
  out << text;
}

using Rows = std::span<const Setting>;

/// Emits a map of `rows`, whose names all begin with the same `depth` characters.
void emit_map(YAML::Emitter& out, Rows rows, std::size_t depth, Settings& settings) {
  out << YAML::BeginMap;
  while (!rows.empty()) {
    const std::string& name = rows.front().name;
    const std::size_t dot = name.find('.', depth);
    out << YAML::Key << name.substr(depth, dot - depth) << YAML::Value;
    if (dot == std::string::npos) {
      emit_value(out, rows.front().field(settings));
      rows = rows.subspan(1);
      continue;
    }
    const std::string prefix = name.substr(0, dot + 1);
    const auto end = std::ranges::find_if_not(
        rows, [&](const Setting& row) { return row.name.starts_with(prefix); });
    const auto count = static_cast<std::size_t>(end - rows.begin());
    emit_map(out, rows.first(count), dot + 1, settings);
    rows = rows.subspan(count);
  }
  out << YAML::EndMap;
}

}  // namespace

void validate(const Settings& settings, const SettingOrigins& origins) {
  Settings copy = settings;  // the table needs mutable settings
  for (const Setting& setting : settings_table()) {
    check_value(setting, origin(origins, setting.name), copy);
  }
  check_microbatches(settings.train, origins);
  check_upload(settings.checkpoint, origins);
  check_enabled(settings.checkpoint, origins);
  check_normalization(settings.data, origins);
  check_split(settings.data, origins);
  check_folds(settings.data, origins);
  check_nesterov(settings.optimizer, origins);
  check_schedule(settings, origins);
  check_precision(settings, origins);
  check_averages(settings.train, origins);
  check_min_epochs(settings.train, origins);
  check_delay(settings.inject, origins);
  check_slow_rank(settings.inject, origins);
  check_staleness(settings.ps, origins);
  check_compute(settings.sim, origins);
  check_run(settings.run, origins);
}

std::string to_yaml(const Settings& settings) {
  Settings copy = settings;  // the table needs mutable settings
  YAML::Emitter out;
  emit_map(out, settings_table(), 0, copy);
  return std::string(out.c_str()) + "\n";
}

}  // namespace convoy
