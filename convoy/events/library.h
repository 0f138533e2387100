// SPDX-License-Identifier: Apache-2.0
//
// What events are encoded with.

#pragma once

#include <string>

namespace convoy {

/// "protobuf 3.21.12"
std::string event_library();

}  // namespace convoy
