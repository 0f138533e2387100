// SPDX-License-Identifier: Apache-2.0
//
// The models convoy knows by name.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "convoy/network/model.h"

namespace convoy {

struct ModelEntry {
  std::string name;
  std::string description;
  Shape usual_input;
  Model (*make)(Shape input, int classes);
};

std::span<const ModelEntry> model_entries();

std::vector<std::string> model_names();

/// Throws InputError of kind `settings`, with the nearest name, if there is none such.
const ModelEntry& find_model(const std::string& name);

Model make_model(const std::string& name, Shape input, int classes);

}  // namespace convoy
