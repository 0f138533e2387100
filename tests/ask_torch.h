// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's own answer: a script of ours beside the test, fed with JSON.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/ask_python.h"

namespace convoy {

/// What `script`, a path below tests/, prints when it reads the request.
inline nlohmann::json ask_torch(const std::string& script,
                                const nlohmann::json& request) {
  return ask_python(script, request);
}

}  // namespace convoy
