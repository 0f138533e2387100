// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/store_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "convoy/wire/socket.h"

namespace convoy {
namespace {

constexpr std::size_t kMostUnread = std::size_t{16} << 20;

}  // namespace

StoreConnection::StoreConnection(Descriptor connected)
    : socket(std::move(connected)),
      peer(peer_name(socket.get())),
      out(challenge(nonce)) {}

bool StoreConnection::read() {
  std::array<std::byte, 1 << 14> block;
  const ssize_t got = ::recv(socket.get(), block.data(), block.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  last_heard = Steady::now();
  std::span<const std::byte> bytes =
      std::span(block).first(static_cast<std::size_t>(got));
  if (stage == Stage::stranger) {
    // What follows the proof is kept for later, unread.
    const std::size_t more = std::min(kAnswerBytes - proof.size(), bytes.size());
    proof.insert(proof.end(), bytes.begin(),
                 bytes.begin() + static_cast<std::ptrdiff_t>(more));
    bytes = bytes.subspan(more);
  }
  in.add(bytes);
  return true;
}

bool StoreConnection::write() {
  if (out.empty()) return true;
  const ssize_t sent = ::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
  if (sent < 0) return (errno == EAGAIN || errno == EINTR) && out.size() <= kMostUnread;
  out.erase(out.begin(), out.begin() + sent);
  return true;
}

}  // namespace convoy
