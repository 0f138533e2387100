// SPDX-License-Identifier: Apache-2.0

#include "convoy/comm/gloo_comm.h"

#include <algorithm>

#include "convoy/base/clock.h"
#include "convoy/params/stored_types.h"

namespace convoy {
namespace {

/// Gloo slots: one per operation, and one for the sums of an all-reduce.
constexpr std::uint64_t kFirstOperation = 16, kResults = 64;

std::uint64_t slot_of(Operation operation) {
  return kFirstOperation + static_cast<std::uint64_t>(operation);
}

}  // namespace

GlooComm::GlooComm(const CommOptions& options, KeyValueStore& store)
    : Comm(options.rank, options.ranks),
      mesh_(options, store),
      outgoing_(static_cast<std::size_t>(options.ranks)),
      incoming_(static_cast<std::size_t>(options.ranks)) {}

void GlooComm::do_exchange(const Exchange& exchange) {
  mesh_.begin(exchange.operation);
  const std::uint64_t slot = slot_of(exchange.operation);
  for (std::size_t r = 0; r < exchange.from.size(); ++r) {
    if (exchange.from[r].empty()) continue;
    incoming_[r].emplace(mesh_, static_cast<int>(r), exchange.from[r]);
    incoming_[r]->receive(slot, 0, exchange.from[r].size());
  }
  for (std::size_t r = 0; r < exchange.to.size(); ++r) {
    if (exchange.to[r].empty()) continue;
    outgoing_[r].emplace(mesh_, static_cast<int>(r), exchange.to[r]);
    outgoing_[r]->send(slot, 0, exchange.to[r].size());
  }
  for (std::size_t r = 0; r < exchange.from.size(); ++r) {
    if (!exchange.from[r].empty()) incoming_[r]->wait_received();
    if (!exchange.to[r].empty()) outgoing_[r]->wait_sent();
  }
}

/// One reduction in progress.
class GlooComm::Reducing {
 public:
  Reducing(GlooComm& comm, const Reduction& reduction);

  void run();

 private:
  /// Buffers for results, own partials, and other ranks' partials, one each per rank.
  struct Peer {
    int rank;
    GlooBuffer whole, staging;
    std::vector<GlooBuffer> partials;
    std::size_t results = 0, sends = 0;  // messages still to wait for
  };

  static constexpr std::size_t kStagingFloats = std::size_t{1} << 18;  // per chunk
  static constexpr std::size_t kLeastChunk = std::size_t{1} << 13;
  static constexpr std::size_t kAhead = 3;  // chunks received before they are added

  bool is_narrow() const { return reduction_.dtype != Dtype::fp32; }
  std::size_t bytes(std::size_t numbers) const {
    return numbers * bytes_of(reduction_.dtype);
  }
  void reserve();
  std::span<std::byte> narrow_copy(std::size_t number) const;
  std::span<const std::byte> sent_partial(std::size_t partial) const;
  std::span<std::byte> exchanged_sum() const;
  const float* received(std::size_t at, std::size_t number, std::size_t size);

  std::size_t other_partials(int owner) const;
  std::size_t chunk_of(int owner) const;
  std::vector<Range> chunks_of(int owner) const;
  std::size_t staged(std::size_t chunk, std::size_t partial) const;

  void send_partials();
  void receive_results();
  void receive_partials(std::size_t chunk);
  void wait_partials();
  void add(std::size_t chunk);
  void send_result(std::size_t chunk);
  void finish();

