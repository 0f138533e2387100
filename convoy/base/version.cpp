// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/version.h"

#include "version_info.h"

namespace convoy {

std::string version() { return CONVOY_VERSION " (" CONVOY_COMMIT ")"; }

}  // namespace convoy
