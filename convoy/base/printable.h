// SPDX-License-Identifier: Apache-2.0
//
// What may be printed: text from files, peers and command lines, without what a terminal
// would take for a command, and addresses without their passwords.

#pragma once

#include <string>
#include <string_view>

namespace convoy {

/// The text with '?' for control characters, but for line ends and tabs, and for bytes
/// that are no UTF-8. Whoever prints or logs foreign text asks for it.
std::string printable(std::string_view text);

/// An address without the password in it: http://user:***@host/path.
std::string without_password(std::string_view address);

}  // namespace convoy