  GlooComm& comm_;
  const Reduction& reduction_;
  std::vector<Range> own_chunks_;
  std::vector<Peer> peers_;
};

GlooComm::Reducing::Reducing(GlooComm& comm, const Reduction& reduction)
    : comm_(comm), reduction_(reduction), own_chunks_(chunks_of(comm.rank())) {
  reserve();
  peers_.reserve(static_cast<std::size_t>(comm.ranks()) - 1);
  for (int peer = 0; peer < comm.ranks(); ++peer) {
    if (peer == comm.rank()) continue;
    peers_.push_back({peer,
                      {comm.mesh_, peer, exchanged_sum()},
                      {comm.mesh_, peer, std::as_writable_bytes(comm.staging_.span())},
                      {}});
    for (std::size_t i = 0; i < reduction.partials.size(); ++i) {
      peers_.back().partials.emplace_back(comm.mesh_, peer, sent_partial(i));
    }
  }
}

/// Numbers of 16 bits are sent from copies, which are made here, and received into
/// others.
void GlooComm::Reducing::reserve() {
  const std::size_t received = other_partials(comm_.rank()) * chunk_of(comm_.rank());
  const std::size_t staged = std::min(kAhead, own_chunks_.size()) * received;
  if (comm_.staging_.size() < staged) comm_.staging_ = AlignedBuffer<float>(staged);
  comm_.chunk_partials_.resize(reduction_.order.partials());
  if (!is_narrow()) return;
  const std::size_t size = reduction_.whole.size(), own = reduction_.partials.size();
  if (comm_.widened_.size() < received) comm_.widened_ = AlignedBuffer<float>(received);
  if (comm_.narrow_.size() < (own + 1) * size) {
    comm_.narrow_ = AlignedBuffer<std::uint16_t>((own + 1) * size);
  }
  for (std::size_t i = 0; i < own; ++i) {
    pack(reduction_.dtype, {reduction_.partials[i], size}, narrow_copy(1 + i).data());
  }
}

/// Of the sum, or from 1 on of a partial.
std::span<std::byte> GlooComm::Reducing::narrow_copy(std::size_t number) const {
  const std::size_t size = reduction_.whole.size();
  return std::as_writable_bytes(comm_.narrow_.span().subspan(number * size, size));
}

std::span<const std::byte> GlooComm::Reducing::sent_partial(std::size_t partial) const {
  if (is_narrow()) return narrow_copy(1 + partial);
  return std::as_bytes(std::span(reduction_.partials[partial], reduction_.whole.size()));
}

std::span<std::byte> GlooComm::Reducing::exchanged_sum() const {
  return is_narrow() ? narrow_copy(0) : std::as_writable_bytes(reduction_.whole);
}

/// Returns the number of partials that an owner receives.
std::size_t GlooComm::Reducing::other_partials(int owner) const {
  return reduction_.order.partials() - reduction_.order.partials_of(owner).size();
}

/// Returns the elements per chunk, as a function of the owner that all ranks agree on.
std::size_t GlooComm::Reducing::chunk_of(int owner) const {
  const std::size_t received = std::max<std::size_t>(other_partials(owner), 1);
  return std::max(kLeastChunk, kStagingFloats / received);
}

std::vector<Range> GlooComm::Reducing::chunks_of(int owner) const {
  const Range part = reduction_.part_of(owner);
  const std::size_t longest = chunk_of(owner);
  std::vector<Range> chunks;
  for (std::size_t begin = part.begin; begin < part.end; begin += longest) {
    chunks.push_back({begin, std::min(begin + longest, part.end)});
  }
  return chunks;
}

/// Returns where a partial of another rank, of one chunk, is stored in the staging
/// memory.
std::size_t GlooComm::Reducing::staged(std::size_t chunk, std::size_t partial) const {
  return (chunk % kAhead * other_partials(comm_.rank()) + partial) *
         chunk_of(comm_.rank());
}

void GlooComm::Reducing::run() {
  for (std::size_t k = 0; k < std::min(kAhead, own_chunks_.size()); ++k) {
    receive_partials(k);
  }
  send_partials();
  if (reduction_.to_all()) receive_results();
  for (std::size_t k = 0; k < own_chunks_.size(); ++k) {
    wait_partials();
    add(k);
    if (reduction_.to_all()) send_result(k);
    if (k + kAhead < own_chunks_.size()) receive_partials(k + kAhead);
  }
  finish();
}

/// Gloo holds each message back until its owner is ready to receive it.
void GlooComm::Reducing::send_partials() {
  for (Peer& peer : peers_) {
    for (const Range chunk : chunks_of(peer.rank)) {
      for (GlooBuffer& partial : peer.partials) {
        partial.send(slot_of(Operation::all_reduce), bytes(chunk.begin),
                     bytes(chunk.size()));
      }
      ++peer.sends;
    }
  }
}

/// Sums may be received over a partial that is still to be sent: an owner sends the sum
/// of a chunk only after it has received the chunk from this rank.
void GlooComm::Reducing::receive_results() {
  for (Peer& peer : peers_) {
    for (const Range chunk : chunks_of(peer.rank)) {
      peer.whole.receive(kResults, bytes(chunk.begin), bytes(chunk.size()));
      ++peer.results;
    }
  }
}

void GlooComm::Reducing::receive_partials(std::size_t chunk) {
  const std::size_t size = bytes(own_chunks_[chunk].size());
  std::size_t number = 0;
  for (Peer& peer : peers_) {
    const std::size_t count = reduction_.order.partials_of(peer.rank).size();
    for (std::size_t i = 0; i < count; ++i) {
      peer.staging.receive(slot_of(Operation::all_reduce), bytes(staged(chunk, number++)),
                           size);
    }
  }
}

void GlooComm::Reducing::wait_partials() {
  for (Peer& peer : peers_) {
    const std::size_t count = reduction_.order.partials_of(peer.rank).size();
    for (std::size_t i = 0; i < count; ++i) peer.staging.wait_received();
  }
}

/// Returns the numbers of another rank's partial, staged from number `at` on.
const float* GlooComm::Reducing::received(std::size_t at, std::size_t number,
                                          std::size_t size) {
  if (!is_narrow()) return comm_.staging_.data() + at;
  const std::byte* sent = std::as_bytes(comm_.staging_.span()).data() + bytes(at);
  float* numbers = comm_.widened_.data() + number * size;
  unpack(reduction_.dtype, sent, {numbers, size});
  return numbers;
}

void GlooComm::Reducing::add(std::size_t chunk) {
  const Range range = own_chunks_[chunk];
  const Range own = reduction_.order.partials_of(comm_.rank());
  std::size_t number = 0;
  for (std::size_t p = 0; p < comm_.chunk_partials_.size(); ++p) {
    const bool mine = own.begin <= p && p < own.end;
    comm_.chunk_partials_[p] =
        mine ? reduction_.partials[p - own.begin] + range.begin
             : received(staged(chunk, number), number, range.size());
    number += mine ? 0 : 1;
  }
  const std::span<float> sum = reduction_.whole.subspan(range.begin, range.size());
  reduction_.order.add_chunk(comm_.chunk_partials_, range, sum, reduction_.dtype);
  if (is_narrow() && reduction_.to_all()) {
    pack(reduction_.dtype, sum, exchanged_sum().data() + bytes(range.begin));
  }
}

void GlooComm::Reducing::send_result(std::size_t chunk) {
  const Range range = own_chunks_[chunk];
  for (Peer& peer : peers_) {
    peer.whole.send(kResults, bytes(range.begin), bytes(range.size()));
  }
}

void GlooComm::Reducing::finish() {
  for (Peer& peer : peers_) {
    for (; peer.results > 0; --peer.results) peer.whole.wait_received();
    for (; peer.sends > 0; --peer.sends) {
      for (GlooBuffer& partial : peer.partials) partial.wait_sent();
    }
    if (!reduction_.to_all()) continue;
    for (std::size_t k = 0; k < own_chunks_.size(); ++k) peer.whole.wait_sent();
    if (!is_narrow()) continue;
    const Range part = reduction_.part_of(peer.rank);
    unpack(reduction_.dtype, exchanged_sum().data() + bytes(part.begin),
           reduction_.whole.subspan(part.begin, part.size()));
  }
}

void GlooComm::do_reduce(const Reduction& reduction) {
  mesh_.begin(reduction.operation);
  Reducing(*this, reduction).run();
}

}  // namespace convoy
