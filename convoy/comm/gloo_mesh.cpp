// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/gloo_mesh.h"

#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>
#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <random>
#include <string>

#include "convoy/base/error.h"
#include "convoy/base/sha256.h"
#include "convoy/system/descriptor.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;
using Device = std::shared_ptr<::gloo::transport::Device>;

constexpr std::size_t kSecretBytes = 16;
constexpr std::uint64_t kHello = 1, kFarewell = 2, kProbe = 3;  // slots
constexpr std::int32_t kNone = -1;

/// Gloo waits five times a pair's timeout for its connection.
constexpr int kConnectFactor = 5;

/// How long a rank that closed its connection may take to say why, and a farewell to be
/// handed to the system.
constexpr milliseconds kFarewellTime{500};

/// Gloo writes to connections that may be gone; that shall be an error, not a signal that
/// ends the process. Who handles the signal keeps his handler.
void ignore_broken_pipes() {
  struct sigaction current {};
  sigaction(SIGPIPE, nullptr, &current);
  if (current.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

[[noreturn]] void refuse_address(const std::string& address, const std::string& why) {
  throw InputError(InputKind::settings, {.where = "address to listen on",
                                         .found = address,
                                         .expected = "an address of this machine",
                                         .hint = why});
}

/// Gloo would not say which address, nor why.
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

Device open_device(const std::string& address) {
  require_own_address(address);
  try {
    return ::gloo::transport::tcp::CreateDevice(
        ::gloo::transport::tcp::attr(address.c_str()));
  } catch (const std::exception& error) {
    refuse_address(address, error.what());
  }
}

/// A context of which the transport is made pair by pair.
class MeshContext final : public ::gloo::Context {
 public:
  MeshContext(const CommOptions& options, const Device& device)
      : ::gloo::Context(options.rank, options.ranks) {
    device_ = device;
    transportContext_ = device->createContext(rank, size);
    const milliseconds least{1};
    transportContext_->setTimeout(std::max(least, options.timeout / kConnectFactor));
    for (int peer = 0; peer < size; ++peer) {
      if (peer != rank) transportContext_->createPair(peer);
    }
    setTimeout(options.timeout);
    transportContext_->setTimeout(options.timeout);
  }
};

double seconds_of(std::chrono::duration<double> time) { return time.count(); }

std::vector<std::byte> random_bytes(std::size_t count) {
  std::random_device source;
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(source());
  return bytes;
}

std::string key_of(const std::string& name, int rank) {
  return fmt::format("{}/address/{}", name, rank);
}

std::vector<std::byte> ask_for(KeyValueStore& store, const CommOptions& options,
                               int peer) {
  try {
    return store.get(key_of(options.name, peer), options.timeout);
  } catch (const PeerError& error) {
    throw PeerError(peer, fmt::format("did not come to connect ({})", error.what()));
  }
}

/// What `from` says to `to` to be recognised: it needs both secrets.
std::string greeting(int from, std::span<const std::byte> from_secret, int to,
                     std::span<const std::byte> to_secret) {
  const std::string direction = fmt::format("{} to {}", from, to);
  Sha256 hash;
  hash.add(from_secret);
  hash.add(to_secret);
  hash.add(std::as_bytes(std::span(direction)));
  return hash.hex();
}

}  // namespace

GlooMesh::GlooMesh(const CommOptions& options, KeyValueStore& store)
    : rank_(options.rank),
      ranks_(options.ranks),
      timeout_(options.timeout),
      secret_(random_bytes(kSecretBytes)),
      secrets_(static_cast<std::size_t>(options.ranks)),
      farewells_(static_cast<std::size_t>(options.ranks), kNone),
      watches_(static_cast<std::size_t>(options.ranks)) {
  ignore_broken_pipes();
  const Device device = open_device(options.address);
  data_ = std::make_shared<MeshContext>(options, device);
  lifeline_ = std::make_shared<MeshContext>(options, device);
  store.set(key_of(options.name, rank_),
            invitation(std::array{data_.get(), lifeline_.get()}));
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer != rank_) accept(peer, ask_for(store, options, peer));
  }
  watch();
  greet_all();
}

GlooMesh::~GlooMesh() = default;

/// A rank's secret, and for each context and peer the address at which it waits for that
/// peer (of a length that is the same for all).
std::vector<std::byte> GlooMesh::invitation(
    std::span<::gloo::Context* const> contexts) const {
  std::vector<std::byte> bytes = secret_;
  for (::gloo::Context* context : contexts) {
    std::size_t length = 0;
    for (int peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      const std::vector<char> address = context->getPair(peer)->address().bytes();
      check(length == 0 || length == address.size(), "addresses are of one length");
      length = address.size();
      const auto raw = std::as_bytes(std::span(address));
      bytes.insert(bytes.end(), raw.begin(), raw.end());
    }
  }
  return bytes;
}

void GlooMesh::accept(int peer, std::span<const std::byte> invitation) {
  const std::size_t others = static_cast<std::size_t>(ranks_) - 1;
  const auto own = static_cast<std::size_t>(rank_ < peer ? rank_ : rank_ - 1);
  const bool whole = invitation.size() > kSecretBytes &&
                     (invitation.size() - kSecretBytes) % (2 * others) == 0;
  if (!whole) throw PeerError(peer, "published no addresses that make sense");
  const auto secret = invitation.first(kSecretBytes);
  secrets_[static_cast<std::size_t>(peer)].assign(secret.begin(), secret.end());

  const auto addresses = invitation.subspan(kSecretBytes);
  const std::size_t length = addresses.size() / (2 * others);
  std::size_t first = 0;
  for (::gloo::Context* context : {data_.get(), lifeline_.get()}) {
    std::vector<char> address(length);
    std::memcpy(address.data(), addresses.data() + (first + own) * length, length);
    try {
      context->getPair(peer)->connect(address);
    } catch (const std::exception& error) {
      throw PeerError(peer, fmt::format("cannot be reached ({})", error.what()));
    }
    first += others;
  }
}

