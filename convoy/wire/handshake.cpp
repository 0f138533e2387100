// SPDX-License-Identifier: Apache-2.0

#include "convoy/wire/handshake.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/wire/token_proof.h"

namespace convoy {
namespace {

constexpr auto kAttempt = std::chrono::seconds(10);  // for one handshake
constexpr auto kFirstPause = std::chrono::milliseconds(10);
constexpr auto kLongestPause = std::chrono::milliseconds(500);

InputError not_admitted(const ServiceAddress& service, Handshake outcome) {
  if (outcome == Handshake::wrong_token) {
    return {InputKind::admission,
            {.where = to_text(service),
             .found = "another token than this process has",
             .expected = "the same token",
             .hint = "CONVOY_TOKEN or CONVOY_TOKEN_FILE must be the same everywhere; or "
                     "another job uses this port"}};
  }
  return {InputKind::admission,
          {.where = to_text(service),
           .found = "a service that is not convoy's",
           .expected = service.name + " of this job",
           .hint = "another job or program uses this port; another "
                   "cluster.master_port may be free"}};
}

PeerError gave_up(const ServiceAddress& service, Handshake outcome, int attempts) {
  const char* const how = outcome == Handshake::closed
                              ? "closed the connection before admission"
                              : "does not answer";
  return {service.rank, fmt::format("{} {} ({} attempt{})", to_text(service), how,
                                    attempts, attempts == 1 ? "" : "s")};
}

/// Fewer bytes than expected were received: the connection was closed, or time is up.
Handshake closed_or_silent(Steady::time_point deadline) {
  return Steady::now() < deadline ? Handshake::closed : Handshake::silent;
}

}  // namespace

std::string_view describe(Handshake outcome) {
  switch (outcome) {
    case Handshake::proven:
      return "the token";
    case Handshake::silent:
      return "sent nothing";
    case Handshake::closed:
      return "the connection was closed";
    case Handshake::incomplete:
      return "sent only a part of a handshake";
    case Handshake::foreign:
      return "no convoy process";
    case Handshake::wrong_token:
      return "a wrong token";
  }
  return "";
}

Handshake prove_token(int socket, std::string_view token, Steady::time_point deadline) {
  const Bytes challenge = read_exactly(socket, kChallengeBytes, deadline);
  const auto theirs = nonce_of(challenge);
  if (!theirs) {
    const bool torn = bytes_of(kMagic.substr(0, challenge.size())) == challenge;
    return torn ? closed_or_silent(deadline) : Handshake::foreign;
  }
  const Nonce ours = fresh_nonce();
  send_all(socket, answer(token, *theirs, ours));
  const Bytes reply = read_exactly(socket, kWelcomeBytes, deadline);
  if (reply.size() < kWelcomeBytes) return closed_or_silent(deadline);
  return welcome_proves(reply, token, *theirs, ours) ? Handshake::proven
                                                     : Handshake::wrong_token;
}

Descriptor connect_with_token(const ServiceAddress& service, std::string_view token,
                              Steady::time_point deadline) {
  auto pause = kFirstPause;
  for (int attempts = 1;; ++attempts) {
    Descriptor socket = connect_to(service, deadline);
    const Steady::time_point limit = std::min(deadline, Steady::now() + kAttempt);
    const Handshake outcome = prove_token(socket.get(), token, limit);
    if (outcome == Handshake::proven) return socket;
    const bool may_pass = outcome == Handshake::closed || outcome == Handshake::silent;
    if (!may_pass) throw not_admitted(service, outcome);
    if (Steady::now() + pause >= deadline) throw gave_up(service, outcome, attempts);
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

Bytes read_exactly(int socket, std::size_t count, Steady::time_point deadline) {
  Bytes bytes(count);
  std::size_t have = 0;
  while (have < count) {
    pollfd wait{socket, POLLIN, 0};
    const int ready = ::poll(&wait, 1, milliseconds_until(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    const ssize_t got = ::recv(socket, bytes.data() + have, count - have, 0);
    if (got < 0 && errno == EINTR) continue;
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
