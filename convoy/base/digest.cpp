// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/digest.h"

#include <openssl/evp.h>

#include "convoy/base/error.h"

namespace convoy {

struct Digest::Context {
  EVP_MD_CTX* handle = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(handle); }
};

Digest::Digest(DigestKind kind) : context_(std::make_unique<Context>()) {
  const EVP_MD* algorithm = kind == DigestKind::sha256 ? EVP_sha256() : EVP_md5();
  check(EVP_DigestInit_ex(context_->handle, algorithm, nullptr) == 1,
        "libcrypto knows SHA-256 and MD5");
}

Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

void Digest::add(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(context_->handle, bytes.data(), bytes.size()) == 1,
        "a digest takes any bytes");
}

std::vector<std::byte> Digest::finish() {
  std::vector<std::byte> digest(EVP_MAX_MD_SIZE);
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context_->handle,
                           reinterpret_cast<unsigned char*>(digest.data()), &size) == 1,
        "a digest ends once");
  digest.resize(size);
  return digest;
}

std::string hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace convoy
