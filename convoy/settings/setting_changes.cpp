// SPDX-License-Identifier: Apache-2.0

#include "convoy/settings/setting_changes.h"

#include <fmt/format.h>

#include "convoy/base/text.h"
#include "convoy/settings/settings_fault.h"
#include "convoy/settings/settings_value.h"

namespace convoy {
namespace {

/// Whether learning rates depend on the number of steps of the run.
bool spans_the_run(ScheduleChoice schedule) {
  return schedule == ScheduleChoice::cosine || schedule == ScheduleChoice::linear ||
         schedule == ScheduleChoice::onecycle;
}

/// Whether evaluations decide about rates or the end of the run. Then an evaluation
/// within an epoch, where the steps ended, would count.
bool is_judged(const Settings& settings) {
  return settings.schedule.name == ScheduleChoice::plateau || settings.train.patience > 0;
}

bool leads_to_other_bits(const Setting& setting, const Settings& now) {
  if (setting.is(kEpochs)) return spans_the_run(now.schedule.name);
  if (setting.is(kSteps)) return spans_the_run(now.schedule.name) || is_judged(now);
  return setting.is(kBits);
}

}  // namespace

std::string describe(const SettingChange& change) {
  return fmt::format("changed   {}: {} -> {}{}", change.name, change.before, change.now,
                     change.other_bits ? " (leads to other bits)" : "");
}

std::vector<SettingChange> setting_changes(const Settings& before, const Settings& now) {
  Settings old = before, current = now;  // the table needs mutable settings
  std::vector<SettingChange> changes;
  for (const Setting& setting : settings_table()) {
    const std::string was = value_text(setting.field(old));
    const std::string is = value_text(setting.field(current));
    if (was == is || setting.is(kCommand)) continue;
    changes.push_back({setting.name, was, is, leads_to_other_bits(setting, now)});
  }
  return changes;
}

void refuse_other_bits(const std::vector<SettingChange>& changes, const Settings& now) {
  if (now.train.resume_force) return;
  std::vector<std::string> breaking;
  for (const SettingChange& change : changes) {
    if (change.other_bits) {
      breaking.push_back(
          fmt::format("{}={} (was {})", change.name, change.now, change.before));
    }
  }
  if (breaking.empty()) return;
  throw settings_error(
      {.where = "train.resume",
       .found = join(breaking),
       .expected = "the settings of the run, but for those that change no numbers",
       .hint =
           "train.resume_force=true resumes all the same, to other bits than those of "
           "a run never interrupted; a new run can start from its weights with "
           "model.init"});
}

}  // namespace convoy
