// SPDX-License-Identifier: Apache-2.0

#include "convoy/wire/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

namespace convoy {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

constexpr auto kRetry = std::chrono::milliseconds(100);
constexpr int kBacklog = 4096;  // the kernel lowers it to net.core.somaxconn

/// Returns the addresses of a name; none, with the reason in `error`, if there are none.
Addresses resolve(const std::string& address, int port, int kind, std::string& error) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = kind;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed =
      ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failed != 0) error = ::gai_strerror(failed);
  return {found, &::freeaddrinfo};
}

std::string text_of(const sockaddr* address, socklen_t length, bool with_port) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(address, length, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  return with_port ? fmt::format("{}:{}", host.data(), port.data()) : host.data();
}

std::string own_address(int socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(socket, address, &length) != 0) return "?";
  return text_of(address, length, false);
}

std::string peer_text(int socket, bool with_port) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getpeername(socket, address, &length) != 0) return "an unknown peer";
  return text_of(address, length, with_port);
}

int own_port(int socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &length);
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
}

InputError cannot_listen(const std::string& address, int port, const std::string& why,
                         const std::string& hint) {
  return {InputKind::settings,
          {.where = fmt::format("rendezvous at {}:{}", address, port),
           .found = why,
           .expected = "an address of this machine and a port that is free",
           .hint = hint}};
}

std::string listen_hint(int errno_value) {
  if (errno_value == EADDRINUSE) return "another cluster.master_port; 0 picks a free one";
  if (errno_value == EADDRNOTAVAIL) {
    return "cluster.master_addr is the address of node 0, where this was started";
  }
  return "";
}

/// Starts to listen, or sets errno.
bool bind_and_listen(int socket, const addrinfo& to) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  return ::bind(socket, to.ai_addr, to.ai_addrlen) == 0 &&
         ::listen(socket, kBacklog) == 0;
}

/// Waits for a pending connection. Returns 0, or the errno of its failure.
int outcome_of_connect(int socket, Steady::time_point deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
  pollfd wait{socket, POLLOUT, 0};
  if (::poll(&wait, 1, static_cast<int>(std::max<long>(0, left.count()))) <= 0)
    return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

/// Makes one attempt. Returns an empty descriptor, with the reason in `error`, if it
/// failed.
Descriptor try_connect(const addrinfo& to, Steady::time_point deadline,
                       std::string& error) {
  Descriptor socket(
      ::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int failed =
      socket && ::connect(socket.get(), to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  if (failed == EINPROGRESS) failed = outcome_of_connect(socket.get(), deadline);
  if (failed != 0) {
    error = std::strerror(failed);
    return {};
  }
  set_blocking(socket.get());
  const int yes = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return socket;
}

}  // namespace

Listener listen_on(const std::string& address, int port) {
  std::string error;
  const Addresses found = resolve(address, port, SOCK_STREAM, error);
  if (!found) throw cannot_listen(address, port, error, "check the name");
  Descriptor socket(
      ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || !bind_and_listen(socket.get(), *found)) {
    throw cannot_listen(address, port, std::strerror(errno), listen_hint(errno));
  }
  const int number = socket.get();
  return {std::move(socket), own_address(number), own_port(number)};
}

std::string to_text(const ServiceAddress& service) {
  return fmt::format("{} at {}:{}", service.name, service.host, service.port);
}

Descriptor connect_to(const ServiceAddress& service, Steady::time_point deadline) {
  std::string error = "no address";
  do {
    const Addresses found = resolve(service.host, service.port, SOCK_STREAM, error);
    for (const addrinfo* to = found.get(); to; to = to->ai_next) {
      if (Descriptor socket = try_connect(*to, deadline, error)) return socket;
    }
    std::this_thread::sleep_for(std::min<Steady::duration>(
        kRetry, std::max(deadline - Steady::now(), Steady::duration::zero())));
  } while (Steady::now() < deadline);
  throw PeerError(service.rank,
                  fmt::format("{} cannot be reached: {}", to_text(service), error));
}

void set_blocking(int socket) {
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) & ~O_NONBLOCK);
}

void reserve_descriptors(std::size_t count, const std::string& what_for) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, count);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= count) return;
  throw InputError(
      InputKind::storage,
      {.where = "open files of this process (RLIMIT_NOFILE)",
       .found = fmt::format("at most {} ({} before)", limit.rlim_max, before),
       .expected = fmt::format("{}, for {}", count, what_for),
       .hint = fmt::format("ulimit -n {}, or fewer ranks per node", count)});
}

std::string local_address_towards(const std::string& address) {
  std::string error;
  const Addresses found = resolve(address, 1, SOCK_DGRAM, error);
  for (const addrinfo* to = found.get(); to; to = to->ai_next) {
    const Descriptor socket(::socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (socket && ::connect(socket.get(), to->ai_addr, to->ai_addrlen) == 0) {
      return own_address(socket.get());
    }
    error = std::strerror(errno);
  }
  throw PeerError(0, fmt::format("no route to {}: {}", address, error));
}

bool is_loopback(const std::string& address) {
  in_addr parsed{};
  const bool has_four_bytes = ::inet_pton(AF_INET, address.c_str(), &parsed) == 1;
  return address == "localhost" || address == "::1" ||
         (has_four_bytes && address.starts_with("127."));
}

std::string peer_name(int socket) { return peer_text(socket, /*with_port=*/true); }

bool is_from_here(int socket) {
  return peer_text(socket, /*with_port=*/false) == own_address(socket);
}

}  // namespace convoy
