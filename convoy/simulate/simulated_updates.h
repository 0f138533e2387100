// SPDX-License-Identifier: Apache-2.0
//
// The update sources of a virtual cluster, by strategy.

#pragma once

#include "convoy/updates/update_source.h"

namespace convoy {

/// Makes the source for that many workers or ranks. The factory throws InputError for
/// what cannot be simulated.
UpdateSourceFactory simulated_updates(int workers);

}  // namespace convoy
