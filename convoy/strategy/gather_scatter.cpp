// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/gather_scatter.h"

#include <algorithm>

namespace convoy {
namespace {

constexpr int kRoot = 0;

std::size_t largest(const std::vector<ReduceRange>& pieces) {
  std::size_t size = 0;
  for (const ReduceRange& piece : pieces) size = std::max(size, piece.whole.size());
  return size;
}

}  // namespace

GatherScatter::GatherScatter(const Replica& replica, const Peers& peers)
    : replica_(replica),
      peers_(peers),
      pieces_(tensor_ranges(replica)),
      sum_(peers, replica.gradients.count(), largest(pieces_)) {}

void GatherScatter::step() {
  timed_exchange([this] {
    peers_.background.wait_all();
    for (const ReduceRange& piece : pieces_) sum_.add_up(piece);
  });
  replica_.update();
}

GatherScatterSum::GatherScatterSum(const Peers& peers, std::size_t partials,
                                   std::size_t largest)
    : peers_(peers), sizes_(static_cast<std::size_t>(peers.comm.ranks())) {
  if (partials > 1) own_.resize(partials * largest);
  if (!peers.comm.is_first()) return;
  all_.resize(std::max(peers.order.partials(), sizes_.size()) * largest);
  all_partials_.resize(peers.order.partials());
}

void GatherScatterSum::add_up(const ReduceRange& piece) {
  gather(piece);
  if (peers_.comm.is_first()) add(piece);
  scatter(piece);
}

void GatherScatterSum::gather(const ReduceRange& piece) {
  const std::size_t size = piece.whole.size();
  for (int rank = 0; rank < peers_.comm.ranks(); ++rank) {
    sizes_[static_cast<std::size_t>(rank)] =
        peers_.order.partials_of(rank).size() * size * sizeof(float);
  }
  peers_.comm.gather(
      std::as_bytes(in_a_row(piece)),
      std::as_writable_bytes(std::span(all_).first(all_partials_.size() * size)), sizes_,
      kRoot);
}

/// Returns this rank's partials of the range, concatenated.
std::span<const float> GatherScatterSum::in_a_row(const ReduceRange& piece) {
  const std::size_t size = piece.whole.size();
  if (piece.partials.size() == 1) return {piece.partials.front(), size};
  for (std::size_t i = 0; i < piece.partials.size(); ++i) {
    std::copy_n(piece.partials[i], size, own_.data() + i * size);
  }
  return std::span(own_).first(piece.partials.size() * size);
}

void GatherScatterSum::add(const ReduceRange& piece) {
  for (std::size_t i = 0; i < all_partials_.size(); ++i) {
    all_partials_[i] = all_.data() + i * piece.whole.size();
  }
  peers_.order.add(all_partials_, piece.whole);
}

/// Each rank receives a copy of the sum.
void GatherScatterSum::scatter(const ReduceRange& piece) {
  const std::size_t size = piece.whole.size();
  std::ranges::fill(sizes_, piece.whole.size_bytes());
  const std::size_t copies = peers_.comm.is_first() ? sizes_.size() : 0;
  for (std::size_t i = 0; i < copies; ++i) {
    std::ranges::copy(piece.whole, all_.data() + i * size);
  }
  peers_.comm.scatter(std::as_bytes(std::span(all_).first(copies * size)),
                      std::as_writable_bytes(piece.whole), sizes_, kRoot);
}

}  // namespace convoy
