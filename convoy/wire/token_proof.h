// SPDX-License-Identifier: Apache-2.0
//
// How both ends of a connection prove that they know the job's token: the binary format.
//
//   server -> client   kMagic, nonce                           40 bytes
//   client -> server   kMagic, nonce, HMAC of both nonces      72 bytes
//   server -> client   one byte (1: welcome), HMAC of both     33 bytes
//
// The HMACs (SHA-256, keyed with the token, a different label for each side) prove that
// both know the token; nonces are fresh, so a recorded handshake is useless. Before that
// proof nothing else is read. What follows is not signed: an attacker who can modify
// packets is not kept out.

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "convoy/wire/bytes.h"

namespace convoy {

inline constexpr std::string_view kMagic = "convoy 1";
inline constexpr std::size_t kNonceBytes = 32;

using Nonce = std::array<std::byte, kNonceBytes>;
using Proof = std::array<std::byte, 32>;

inline constexpr std::size_t kChallengeBytes = kMagic.size() + kNonceBytes;
inline constexpr std::size_t kAnswerBytes = kChallengeBytes + sizeof(Proof);
inline constexpr std::size_t kWelcomeBytes = 1 + sizeof(Proof);

enum class Side { client, server };

/// Random bytes, from the system's source for secrets.
Nonce fresh_nonce();

/// What only a process that knows `token` can compute for that side and these nonces.
Proof prove(std::string_view token, Side side, const Nonce& server, const Nonce& client);

/// Compares in constant time.
bool equal(const Proof& left, const Proof& right);

Bytes challenge(const Nonce& server);
Bytes answer(std::string_view token, const Nonce& server, const Nonce& client);
Bytes welcome(std::string_view token, const Nonce& server, const Nonce& client);

/// Returns the nonce of a challenge or an answer, if the magic is right.
std::optional<Nonce> nonce_of(std::span<const std::byte> bytes);
bool answer_proves(std::span<const std::byte> answer, std::string_view token,
                   const Nonce& server);
bool welcome_proves(std::span<const std::byte> welcome, std::string_view token,
                    const Nonce& server, const Nonce& client);

}  // namespace convoy
