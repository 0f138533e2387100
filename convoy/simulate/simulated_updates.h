// SPDX-License-Identifier: Apache-2.0
//
// The updates of a virtual cluster, by the settings' strategy.

#pragma once

#include "convoy/updates/update_source.h"

namespace convoy {

/// Of so many workers or ranks. What cannot be simulated is refused when they are made:
/// InputError.
UpdateSourceFactory simulated_updates(int workers);

}  // namespace convoy
