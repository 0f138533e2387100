// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/lazy_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "convoy/base/large_pages.h"

namespace convoy {
namespace {

constexpr std::size_t kSmallPage = 4096;
constexpr std::size_t kInPage = kSmallPage / sizeof(float);

}  // namespace

LazyBuffer::LazyBuffer(std::size_t size) : size_(size) {
  const std::size_t bytes =
      std::max<std::size_t>(round_up(size * sizeof(float), kSmallPage), kSmallPage);
  const bool is_large = bytes >= 2 * kLargePage;
  mapped_bytes_ = is_large ? bytes + kLargePage : bytes;
  mapped_ = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped_ == MAP_FAILED) throw std::bad_alloc();
  auto begin = reinterpret_cast<std::uintptr_t>(mapped_);
  if (is_large) begin = round_up(begin, kLargePage);
  data_ = reinterpret_cast<float*>(begin);
  if (is_large) prefer_large_pages(data_, bytes / kLargePage * kLargePage);
}

LazyBuffer::~LazyBuffer() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

LazyBuffer& LazyBuffer::operator=(LazyBuffer&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void LazyBuffer::keep_only(Range range) {
  release({0, range.begin});
  release({range.end, size_});
}

void LazyBuffer::prefer_small_pages(Range range) {
  const std::size_t first = range.begin / kInPage * kInPage;
  const std::size_t bytes = round_up((range.end - first) * sizeof(float), kSmallPage);
  ::madvise(data_ + first, bytes, MADV_NOHUGEPAGE);
}

/// Both ends, which share a page with other numbers, are set to zero and keep their
/// memory.
void LazyBuffer::release(Range range) {
  const auto [begin, end] = range;
  const std::size_t first = std::min(round_up(begin, kInPage), end);
  const std::size_t last = end == size_ ? end : std::max(end / kInPage * kInPage, first);
  std::fill(data_ + begin, data_ + first, 0.0f);
  std::fill(data_ + last, data_ + end, 0.0f);
  if (first == last) return;
  const std::size_t bytes = round_up((last - first) * sizeof(float), kSmallPage);
  ::madvise(data_ + first, bytes, MADV_DONTNEED);
}

}  // namespace convoy
