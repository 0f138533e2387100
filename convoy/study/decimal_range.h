// SPDX-License-Identifier: Apache-2.0
//
// DecimalRange: range(start, stop, step) of numbers as people write them, computed in
// decimal digits, so that range(0.1, 0.4, 0.1) is 0.1, 0.2 and 0.3.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace convoy {

/// The numbers from `start` (0) in steps of `step` (1), without `stop`, as texts. The
/// arguments are those of Python's range: stop; start, stop; or start, stop, step.
///
/// Throws InputError of kind `settings`, which names `where`, for arguments that are no
/// numbers of up to 15 digits, a step of 0, or more than `most` numbers, which are
/// counted first.
std::vector<std::string> decimal_range(std::span<const std::string> arguments,
                                       const std::string& where, std::size_t most);

}  // namespace convoy
