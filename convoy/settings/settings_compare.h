// SPDX-License-Identifier: Apache-2.0
//
// The settings that have to be the same on all ranks of a job.

#pragma once

#include <string>

#include "convoy/settings/settings.h"

namespace convoy {

/// One line "name=value" per setting, without those that are per machine: where its data
/// is, its number, how it calls machine 0, its threads.
std::string compared_settings(const Settings& settings);

}  // namespace convoy
