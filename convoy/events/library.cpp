// SPDX-License-Identifier: Apache-2.0

#include "convoy/events/library.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/common.h>

namespace convoy {

std::string event_library() {
  constexpr int kVersion = GOOGLE_PROTOBUF_VERSION;
  return fmt::format("protobuf {}.{}.{}", kVersion / 1'000'000, kVersion / 1000 % 1000,
                     kVersion % 1000);
}

}  // namespace convoy
