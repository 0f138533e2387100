// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/gather_scatter.h"

#include <algorithm>

#include "convoy/params/stored_types.h"

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
      sum_(peers, replica.gradients.count(), largest(pieces_),
           replica.gradients.dtype()) {}

void GatherScatter::step() {
  timed_exchange([this] {
    peers_.background.wait_all();
    for (const ReduceRange& piece : pieces_) sum_.add_up(piece);
  });
  replica_.update();
}

GatherScatterSum::GatherScatterSum(const Peers& peers, std::size_t partials,
                                   std::size_t largest, Dtype dtype)
    : peers_(peers), sizes_(static_cast<std::size_t>(peers.comm.ranks())) {
  const bool is_narrow = dtype != Dtype::fp32;
  if (partials > 1 || is_narrow) sent_.resize(partials * largest);
  if (!peers.comm.is_first()) return;
  const std::size_t all = peers.order.partials();
  all_.resize(std::max(all, sizes_.size()) * largest);
  if (is_narrow) widened_.resize(all * largest);
  all_partials_.resize(all);
}

void GatherScatterSum::add_up(const ReduceRange& piece) {
  gather(piece);
  if (peers_.comm.is_first()) add(piece);
  scatter(piece);
}

void GatherScatterSum::gather(const ReduceRange& piece) {
  const std::size_t bytes = piece.whole.size() * bytes_of(piece.dtype);
  for (int rank = 0; rank < peers_.comm.ranks(); ++rank) {
    sizes_[static_cast<std::size_t>(rank)] =
        peers_.order.partials_of(rank).size() * bytes;
  }
  const auto all = std::as_writable_bytes(std::span(all_));
  peers_.comm.gather(in_a_row(piece), all.first(all_partials_.size() * bytes), sizes_,
                     kRoot);
}

/// Returns this rank's partials of the range as they are sent.
std::span<const std::byte> GatherScatterSum::in_a_row(const ReduceRange& piece) {
  const std::size_t size = piece.whole.size(), bytes = size * bytes_of(piece.dtype);
  if (piece.partials.size() == 1 && piece.dtype == Dtype::fp32) {
    return std::as_bytes(std::span(piece.partials.front(), size));
  }
  const std::span<std::byte> row = sent(piece.partials.size() * bytes);
  for (std::size_t i = 0; i < piece.partials.size(); ++i) {
    pack(piece.dtype, {piece.partials[i], size}, row.data() + i * bytes);
  }
  return row;
}

void GatherScatterSum::add(const ReduceRange& piece) {
  const std::size_t size = piece.whole.size();
  std::vector<float>& received = piece.dtype == Dtype::fp32 ? all_ : widened_;
  const std::span<float> numbers = std::span(received).first(all_partials_.size() * size);
  if (piece.dtype != Dtype::fp32) {
    unpack(piece.dtype, std::as_bytes(std::span(all_)).data(), numbers);
  }
  for (std::size_t i = 0; i < all_partials_.size(); ++i) {
    all_partials_[i] = numbers.data() + i * size;
  }
  peers_.order.add(all_partials_, piece.whole, piece.dtype);
}

/// Each rank receives a copy of the sum.
void GatherScatterSum::scatter(const ReduceRange& piece) {
  const std::size_t bytes = piece.whole.size() * bytes_of(piece.dtype);
  std::ranges::fill(sizes_, bytes);
  const std::size_t copies = peers_.comm.is_first() ? sizes_.size() : 0;
  const auto all = std::as_writable_bytes(std::span(all_)).first(copies * bytes);
  for (std::size_t i = 0; i < copies; ++i) {
    pack(piece.dtype, piece.whole, all.data() + i * bytes);
  }
  const bool is_narrow = piece.dtype != Dtype::fp32;
  const std::span<std::byte> own =
      is_narrow ? sent(bytes) : std::as_writable_bytes(piece.whole);
  peers_.comm.scatter(all, own, sizes_, kRoot);
  if (is_narrow) unpack(piece.dtype, own.data(), piece.whole);
}

}  // namespace convoy
