// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/mesh_sockets.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <random>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/sha256.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kSecretBytes = 16;
constexpr std::size_t kGreetingBytes = 64;  // a SHA-256 in hexadecimal digits
constexpr std::size_t kHelloBytes = 16 + kGreetingBytes;

/// The maximum number of connections without a hello that are kept.
constexpr std::size_t kMostStrangers = 64;
constexpr milliseconds kRetryPause{50};

[[noreturn]] void refuse_address(const std::string& address, const std::string& why) {
  throw InputError(InputKind::settings, {.where = "address to listen on",
                                         .found = address,
                                         .expected = "an address of this machine",
                                         .hint = why});
}

void require_own_address(const std::string& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int error = ::getaddrinfo(address.c_str(), nullptr, &hints, &found)) {
    refuse_address(address, ::gai_strerror(error));
  }
  const Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int bound = ::bind(socket.get(), found->ai_addr, found->ai_addrlen);
  const int error = errno;
  ::freeaddrinfo(found);
  if (bound != 0) refuse_address(address, std::strerror(error));
}

std::vector<std::byte> random_secret() {
  std::random_device source;
  std::vector<std::byte> bytes(kSecretBytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(source());
  return bytes;
}

std::string invitation_key(const std::string& name, int rank) {
  return fmt::format("{}/address/{}", name, rank);
}

std::vector<std::byte> ask_for_invitation(KeyValueStore& store,
                                          const CommOptions& options, int peer) {
  try {
    return store.get(invitation_key(options.name, peer), options.timeout);
  } catch (const PeerError& error) {
    throw PeerError(peer, fmt::format("did not connect ({})", error.what()));
  }
}

int milliseconds_until(Steady::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Steady::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 1000 * 1000));
}

/// Reads what has arrived, up to `most` bytes in total. Returns false if the other end
/// has closed.
bool read_more(int socket, std::string& text, std::size_t most) {
  while (text.size() < most) {
    std::array<char, kHelloBytes> piece;
    const ssize_t count = ::recv(
        socket, piece.data(), std::min(piece.size(), most - text.size()), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return true;
}

bool write_all(int socket, const std::string& text) {
  const ssize_t count = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  return count == static_cast<ssize_t>(text.size());
}

/// Returns why the answer of `bytes` bytes was not received; empty if it was.
std::string read_answer(int socket, std::string& answer, std::size_t bytes,
                        Steady::time_point deadline) {
  while (answer.size() < bytes) {
    pollfd wait{socket, POLLIN, 0};
    if (::poll(&wait, 1, milliseconds_until(deadline)) == 0) return "no answer";
    if (!read_more(socket, answer, bytes)) return "it closed the connection";
  }
  return "";
}

}  // namespace

MeshSockets::MeshSockets(const CommOptions& options, KeyValueStore& store)
    : options_(options),
      secret_(random_secret()),
      invitations_(static_cast<std::size_t>(options.ranks)),
      sockets_(static_cast<std::size_t>(options.ranks)) {
  require_own_address(options.address);
  const Listener listener = listen_on(options.address, 0);
  publish(store, listener);
  for (int peer = 0; peer < options.ranks; ++peer) {
    if (peer == options.rank) continue;
    invitations_[static_cast<std::size_t>(peer)] = read_invitation(store, peer);
  }
  invitations_[static_cast<std::size_t>(options.rank)].secret = secret_;
  for (int peer = 0; peer < options.rank; ++peer) {
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      connect_to_peer(peer, channel);
    }
  }
  accept_all(listener);
}

Descriptor MeshSockets::take(std::size_t channel, int peer) {
  return std::move(socket(channel, peer));
}

Descriptor& MeshSockets::socket(std::size_t channel, int peer) {
  return sockets_[static_cast<std::size_t>(peer)][channel];
}

/// A secret, followed by "<port> <address>".
void MeshSockets::publish(KeyValueStore& store, const Listener& listener) const {
  std::vector<std::byte> bytes = secret_;
  const std::string where = fmt::format("{} {}", listener.port, listener.address);
  const auto raw = std::as_bytes(std::span(where));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
  store.set(invitation_key(options_.name, options_.rank), bytes);
}

MeshSockets::Invitation MeshSockets::read_invitation(KeyValueStore& store,
                                                     int peer) const {
  const std::vector<std::byte> bytes = ask_for_invitation(store, options_, peer);
  const auto text = std::span(bytes).subspan(std::min(kSecretBytes, bytes.size()));
  const std::string where(reinterpret_cast<const char*>(text.data()), text.size());
  Invitation invitation;
  const auto [end, error] =
      std::from_chars(where.data(), where.data() + where.size(), invitation.port);
  if (error != std::errc() || end == where.data() + where.size()) {
    throw PeerError(peer, "published an invalid address");
  }
  invitation.secret.assign(bytes.begin(), bytes.begin() + kSecretBytes);
  invitation.address = end + 1;
  return invitation;
}

