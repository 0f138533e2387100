// SPDX-License-Identifier: Apache-2.0

#include "convoy/wire/handshake.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "convoy/base/clock.h"
#include "convoy/wire/token_proof.h"

namespace convoy {
namespace {

/// The answer to a challenge. The first bytes alone show whether it is one.
Handshake read_answer(int socket, Steady::time_point deadline, Bytes& answer) {
  answer = read_exactly(socket, kMagic.size(), deadline);
  if (answer.empty()) return Handshake::silent;
  if (text_of(answer) != kMagic.substr(0, answer.size())) return Handshake::foreign;
  const Bytes rest = read_exactly(socket, kAnswerBytes - answer.size(), deadline);
  answer.insert(answer.end(), rest.begin(), rest.end());
  return answer.size() == kAnswerBytes ? Handshake::proven : Handshake::incomplete;
}

}  // namespace

std::string_view describe(Handshake outcome) {
  switch (outcome) {
    case Handshake::proven:
      return "the token";
    case Handshake::silent:
      return "said nothing";
    case Handshake::incomplete:
      return "said too little";
    case Handshake::foreign:
      return "no convoy process";
    case Handshake::wrong_token:
      return "a wrong token";
  }
  return "";
}

Handshake prove_token(int socket, std::string_view token, Steady::time_point deadline) {
  const Bytes challenge = read_exactly(socket, kChallengeBytes, deadline);
  if (challenge.empty()) return Handshake::silent;
  const auto theirs = nonce_of(challenge);
  if (!theirs) return Handshake::foreign;
  const Nonce ours = fresh_nonce();
  send_all(socket, answer(token, *theirs, ours));
  const Bytes reply = read_exactly(socket, kWelcomeBytes, deadline);
  return welcome_proves(reply, token, *theirs, ours) ? Handshake::proven
                                                     : Handshake::wrong_token;
}

Handshake ask_for_token(int socket, std::string_view token, Steady::time_point deadline) {
  const Nonce ours = fresh_nonce();
  send_all(socket, challenge(ours));
  Bytes answer;
  const Handshake read = read_answer(socket, deadline, answer);
  if (read != Handshake::proven) return read;
  if (!answer_proves(answer, token, ours)) {
    send_all(socket, Bytes(kWelcomeBytes));  // all zero: no
    return Handshake::wrong_token;
  }
  return send_all(socket, welcome(token, ours, *nonce_of(answer))) ? Handshake::proven
                                                                   : Handshake::silent;
}

Bytes read_exactly(int socket, std::size_t count, Steady::time_point deadline) {
  Bytes bytes(count);
  std::size_t have = 0;
  while (have < count) {
    pollfd wait{socket, POLLIN, 0};
    if (::poll(&wait, 1, milliseconds_until(deadline)) <= 0) break;
    const ssize_t got = ::recv(socket, bytes.data() + have, count - have, 0);
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

bool send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

int milliseconds_until(Steady::time_point time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - Steady::now());
  return static_cast<int>(std::clamp<long>(left.count(), 0, 1'000'000'000));
}

}  // namespace convoy
