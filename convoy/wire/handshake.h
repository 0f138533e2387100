// SPDX-License-Identifier: Apache-2.0
//
// The client's side of the handshake of token_proof.h, for a thread that may block: both
// sides of a connection prove the job's token before anything else is read. The server's
// side does not block (admission.h).

#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "convoy/base/clock.h"
#include "convoy/system/descriptor.h"
#include "convoy/wire/bytes.h"
#include "convoy/wire/socket.h"

namespace convoy {

enum class Handshake {
  proven,
  silent,       // nothing was received in time
  closed,       // the other side closed the connection
  incomplete,   // less than expected was received
  foreign,      // what was received is not from convoy
  wrong_token,  // refused: another token
};

/// "a wrong token".
std::string_view describe(Handshake outcome);

/// Proves the token and verifies the other side's proof.
Handshake prove_token(int socket, std::string_view token,
                      std::chrono::steady_clock::time_point deadline);

/// Connects to a service; both sides prove the token. A server under load may close a
/// connection or leave it unanswered: the client tries again until `deadline`.
///
/// Throws InputError of kind `admission` if the service has another token or is not
/// convoy's, and PeerError, naming the service and its rank, when time is up.
Descriptor connect_with_token(const ServiceAddress& service, std::string_view token,
                              std::chrono::steady_clock::time_point deadline);

/// Reads exactly that many bytes; fewer if the other side closes or time is up.
Bytes read_exactly(int socket, std::size_t count,
                   std::chrono::steady_clock::time_point deadline);

/// Returns false if the connection is broken.
bool send_all(int socket, std::span<const std::byte> bytes);

/// A timeout for poll(): 0 if the time has passed.
int milliseconds_until(std::chrono::steady_clock::time_point time);

}  // namespace convoy
