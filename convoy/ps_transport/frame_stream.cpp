// SPDX-License-Identifier: Apache-2.0

#include "convoy/ps_transport/frame_stream.h"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "convoy/base/error.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMostParts = 64;                       // per system call
constexpr std::size_t kMostReceived = std::size_t{1} << 20;  // bytes per system call

template <class Value>
void set_option(int socket, int level, int name, const Value& value) {
  ::setsockopt(socket, level, name, &value, sizeof(value));
}

/// Sends three keep-alive probes in the second half of the time without data.
void keep_alive(int socket, milliseconds silence) {
  const int seconds = static_cast<int>(silence.count() / 1000);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, std::clamp(seconds / 2, 1, 3600));
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::clamp(seconds / 6, 1, 3600));
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
             static_cast<unsigned>(silence.count()));
}

/// Limits the waiting time of each call.
void limit_waits(int socket, milliseconds silence) {
  const timeval limit{.tv_sec = silence.count() / 1000,
                      .tv_usec = silence.count() % 1000 * 1000};
  set_option(socket, SOL_SOCKET, SO_RCVTIMEO, limit);
  set_option(socket, SOL_SOCKET, SO_SNDTIMEO, limit);
}

iovec part_of(FrameStream::Part bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

/// Removes what was sent.
std::span<iovec> without(std::size_t sent, std::span<iovec> parts) {
  while (!parts.empty() && sent >= parts.front().iov_len) {
    sent -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (!parts.empty()) {
    parts.front().iov_base = static_cast<std::byte*>(parts.front().iov_base) + sent;
    parts.front().iov_len -= sent;
  }
  return parts;
}

}  // namespace

// The sizes of socket buffers are not set: the kernel grows them up to tcp_rmem and
// tcp_wmem, which is usually more than a program may request.
FrameStream::FrameStream(Descriptor socket, milliseconds silence, PortTraffic& traffic)
    : socket_(std::move(socket)), traffic_(traffic) {
  set_option(socket_.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  set_silence(silence);
}

void FrameStream::set_silence(milliseconds silence) {
  silence_ = std::clamp(silence, milliseconds(1), milliseconds(1 << 30));
  keep_alive(socket_.get(), silence_);
  limit_waits(socket_.get(), silence_);
}

/// Makes the error from the errno of a failed call.
ConnectionLost FrameStream::lost(int error) const {
  if (error == EPIPE || error == ECONNRESET)
    return ConnectionLost("its connection closed");
  if (error != EAGAIN && error != ETIMEDOUT) return ConnectionLost(std::strerror(error));
  return ConnectionLost(fmt::format("no data received within {:g} s",
                                    std::chrono::duration<double>(silence_).count()));
}

void FrameStream::send(FrameKind kind, std::span<const Part> parts) {
  FrameHead head{.kind = kind};
  parts_.assign(1, part_of(bytes_in(head)));
  for (const Part part : parts) {
    head.length += part.size();
    parts_.push_back(part_of(part));
  }
  for (std::span<iovec> left = parts_; !left.empty();) {
    left = without(send_some(left), left);
  }
}

std::size_t FrameStream::send_some(std::span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = std::min(parts.size(), kMostParts);
  const ssize_t sent = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
  if (sent < 0 && errno == EINTR) return 0;
  if (sent < 0) throw lost(errno);
  traffic_.sent += static_cast<std::uint64_t>(sent);
  return static_cast<std::size_t>(sent);
}

FrameHead FrameStream::receive_head() {
  FrameHead head;
  receive(writable_bytes_in(head));
  return head;
}

void FrameStream::receive(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket_.get(), bytes.data(),
                               std::min(bytes.size(), kMostReceived), MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw lost(got == 0 ? EPIPE : errno);
    const auto count = static_cast<std::size_t>(got);
    received_.fetch_add(count, std::memory_order_relaxed);
    traffic_.received.fetch_add(count, std::memory_order_relaxed);
    bytes = bytes.subspan(count);
  }
}

void FrameStream::put(std::span<const Part> parts, std::span<std::byte> shared) {
  for (const Part part : parts) {
    check(part.size() <= shared.size(), "shared memory has space for a push");
    std::memcpy(shared.data(), part.data(), part.size());
    shared = shared.subspan(part.size());
    traffic_.sent += part.size();
  }
}

void FrameStream::take(std::span<std::byte> bytes, Part shared) {
  check(bytes.size() <= shared.size(), "shared memory has the numbers");
  std::memcpy(bytes.data(), shared.data(), bytes.size());
  traffic_.received += bytes.size();
}

void FrameStream::shut() const { ::shutdown(socket_.get(), SHUT_RDWR); }

bool FrameStream::is_acknowledged() const {
  int unacknowledged = 0;
  return ::ioctl(socket_.get(), SIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0;
}

}  // namespace convoy
