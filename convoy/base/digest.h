// SPDX-License-Identifier: Apache-2.0
//
// Digest: a checksum of bytes that come in pieces (by OpenSSL's libcrypto).

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace convoy {

enum class DigestKind { sha256, md5 };

class Digest {
 public:
  explicit Digest(DigestKind kind);
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  void add(std::span<const std::byte> bytes);

  /// The digest of everything added. Call it once, last.
  std::vector<std::byte> finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Two lower-case digits per byte.
std::string hex(std::span<const std::byte> bytes);

}  // namespace convoy
