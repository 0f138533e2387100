// SPDX-License-Identifier: Apache-2.0
//
// Names of tensors in other programs' files, as convoy names them.

#pragma once

#include <string>
#include <string_view>

namespace convoy {

/// Removes the prefixes that wrappers put before every name ("module.", "model."), and
/// gives the tensors of torchvision's vision transformers timm's names.
std::string own_name(std::string_view name);

}  // namespace convoy
