// SPDX-License-Identifier: Apache-2.0

#include "convoy/strategy/ddp.h"

#include <algorithm>

#include "convoy/base/error.h"
#include "convoy/params/buckets.h"

namespace convoy {

std::vector<Range> bucket_ranges(const Layout& layout, std::size_t bucket_bytes) {
  std::vector<std::uint64_t> bytes;
  for (std::size_t unit = 0; unit < layout.unit_count(); ++unit) {
    std::uint64_t trained = 0;
    for (const Range& range : layout.trained_in(layout.unit(UnitId{unit}))) {
      trained += range.size() * sizeof(float);
    }
    bytes.push_back(trained);
  }
  std::vector<Range> ranges;
  for (const UnitBucket& bucket : cut_into_buckets(bytes, bucket_bytes)) {
    ranges.push_back({layout.unit(UnitId{bucket.units.begin}).begin,
                      layout.unit(UnitId{bucket.units.end - 1}).end});
  }
  return ranges;
}

Ddp::Ddp(const Replica& replica, const Peers& peers, std::size_t bucket_bytes)
    : replica_(replica), peers_(peers), statistics_{statistics_ranges(replica)} {
  const std::vector<Range> ranges = bucket_ranges(replica.layout, bucket_bytes);
  for (const Range& range : ranges) {
    buckets_.push_back({trained_ranges(replica.gradients, replica.layout, range)});
  }
  for (const Segment& segment : replica.layout.segments()) {
    const auto range = std::ranges::find_if(
        ranges, [&](const Range& bucket) { return bucket.begin <= segment.range.begin; });
    bucket_of_.push_back(static_cast<std::size_t>(range - ranges.begin()));
    if (!segment.trained) continue;
    Bucket& bucket = buckets_[bucket_of_.back()];
    bucket.missing = ++bucket.segments;
  }
}

void Ddp::begin() {
  std::vector<FlatBuffer*> first = first_numbers(replica_);
  first.push_back(&replica_.statistics);
  for (FlatBuffer* numbers : first) {
    const std::span<float> all = numbers->view({0, numbers->size()});
    peers_.idle_comm().broadcast(std::as_writable_bytes(all), /*root=*/0);
  }
}

void Ddp::gradient_ready(SegmentId segment) {
  Bucket& bucket = buckets_[bucket_of_[static_cast<std::size_t>(segment)]];
  check(bucket.missing > 0, "each gradient is reported once per step");
  if (--bucket.missing > 0) return;
  start(bucket);
  if (&bucket == &buckets_.front()) start(statistics_);
}

void Ddp::start(Bucket& bucket) {
  for (const ReduceRange& piece : bucket.pieces) {
    bucket.under_way = peers_.background.start_all_reduce(peers_.order, piece.partials,
                                                          piece.whole, piece.dtype);
  }
}

void Ddp::step() {
  timed_exchange([this] {
    for (Bucket& bucket : buckets_) {
      check(bucket.missing == 0, "backward reached every gradient");
      peers_.background.wait(bucket.under_way);
      bucket.missing = bucket.segments;
    }
    peers_.background.wait(statistics_.under_way);
  });
  replica_.update();
}

}  // namespace convoy
