// SPDX-License-Identifier: Apache-2.0

#include "convoy/params/stored_types.h"

#include <algorithm>
#include <cstring>

namespace convoy {

void pack(Dtype dtype, std::span<const float> numbers, std::byte* packed) {
  if (numbers.empty()) return;
  if (dtype == Dtype::fp32) {
    std::memcpy(packed, numbers.data(), numbers.size_bytes());
    return;
  }
  narrow(dtype, numbers.data(), reinterpret_cast<std::uint16_t*>(packed), numbers.size());
}

void unpack(Dtype dtype, const std::byte* packed, std::span<float> numbers) {
  if (numbers.empty()) return;
  if (dtype == Dtype::fp32) {
    std::memcpy(numbers.data(), packed, numbers.size_bytes());
    return;
  }
  widen(dtype, reinterpret_cast<const std::uint16_t*>(packed), numbers.data(),
        numbers.size());
}

StoredTypes::StoredTypes(const Layout& layout, Dtype dtype) : dtype_(dtype) {
  if (dtype == Dtype::fp32) return;
  const auto segments = layout.segments();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (of(segments[i]) == Dtype::fp32) continue;
    const std::size_t begin = segments[i].range.begin;
    // The padding after a segment belongs to it.
    const std::size_t end =
        i + 1 < segments.size() ? segments[i + 1].range.begin : layout.size();
    if (narrow_.empty() || narrow_.back().end != begin) narrow_.push_back({begin, begin});
    narrow_.back().end = end;
  }
}

Dtype StoredTypes::of(const Segment& segment) const {
  const bool is_norm =
      segment.role == Role::norm_scale || segment.role == Role::norm_shift;
  return is_norm ? Dtype::fp32 : dtype_;
}

/// Calls work(part, dtype) for the parts of a range that have one type each, in order.
template <class Work>
void StoredTypes::visit(Range range, const Work& work) const {
  auto next = std::ranges::upper_bound(narrow_, range.begin, {}, &Range::end);
  while (range.begin < range.end) {
    const bool any = next != narrow_.end();
    const bool is_narrow = any && next->begin <= range.begin;
    const std::size_t border = !any ? range.end : is_narrow ? next->end : next->begin;
    const Range part{range.begin, std::min(border, range.end)};
    work(part, is_narrow ? dtype_ : Dtype::fp32);
    range.begin = part.end;
    if (is_narrow) ++next;
  }
}

std::size_t StoredTypes::bytes(Range range) const {
  std::size_t sum = 0;
  visit(range, [&](Range part, Dtype dtype) { sum += part.size() * bytes_of(dtype); });
  return sum;
}

void StoredTypes::round(Range range, float* numbers) const {
  visit(range, [&](Range part, Dtype dtype) {
    round_in_place(dtype, numbers + (part.begin - range.begin), part.size());
  });
}

void StoredTypes::pack(Range range, const float* numbers, std::byte* packed) const {
  visit(range, [&](Range part, Dtype dtype) {
    convoy::pack(dtype, {numbers + (part.begin - range.begin), part.size()}, packed);
    packed += part.size() * bytes_of(dtype);
  });
}

void StoredTypes::unpack(Range range, const std::byte* packed, float* numbers) const {
  visit(range, [&](Range part, Dtype dtype) {
    convoy::unpack(dtype, packed, {numbers + (part.begin - range.begin), part.size()});
    packed += part.size() * bytes_of(dtype);
  });
}

}  // namespace convoy
