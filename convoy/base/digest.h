// SPDX-License-Identifier: Apache-2.0
//
// Digest: a checksum of bytes that are added in pieces (OpenSSL's libcrypto).

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

  /// Returns the digest of all added bytes. Called once, last.
  std::vector<std::byte> finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Formats two lower-case digits per byte.
std::string hex(std::span<const std::byte> bytes);

}  // namespace convoy
