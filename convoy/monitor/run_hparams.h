// SPDX-License-Identifier: Apache-2.0
//
// Which settings TensorBoard's HParams page compares runs by.

#pragma once

#include "convoy/events/event_writer.h"
#include "convoy/settings/settings.h"

namespace convoy {

/// Those that people vary most, and whatever else is not at its default; not those that
/// only say where things are and what is written. By setting's name.
Hparams run_hparams(const Settings& settings);

}  // namespace convoy
