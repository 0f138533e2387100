// SPDX-License-Identifier: Apache-2.0
//
// Makes text from files, peers and command lines safe to print: without terminal control
// sequences, and without passwords in addresses.

#pragma once

#include <string>
#include <string_view>

namespace convoy {

/// Replaces control characters, except newlines and tabs, and invalid UTF-8 by '?'. All
/// foreign text passes through it before it is printed or logged.
std::string printable(std::string_view text);

/// Returns an address with its password replaced: http://user:***@host/path.
std::string without_password(std::string_view address);

}  // namespace convoy
