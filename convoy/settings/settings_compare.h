// SPDX-License-Identifier: Apache-2.0
//
// What of the settings has to be the same on all ranks of a job.

#pragma once

#include <string>

#include "convoy/settings/settings.h"

namespace convoy {

/// "name=value" a line, without what may differ from machine to machine: where its data
/// is, its number, how it calls machine 0, its threads.
std::string compared_settings(const Settings& settings);

}  // namespace convoy
