// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/host_name.h"

#include <unistd.h>

#include <array>

#include "convoy/base/printable.h"

namespace convoy {

std::string host_name() {
  std::array<char, 256> name{};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0';
  return known ? printable(name.data()) : "localhost";
}

}  // namespace convoy
