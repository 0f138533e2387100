// SPDX-License-Identifier: Apache-2.0
//
// The names that settings may have because code registered them: everything else that a
// setting may name is an enum (setting_choices.h).

#pragma once

#include <string>
#include <vector>

namespace convoy {

struct KnownNames {
  std::vector<std::string> models;
  std::vector<std::string> datasets;
};

}  // namespace convoy
