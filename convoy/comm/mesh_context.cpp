// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/mesh_context.h"

#include <fcntl.h>
#include <gloo/transport/tcp/address.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "convoy/base/error.h"

namespace convoy {
namespace {

constexpr int kMostAttempts = 10;

sockaddr_in loopback_address(const ::gloo::transport::Pair& pair) {
  const ::gloo::transport::tcp::Address address(pair.address().bytes());
  sockaddr_in found{};
  std::memcpy(&found, &address.getSockaddr(), sizeof(found));
  return found;
}

Descriptor connect_to_own_port(const sockaddr_in& to) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* address = reinterpret_cast<const sockaddr*>(&to);
  if (!socket || ::connect(socket.get(), address, sizeof(to)) != 0) {
    throw std::runtime_error(std::string("own port: ") + std::strerror(errno));
  }
  return socket;
}

/// Returns an address that is greater than every other: Gloo lets the lower one listen.
std::vector<char> highest_address() {
  sockaddr_storage storage{};
  auto* highest = reinterpret_cast<sockaddr_in*>(&storage);
  highest->sin_family = AF_INET;
  highest->sin_addr.s_addr = INADDR_BROADCAST;
  return ::gloo::transport::tcp::Address(storage).bytes();
}

/// Returns the port of this end, or of the other end; 0 if there is none.
template <class Ask>
int port_of(int socket, const Ask& ask) {
  sockaddr_in address{};
  socklen_t length = sizeof(address);
  const int failed = ask(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return failed != 0 || address.sin_family != AF_INET ? 0 : ntohs(address.sin_port);
}

/// Returns the descriptor of this process that `socket`, also of this process, is
/// connected to; -1 if there is none.
int other_end_of(int socket) {
  const int here = port_of(socket, ::getsockname), there = port_of(socket, ::getpeername);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string name = entry.path().filename().string();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (port_of(number, ::getsockname) == there &&
        port_of(number, ::getpeername) == here) {
      return number;
    }
  }
  return -1;
}

/// Sets the options that Gloo sets.
void prepare(int connection) {
  const int yes = 1;
  ::fcntl(connection, F_SETFL, O_NONBLOCK);
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
}

}  // namespace

LoopbackDevice open_loopback_device() {
  return std::dynamic_pointer_cast<::gloo::transport::tcp::Device>(
      ::gloo::transport::tcp::CreateDevice(::gloo::transport::tcp::attr("127.0.0.1")));
}

MeshContext::MeshContext(const CommOptions& options, const LoopbackDevice& device)
    : ::gloo::Context(options.rank, options.ranks), loopback_(device) {
  device_ = device;
  transportContext_ = device->createContext(rank, size);
  setTimeout(options.timeout);
  transportContext_->setTimeout(options.timeout);
}

/// Replacing a descriptor removes it from Gloo's epoll set, so the new one is added.
void MeshContext::adopt(int peer, Descriptor connection) {
  prepare(connection.get());
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    auto& pair = transportContext_->createPair(peer);
    const Descriptor own = connect_to_own_port(loopback_address(*pair));
    pair->connect(highest_address());
    const int descriptor = other_end_of(own.get());
    if (descriptor < 0) continue;  // another process connected first
    check(::dup3(connection.get(), descriptor, O_CLOEXEC) == descriptor,
          "an open descriptor can be replaced");
    auto* handler = dynamic_cast<::gloo::transport::tcp::Handler*>(pair.get());
    check(handler != nullptr, "a pair handles its own events");
    loopback_->registerDescriptor(descriptor, EPOLLIN, handler);
    return;
  }
  throw std::runtime_error("other processes connected to every port of this machine");
}

}  // namespace convoy
