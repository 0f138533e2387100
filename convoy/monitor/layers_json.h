// SPDX-License-Identifier: Apache-2.0
//
// The layers of a model as JSON: for `convoy models --json`, and for a run's page.

#pragma once

#include <nlohmann/json_fwd.hpp>

#include "convoy/network/model.h"

namespace convoy {

/// [{"layer": kind, "name", "sources": numbers of layers, -1 is the model's input,
/// "output": [channels, height, width], "parameters", "forward_flops",
/// "activation_bytes"}]; cost and bytes are those of one image's forward pass.
nlohmann::ordered_json layers_json(const Model& model);

}  // namespace convoy
