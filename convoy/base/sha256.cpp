// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/sha256.h"

#include <openssl/evp.h>

#include "convoy/base/error.h"

namespace convoy {

struct Sha256::Context {
  EVP_MD_CTX* handle = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(handle); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  check(EVP_DigestInit_ex(context_->handle, EVP_sha256(), nullptr) == 1,
        "libcrypto knows SHA-256");
}

Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(context_->handle, bytes.data(), bytes.size()) == 1,
        "a digest takes any bytes");
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  check(EVP_DigestFinal_ex(context_->handle, digest, &size) == 1, "a digest ends once");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 digest;
  digest.add(bytes);
  return digest.hex();
}

}  // namespace convoy
