// SPDX-License-Identifier: Apache-2.0
//
// A CostProfile as a JSON file, so that predictions can be repeated and compared.

#pragma once

#include <filesystem>

#include "convoy/cost_model/cost_profile.h"

namespace convoy {

/// Throws InputError of kind `storage`.
void write_profile(const CostProfile& profile, const std::filesystem::path& path);

/// Throws InputError if the file cannot be read, or is not a profile.
CostProfile read_profile(const std::filesystem::path& path);

}  // namespace convoy
