// SPDX-License-Identifier: Apache-2.0
//
// After which updates of an epoch the weights are saved (checkpoint.saves_per_epoch).
//
//   nine updates, three saves:   1 . . . 5 . . . 9

#pragma once

#include <algorithm>
#include <cstddef>

namespace convoy {

/// Whether weights are saved after update number `update` of an epoch, counted from 1.
/// The saves are evenly spaced from the first update to the last; a single one is at the
/// last; there are no more than updates.
inline bool saves_weights_after(std::size_t update, std::size_t updates, int per_epoch) {
  if (per_epoch <= 0) return false;
  if (per_epoch == 1 || updates == 1) return update == updates;
  const std::size_t intervals =
      std::min(static_cast<std::size_t>(per_epoch), updates) - 1;
  const std::size_t index = update - 1, last = updates - 1;
  const std::size_t save = (index * intervals + last - 1) / last;  // the first from here
  return save * last / intervals == index;
}

}  // namespace convoy
