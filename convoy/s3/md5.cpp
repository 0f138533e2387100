// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/md5.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "convoy/base/error.h"

namespace convoy {

struct Md5::Context {
  EVP_MD_CTX* handle = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(handle); }
};

Md5::Md5() : context_(std::make_unique<Context>()) {
  check(EVP_DigestInit_ex(context_->handle, EVP_md5(), nullptr) == 1,
        "libcrypto knows MD5");
}

Md5::~Md5() = default;
Md5::Md5(Md5&&) noexcept = default;
Md5& Md5::operator=(Md5&&) noexcept = default;

void Md5::add(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(context_->handle, bytes.data(), bytes.size()) == 1,
        "a digest takes any bytes");
}

Md5Digest Md5::digest() {
  Md5Digest digest(16);
  check(EVP_DigestFinal_ex(context_->handle,
                           reinterpret_cast<unsigned char*>(digest.data()), nullptr) == 1,
        "a digest ends once");
  return digest;
}

Md5Digest md5(std::span<const std::byte> bytes) {
  Md5 digest;
  digest.add(bytes);
  return digest.digest();
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes)
    text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

std::string base64(std::span<const std::byte> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                  reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

}  // namespace convoy
