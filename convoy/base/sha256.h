// SPDX-License-Identifier: Apache-2.0
//
// Sha256: SHA-256 of bytes that come in pieces (by OpenSSL's libcrypto).

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace convoy {

class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void add(std::span<const std::byte> bytes);

  /// The digest of everything added, as 64 hexadecimal digits. Use once, last.
  std::string hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace convoy