/// Both ends of each connection show that they can read the store.
void GlooMesh::greet_all() {
  const std::size_t length = sha256_hex({}).size();
  for (::gloo::Context* context : {data_.get(), lifeline_.get()}) {
    for (int peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      const auto& theirs = secrets_[static_cast<std::size_t>(peer)];
      std::string said = greeting(rank_, secret_, peer, theirs);
      std::string heard(length, '\0');
      const auto in = context->createUnboundBuffer(heard.data(), length);
      const auto out = context->createUnboundBuffer(said.data(), length);
      try {
        in->recv(peer, kHello);
        out->send(peer, kHello);
        in->waitRecv(timeout_);
        out->waitSend(timeout_);
      } catch (const std::exception& error) {
        throw PeerError(peer, fmt::format("left while connecting ({})", error.what()));
      }
      if (heard != greeting(peer, theirs, rank_, secret_)) {
        throw PeerError(peer, "is not who answered at its address");
      }
    }
  }
}

void GlooMesh::watch() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    const auto p = static_cast<std::size_t>(peer);
    watches_[p] = lifeline_->createUnboundBuffer(&farewells_[p], sizeof(farewells_[p]));
    try {
      watches_[p]->recv(peer, kFarewell);
    } catch (const std::exception& error) {
      throw PeerError(peer, fmt::format("left while connecting ({})", error.what()));
    }
  }
}

/// The rank that `peer` says it lost, or `peer` itself.
int GlooMesh::cause_of_leaving(int peer) {
  const auto p = static_cast<std::size_t>(peer);
  try {
    watches_[p]->waitRecv(kFarewellTime);
  } catch (const std::exception&) {
    return peer;
  }
  const int cause = farewells_[p];
  const bool sensible = cause >= 0 && cause < ranks_ && cause != rank_;
  return sensible ? cause : peer;
}

void GlooMesh::say_farewell(int cause) {
  std::int32_t word = cause;
  const auto buffer = lifeline_->createUnboundBuffer(&word, sizeof(word));
  int sent = 0;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    try {
      buffer->send(peer, kFarewell);
      ++sent;
    } catch (const std::exception&) {
      continue;  // it is gone itself
    }
  }
  try {
    for (; sent > 0; --sent) buffer->waitSend(kFarewellTime);
  } catch (const std::exception&) {
    return;  // others will see this rank leave
  }
}

void GlooMesh::lose(int peer, bool silent) {
  const int cause = silent ? peer : cause_of_leaving(peer);
  say_farewell(cause);
  const std::string_view during = name_of(operation_);
  if (cause != peer) {
    throw PeerError(cause, fmt::format("lost, says rank {}, in {}", peer, during));
  }
  if (silent) {
    throw PeerError(
        peer, fmt::format("no answer within {} s, in {}", seconds_of(timeout_), during));
  }
  throw PeerError(peer, fmt::format("closed its connection, in {}", during));
}

/// To be asked to receive is refused where a connection is known to be closed.
void GlooMesh::lose_any() {
  std::byte nothing{};
  const auto probe = lifeline_->createUnboundBuffer(&nothing, sizeof(nothing));
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    try {
      probe->recv(peer, kProbe);
    } catch (const std::exception&) {
      lose(peer, /*silent=*/false);
    }
  }
  say_farewell(rank_);
  throw PeerError(kAnyRank, fmt::format("nothing came within {} s, in {}",
                                        seconds_of(timeout_), name_of(operation_)));
}

GlooBuffer::GlooBuffer(GlooMesh& mesh, int peer, std::span<std::byte> memory)
    : mesh_(mesh),
      peer_(peer),
      buffer_(mesh.data()->createUnboundBuffer(memory.data(), memory.size())) {}

GlooBuffer::GlooBuffer(GlooMesh& mesh, int peer, std::span<const std::byte> memory)
    : GlooBuffer(mesh, peer,
                 std::span(const_cast<std::byte*>(memory.data()), memory.size())) {}

template <class Action>
void GlooBuffer::run(const Action& action) {
  const Stopwatch watch;
  try {
    action();
  } catch (const std::exception&) {
    const std::chrono::duration<double> timeout = mesh_.timeout();
    mesh_.lose(peer_, watch.seconds() >= 0.9 * timeout.count());
  }
}

void GlooBuffer::send(std::uint64_t slot, std::size_t offset, std::size_t bytes) {
  run([&] { buffer_->send(peer_, slot, offset, bytes); });
}

void GlooBuffer::receive(std::uint64_t slot, std::size_t offset, std::size_t bytes) {
  run([&] { buffer_->recv(peer_, slot, offset, bytes); });
}

void GlooBuffer::wait_sent() {
  run([&] { buffer_->waitSend(mesh_.timeout()); });
}

void GlooBuffer::wait_received() {
  run([&] { buffer_->waitRecv(mesh_.timeout()); });
}

}  // namespace convoy
