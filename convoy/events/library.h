// SPDX-License-Identifier: Apache-2.0
//
// The library that encodes events.

#pragma once

#include <string>

namespace convoy {

/// "protobuf 3.21.12"
std::string event_library();

}  // namespace convoy
