// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/gloo_mesh.h"

#include <fmt/format.h>

#include <csignal>
#include <string>

#include "convoy/base/error.h"
#include "convoy/comm/mesh_context.h"
#include "convoy/comm/mesh_sockets.h"

namespace convoy {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kDataChannel = 0, kLifelineChannel = 1;

constexpr std::uint64_t kFarewell = 2;  // slot
constexpr std::int32_t kNone = -1;

/// How long to wait for the reason of a rank that closed its connection, and for a
/// farewell to be sent.
constexpr milliseconds kFarewellTime{500};

/// Gloo writes to connections that may be closed; that must be an error, not a signal
/// that ends the process. A handler set by the program is kept.
void ignore_broken_pipes() {
  struct sigaction current {};
  sigaction(SIGPIPE, nullptr, &current);
  if (current.sa_handler == SIG_DFL) std::signal(SIGPIPE, SIG_IGN);
}

double seconds_of(std::chrono::duration<double> time) { return time.count(); }

/// Turns an exception of Gloo about a rank into a PeerError that names it.
template <class Action>
void naming(int peer, const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    throw PeerError(peer, fmt::format("left while connecting ({})", error.what()));
  }
}

std::shared_ptr<::gloo::Context> adopt_all(const CommOptions& options,
                                           const LoopbackDevice& device,
                                           std::size_t channel, MeshSockets& sockets) {
  auto context = std::make_shared<MeshContext>(options, device);
  for (int peer = 0; peer < options.ranks; ++peer) {
    if (peer == options.rank) continue;
    naming(peer, [&] { context->adopt(peer, sockets.take(channel, peer)); });
  }
  return context;
}

}  // namespace

GlooMesh::GlooMesh(const CommOptions& options, KeyValueStore& store)
    : rank_(options.rank),
      ranks_(options.ranks),
      timeout_(options.timeout),
      farewells_(static_cast<std::size_t>(options.ranks), kNone),
      watches_(static_cast<std::size_t>(options.ranks)) {
  ignore_broken_pipes();
  MeshSockets sockets(options, store);
  const auto device = open_loopback_device();
  data_ = adopt_all(options, device, kDataChannel, sockets);
  lifeline_ = adopt_all(options, device, kLifelineChannel, sockets);
  watch();
}

GlooMesh::~GlooMesh() = default;

/// If a rank has already left, the first operation that needs it reports that.
void GlooMesh::watch() {
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    const auto p = static_cast<std::size_t>(peer);
    watches_[p] = lifeline_->createUnboundBuffer(&farewells_[p], sizeof(farewells_[p]));
    try {
      watches_[p]->recv(peer, kFarewell);
    } catch (const std::exception&) {
      continue;
    }
  }
}

/// Returns the rank that `peer` reports as lost, or `peer` itself.
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

void GlooMesh::send_farewell(int cause) {
  std::int32_t word = cause;
  const auto buffer = lifeline_->createUnboundBuffer(&word, sizeof(word));
  int sent = 0;
  for (int peer = 0; peer < ranks_; ++peer) {
    if (peer == rank_) continue;
    try {
      buffer->send(peer, kFarewell);
      ++sent;
    } catch (const std::exception&) {
      continue;  // this peer is gone as well
    }
  }
  try {
    for (; sent > 0; --sent) buffer->waitSend(kFarewellTime);
  } catch (const std::exception&) {
    return;  // the others will see this rank leave
  }
}

void GlooMesh::lose(int peer, bool silent) {
  const int cause = silent ? peer : cause_of_leaving(peer);
  send_farewell(cause);
  const std::string_view during = name_of(operation_);
  if (cause != peer) {
    throw PeerError(cause, fmt::format("lost, as rank {} reports, in {}", peer, during));
  }
  if (silent) {
    throw PeerError(
        peer, fmt::format("no answer within {} s, in {}", seconds_of(timeout_), during));
  }
  throw PeerError(peer, fmt::format("closed its connection, in {}", during));
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
