// SPDX-License-Identifier: Apache-2.0
//
// Layout: the range of each parameter in one flat buffer.
//
// A network declares its parameters once, unit by unit, in forward order. The layout puts
// them end to end and pads each unit:
//
//   |<------------- unit 0 ------------->|<------------ unit 1 ------------>|
//   | conv.weight | conv.bias |  padding | fc.weight | fc.bias |   padding  |
//
// Two properties follow, on which the strategies rely:
//
//   - a unit's gradients are one contiguous range, sent without a copy;
//   - backward fills the gradient buffer from its last unit to its first.
//
// Values, gradients and optimizer state share one layout, so an offset means the same in
// each of them and on every rank. A layout owns no numbers (FlatBuffer does). Once built,
// its segments stay where they are; freeze() says which of them are not trained.

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/range.h"
#include "convoy/params/initialization.h"

namespace convoy {

/// Returns what two ranges have in common; an empty range if that is nothing.
inline Range common(Range a, Range b) {
  const std::size_t begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// A part of the network that a strategy handles as one.
enum class UnitId : std::size_t {};

/// One parameter tensor.
enum class SegmentId : std::size_t {};

/// What a segment is for. Optimizers choose by role, never by name or position.
enum class Role { weight, bias, norm_scale, norm_shift, embedding, mean, variance };

struct Segment {
  std::string name;                // unique, e.g. "conv1.weight"
  std::vector<std::size_t> shape;  // as in PyTorch: weights (out, in ...)
  Range range;                     // in elements, padding excluded
  UnitId unit;
  Role role;
  Initialization init{};  // of its first values
  float momentum = 0;     // of running statistics: how much a batch's weigh in them
  bool trained = true;    // false: frozen, its values do not change
  bool shared = false;    // layers of other units read it as well
};

class Layout {
 public:
  /// Number of elements, padding included.
  std::size_t size() const { return size_; }

  /// Number of elements that are parameters.
  std::size_t parameter_count() const;

  std::size_t unit_count() const { return units_.size(); }

  /// Number of parameters, and of segments, that are trained.
  std::size_t trained_count() const;
  std::size_t trained_segment_count() const;
  /// Number of elements of trained().
  std::size_t trained_size() const;

  /// The ranges that are trained, in order: what is computed, exchanged and updated. The
  /// padding after a segment belongs to it, so without frozen segments there is one range
  /// with all elements.
  std::span<const Range> trained() const { return trained_; }

  /// Those of them that lie in `range`, cut to it.
  std::vector<Range> trained_in(Range range) const;

  /// These segments are not trained.
  void freeze(std::span<const SegmentId> segments);

  /// All segments, in forward order.
  std::span<const Segment> segments() const { return segments_; }

  const Segment& segment(SegmentId id) const;

  /// Returns the segment of that name, if there is one.
  std::optional<SegmentId> find(std::string_view name) const;

  /// Returns a unit's elements, padding included.
  Range unit(UnitId id) const;

 private:
  friend class LayoutBuilder;

  void find_trained();

  std::vector<Segment> segments_;
  std::vector<Range> units_;
  std::vector<Range> trained_;
  std::size_t size_ = 0;
};

/// Collects segments in forward order. Use once, then build().
class LayoutBuilder {
 public:
  /// Every unit is padded to a multiple of `unit_multiple` elements.
  explicit LayoutBuilder(std::size_t unit_multiple);

  /// Ends the current unit, if any, and begins the next.
  UnitId begin_unit();

  /// Adds a segment to the current unit.
  /// Requires: no other segment has this name.
  SegmentId add(std::string name, std::vector<std::size_t> shape, Role role,
                Initialization init = {}, float momentum = 0);

  /// The current unit reads a segment that was added before.
  void share(std::string_view name);

  Layout build() &&;

 private:
  void pad();

  Layout layout_;
  std::size_t unit_multiple_;
};

}  // namespace convoy
