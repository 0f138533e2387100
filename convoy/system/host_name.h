// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace convoy {

/// This machine's name in printable form; "localhost" if it has none.
std::string host_name();

}  // namespace convoy
