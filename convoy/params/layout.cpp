// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/layout.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "convoy/base/error.h"

namespace convoy {

std::size_t Layout::parameter_count() const {
  return std::accumulate(
      segments_.begin(), segments_.end(), std::size_t{0},
      [](std::size_t sum, const Segment& segment) { return sum + segment.range.size(); });
}

std::size_t Layout::trained_count() const {
  std::size_t count = 0;
  for (const Segment& segment : segments_) {
    if (segment.trained) count += segment.range.size();
  }
  return count;
}

std::size_t Layout::trained_segment_count() const {
  return static_cast<std::size_t>(std::ranges::count(segments_, true, &Segment::trained));
}

std::size_t Layout::trained_size() const {
  std::size_t size = 0;
  for (const Range& range : trained_) size += range.size();
  return size;
}

std::vector<Range> Layout::trained_in(Range range) const {
  std::vector<Range> found;
  for (const Range& each : trained_) {
    const Range part = common(each, range);
    if (part.size() > 0) found.push_back(part);
  }
  return found;
}

void Layout::freeze(std::span<const SegmentId> segments) {
  for (const SegmentId id : segments) {
    segments_.at(static_cast<std::size_t>(id)).trained = false;
  }
  find_trained();
}

void Layout::find_trained() {
  trained_.clear();
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    if (!segments_[i].trained) continue;
    const std::size_t begin = i == 0 ? 0 : segments_[i].range.begin;
    const std::size_t end =
        i + 1 < segments_.size() ? segments_[i + 1].range.begin : size_;
    const bool touches = !trained_.empty() && trained_.back().end == begin;
    if (!touches) trained_.push_back({begin, begin});
    trained_.back().end = end;
  }
}

const Segment& Layout::segment(SegmentId id) const {
  return segments_.at(static_cast<std::size_t>(id));
}

std::optional<SegmentId> Layout::find(std::string_view name) const {
  const auto segment = std::ranges::find(segments_, name, &Segment::name);
  if (segment == segments_.end()) return std::nullopt;
  return SegmentId{static_cast<std::size_t>(segment - segments_.begin())};
}

Range Layout::unit(UnitId id) const { return units_.at(static_cast<std::size_t>(id)); }

LayoutBuilder::LayoutBuilder(std::size_t unit_multiple) : unit_multiple_(unit_multiple) {
  check(unit_multiple > 0, "units are padded to a positive multiple");
}

UnitId LayoutBuilder::begin_unit() {
  pad();
  layout_.units_.push_back({layout_.size_, layout_.size_});
  return UnitId{layout_.units_.size() - 1};
}

SegmentId LayoutBuilder::add(std::string name, std::vector<std::size_t> shape, Role role,
                             Initialization init, float momentum) {
  check(!layout_.units_.empty(), "a segment belongs to a unit");
  check(std::ranges::none_of(layout_.segments_,
                             [&](const Segment& other) { return other.name == name; }),
        "segment names are unique");
  const std::size_t size =
      std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  const Range range = {layout_.size_, layout_.size_ + size};
  layout_.segments_.push_back({std::move(name), std::move(shape), range,
                               UnitId{layout_.units_.size() - 1}, role, init, momentum});
  layout_.size_ = layout_.units_.back().end = range.end;
  return SegmentId{layout_.segments_.size() - 1};
}

void LayoutBuilder::share(std::string_view name) {
  const auto segment = std::ranges::find(layout_.segments_, name, &Segment::name);
  check(segment != layout_.segments_.end(), "a shared segment was added before");
  if (segment->unit != UnitId{layout_.units_.size() - 1}) segment->shared = true;
}

Layout LayoutBuilder::build() && {
  pad();
  layout_.find_trained();
  return std::move(layout_);
}

void LayoutBuilder::pad() {
  if (layout_.units_.empty()) return;
  layout_.size_ = layout_.units_.back().end = round_up(layout_.size_, unit_multiple_);
}

}  // namespace convoy
