// SPDX-License-Identifier: Apache-2.0
//
// The names of settings that code registers; all other names are enums
// (setting_choices.h).

#pragma once

#include <string>
#include <vector>

namespace convoy {

struct KnownNames {
  std::vector<std::string> models;
  std::vector<std::string> datasets;
};

}  // namespace convoy
