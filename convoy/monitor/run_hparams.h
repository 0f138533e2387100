// SPDX-License-Identifier: Apache-2.0
//
// Selects the settings by which TensorBoard's HParams page compares runs.

#pragma once

#include "convoy/events/event_writer.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// Returns the settings that people vary most, and all others that are not at their
/// defaults, except those about files. By setting's name.
Hparams run_hparams(const Settings& settings);

}  // namespace convoy
