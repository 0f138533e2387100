// SPDX-License-Identifier: Apache-2.0

#include "convoy/rendezvous/store_connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace convoy {
namespace {

constexpr std::size_t kMostUnread = std::size_t{16} << 20;

}  // namespace

bool StoreConnection::read() {
  std::array<std::byte, 1 << 14> block;
  const ssize_t got = ::recv(socket.get(), block.data(), block.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  last_heard = Steady::now();
  in.add(std::span(block).first(static_cast<std::size_t>(got)));
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
