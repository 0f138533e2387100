// SPDX-License-Identifier: Apache-2.0
//
// Sha256: SHA-256 of bytes that are added in pieces, in hexadecimal digits.

#pragma once

#include <span>
#include <string>

#include "convoy/base/digest.h"

namespace convoy {

class Sha256 {
 public:
  void add(std::span<const std::byte> bytes) { digest_.add(bytes); }

  /// Returns the digest of all added bytes, as 64 hexadecimal digits. Called once, last.
  std::string hex() { return convoy::hex(digest_.finish()); }

 private:
  Digest digest_{DigestKind::sha256};
};

inline std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.hex();
}

}  // namespace convoy
