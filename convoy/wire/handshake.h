// SPDX-License-Identifier: Apache-2.0
//
// The handshake of token_proof.h for a thread that may block: both sides of a connection
// prove that they know the job's token, before anything else is read.

#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string_view>

#include "convoy/base/clock.h"
#include "convoy/wire/bytes.h"

namespace convoy {

enum class Handshake {
  proven,
  silent,       // nothing came in time, or the connection closed
  incomplete,   // less came than there should
  foreign,      // what came is not convoy's
  wrong_token,  // or another job
};

/// "a wrong token".
std::string_view describe(Handshake outcome);

/// The side that connected: proves itself and has the other side prove itself.
Handshake prove_token(int socket, std::string_view token,
                      std::chrono::steady_clock::time_point deadline);

/// The side that listens: lets the other side prove itself first. Says no to who fails.
Handshake ask_for_token(int socket, std::string_view token,
                        std::chrono::steady_clock::time_point deadline);

/// Reads exactly so many bytes; fewer if the other side closes or time is up.
Bytes read_exactly(int socket, std::size_t count,
                   std::chrono::steady_clock::time_point deadline);

/// False if the connection is broken.
bool send_all(int socket, std::span<const std::byte> bytes);

/// For poll(): 0 if the time has passed.
int milliseconds_until(std::chrono::steady_clock::time_point time);

}  // namespace convoy