/// Returns what `from` sends to `to` as proof of its identity: it needs both secrets.
std::string MeshSockets::greeting(int from, int to, std::size_t channel) const {
  const std::string direction = fmt::format("{} to {}, channel {}", from, to, channel);
  Sha256 hash;
  hash.add(invitations_[static_cast<std::size_t>(from)].secret);
  hash.add(invitations_[static_cast<std::size_t>(to)].secret);
  hash.add(std::as_bytes(std::span(direction)));
  return hash.hex();
}

std::string MeshSockets::hello_to(int peer, std::size_t channel) const {
  return fmt::format("{:>8x}{:>8x}{}", options_.rank, channel,
                     greeting(options_.rank, peer, channel));
}

/// The other end may be a stranger, or may have dropped this rank in favour of one: in
/// both cases this rank tries again.
void MeshSockets::connect_to_peer(int peer, std::size_t channel) {
  const auto deadline = Steady::now() + options_.timeout;
  std::string why;
  do {
    why = try_to_connect(peer, channel, deadline);
    if (why.empty()) return;
    std::this_thread::sleep_for(kRetryPause);
  } while (Steady::now() < deadline);
  throw PeerError(peer, fmt::format("another process answered at its address ({})", why));
}

/// Returns why there is no connection yet; empty if there is one.
std::string MeshSockets::try_to_connect(int peer, std::size_t channel,
                                        Steady::time_point deadline) {
  const Invitation& to = invitations_[static_cast<std::size_t>(peer)];
  Descriptor connection =
      connect_to({to.address, to.port, peer, "its mesh port"}, deadline);
  if (!write_all(connection.get(), hello_to(peer, channel))) {
    return "it closed the connection";
  }
  std::string answer;
  const std::string why = read_answer(connection.get(), answer, kGreetingBytes, deadline);
  if (!why.empty()) return why;
  if (answer != greeting(peer, options_.rank, channel))
    return "the greeting of another process";
  socket(channel, peer) = std::move(connection);
  return "";
}

/// Waits for the ranks above this one, each for at most the timeout after the previous
/// one.
void MeshSockets::accept_all(const Listener& listener) {
  std::deque<Stranger> strangers;
  auto deadline = Steady::now() + options_.timeout;
  for (int missing = first_missing(); missing >= 0; missing = first_missing()) {
    std::vector<pollfd> waits{{listener.socket.get(), POLLIN, 0}};
    for (const Stranger& one : strangers) waits.push_back({one.socket.get(), POLLIN, 0});
    ::poll(waits.data(), waits.size(), milliseconds_until(deadline));
    if (Steady::now() >= deadline) throw PeerError(missing, "did not connect in time");
    accept_waiting(listener, strangers);
    if (admit_known(strangers)) deadline = Steady::now() + options_.timeout;
  }
}

/// If there are too many connections, the oldest without a hello is dropped: a rank sends
/// its hello as soon as it is connected, so that one is the least likely to be a rank.
void MeshSockets::accept_waiting(const Listener& listener,
                                 std::deque<Stranger>& strangers) const {
  for (std::size_t count = 0; count < kMostStrangers; ++count) {
    Descriptor caller(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!caller) {
      if (errno == EMFILE || errno == ENFILE) strangers.clear();
      return;
    }
    strangers.push_back({std::move(caller)});
  }
}

/// Returns whether one of them was a rank.
bool MeshSockets::admit_known(std::deque<Stranger>& strangers) {
  bool any = false;
  for (Stranger& one : strangers) {
    const bool open = read_more(one.socket.get(), one.received, kHelloBytes);
    const bool complete = one.received.size() == kHelloBytes;
    if (complete && admit(one)) any = true;
    if (complete || !open) one.socket.reset();
  }
  std::erase_if(strangers, [](const Stranger& one) { return !one.socket; });
  while (strangers.size() > kMostStrangers) strangers.pop_front();
  return any;
}

bool MeshSockets::admit(Stranger& stranger) {
  for (int peer = options_.rank + 1; peer < options_.ranks; ++peer) {
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      const std::string expected = fmt::format("{:>8x}{:>8x}", peer, channel);
      if (!stranger.received.starts_with(expected)) continue;
      const std::string proof = stranger.received.substr(expected.size());
      if (proof != greeting(peer, options_.rank, channel)) return false;
      if (!write_all(stranger.socket.get(), greeting(options_.rank, peer, channel))) {
        return false;
      }
      socket(channel, peer) = std::move(stranger.socket);
      return true;
    }
  }
  return false;
}

/// Returns the first rank above this one that lacks a connection, or -1.
int MeshSockets::first_missing() const {
  for (int peer = options_.rank + 1; peer < options_.ranks; ++peer) {
    const auto& sockets = sockets_[static_cast<std::size_t>(peer)];
    if (!std::ranges::all_of(sockets, [](const Descriptor& s) { return bool(s); })) {
      return peer;
    }
  }
  return -1;
}

}  // namespace convoy
