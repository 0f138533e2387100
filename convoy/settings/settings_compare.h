// SPDX-License-Identifier: Apache-2.0
//
// The settings that must be equal on all ranks of a job.

#pragma once

#include <string>

#include "convoy/settings/settings.h"

namespace convoy {

/// One line "name=value" per setting, without those that are per machine: the data's
/// folder, the node's rank, the address of node 0, the threads.
std::string compared_settings(const Settings& settings);

}  // namespace convoy
