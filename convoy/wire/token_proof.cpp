// SPDX-License-Identifier: Apache-2.0

#include "convoy/wire/token_proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {
namespace {

template <class Part>
void append_part(const Part& part, Bytes& out) {
  for (const std::byte byte : part) out.push_back(byte);
}

/// Requires: `bytes` is long enough.
Proof proof_at(std::span<const std::byte> bytes, std::size_t begin) {
  Proof proof;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), proof.size(),
              proof.begin());
  return proof;
}

}  // namespace

Nonce fresh_nonce() {
  Nonce nonce;
  const int made = ::RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()),
                                static_cast<int>(nonce.size()));
  check(made == 1, "the system has random bytes");
  return nonce;
}

Proof prove(std::string_view token, Side side, const Nonce& server, const Nonce& client) {
  Bytes text = bytes_of(side == Side::client ? "convoy client" : "convoy server");
  append_part(server, text);
  append_part(client, text);
  Proof proof;
  unsigned length = 0;
  ::HMAC(::EVP_sha256(), token.data(), static_cast<int>(token.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(proof.data()), &length);
  check(length == proof.size(), "an HMAC of SHA-256 has 32 bytes");
  return proof;
}

bool equal(const Proof& left, const Proof& right) {
  return ::CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

Bytes challenge(const Nonce& server) {
  Bytes bytes = bytes_of(kMagic);
  append_part(server, bytes);
  return bytes;
}

Bytes answer(std::string_view token, const Nonce& server, const Nonce& client) {
  Bytes bytes = challenge(client);
  append_part(prove(token, Side::client, server, client), bytes);
  return bytes;
}

Bytes welcome(std::string_view token, const Nonce& server, const Nonce& client) {
  Bytes bytes{std::byte{1}};
  append_part(prove(token, Side::server, server, client), bytes);
  return bytes;
}

std::optional<Nonce> nonce_of(std::span<const std::byte> bytes) {
  if (bytes.size() < kChallengeBytes || text_of(bytes.first(kMagic.size())) != kMagic)
    return std::nullopt;
  Nonce nonce;
  std::ranges::copy(bytes.subspan(kMagic.size(), nonce.size()), nonce.begin());
  return nonce;
}

bool answer_proves(std::span<const std::byte> answer, std::string_view token,
                   const Nonce& server) {
  const std::optional<Nonce> client = nonce_of(answer);
  return client && answer.size() == kAnswerBytes &&
         equal(proof_at(answer, kChallengeBytes),
               prove(token, Side::client, server, *client));
}

bool welcome_proves(std::span<const std::byte> welcome, std::string_view token,
                    const Nonce& server, const Nonce& client) {
  return welcome.size() == kWelcomeBytes && welcome.front() == std::byte{1} &&
         equal(proof_at(welcome, 1), prove(token, Side::server, server, client));
}

}  // namespace convoy
