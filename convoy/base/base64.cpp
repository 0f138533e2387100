// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/base64.h"

#include <openssl/evp.h>

namespace convoy {

std::string base64(std::span<const std::byte> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

}  // namespace convoy
