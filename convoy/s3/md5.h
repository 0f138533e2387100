// SPDX-License-Identifier: Apache-2.0
//
// Md5: what S3 compares uploads by, in the forms it wants (by OpenSSL's libcrypto). It
// finds damage, not intent: that is SHA-256's part.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace convoy {

using Md5Digest = std::vector<std::byte>;  // 16 of them

/// MD5 of bytes that come in pieces.
class Md5 {
 public:
  Md5();
  ~Md5();
  Md5(Md5&&) noexcept;
  Md5& operator=(Md5&&) noexcept;

  void add(std::span<const std::byte> bytes);

  /// Use once, last.
  Md5Digest digest();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

Md5Digest md5(std::span<const std::byte> bytes);

std::string hex(std::span<const std::byte> bytes);
std::string base64(std::span<const std::byte> bytes);

}  // namespace convoy
