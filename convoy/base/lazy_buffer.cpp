// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/lazy_buffer.h"

#include <sys/mman.h>

#include <algorithm>

namespace convoy {
namespace {

constexpr std::size_t kSmallPage = 4096;
constexpr std::size_t kInPage = kSmallPage / sizeof(float);

}  // namespace

LazyBuffer::LazyBuffer(std::size_t size)
    : pages_(std::max(round_up(size * sizeof(float), kSmallPage), kSmallPage)),
      size_(size) {}

void LazyBuffer::keep_only(Range range) {
  release({0, range.begin});
  release({range.end, size_});
}

void LazyBuffer::prefer_small_pages(Range range) {
  const std::size_t first = range.begin / kInPage * kInPage;
  const std::size_t bytes = round_up((range.end - first) * sizeof(float), kSmallPage);
  ::madvise(data() + first, bytes, MADV_NOHUGEPAGE);
}

/// Both ends, which share a page with other numbers, are set to zero and keep their
/// memory.
void LazyBuffer::release(Range range) {
  const auto [begin, end] = range;
  const std::size_t first = std::min(round_up(begin, kInPage), end);
  const std::size_t last = end == size_ ? end : std::max(end / kInPage * kInPage, first);
  std::fill(data() + begin, data() + first, 0.0f);
  std::fill(data() + last, data() + end, 0.0f);
  if (first == last) return;
  const std::size_t bytes = round_up((last - first) * sizeof(float), kSmallPage);
  ::madvise(data() + first, bytes, MADV_DONTNEED);
}

}  // namespace convoy
