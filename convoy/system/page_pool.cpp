// SPDX-License-Identifier: Apache-2.0

#include "convoy/system/page_pool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "convoy/base/range.h"

namespace convoy {
namespace {

constexpr std::size_t kPage = 4096;

void expect_mapped(const void* address) {
  if (address == MAP_FAILED) throw std::bad_alloc();
}

}  // namespace

PagePool::PagePool() : file_(::memfd_create("convoy parameters", MFD_CLOEXEC)) {}

PagePool::~PagePool() {
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    if (!ranges_[i].blocks.empty()) collect(RangeId{i});
  }
}

PagePool::RangeId PagePool::add(std::span<float> numbers) {
  const auto begin = reinterpret_cast<std::uintptr_t>(numbers.data());
  const std::uintptr_t first = round_up(begin, kPage);
  const std::uintptr_t last = (begin + numbers.size_bytes()) / kPage * kPage;
  ranges_.push_back(
      {reinterpret_cast<std::byte*>(first), last > first ? last - first : 0});
  const std::size_t blocks = (ranges_.back().bytes + kBlock - 1) / kBlock;
  ranges_.back().blocks.reserve(blocks);
  free_.reserve(free_.capacity() + blocks);  // so that nothing is allocated later
  return RangeId{ranges_.size() - 1};
}

void PagePool::provide(RangeId range) {
  Pages& pages = ranges_[static_cast<std::size_t>(range)];
  if (!file_ || pages.bytes == 0 || !pages.blocks.empty()) return;
  for (std::size_t done = 0; done < pages.bytes; done += kBlock) {
    pages.blocks.push_back(take_block());
  }
  std::ranges::sort(pages.blocks);  // neighbours are mapped at once
  map_blocks(pages);
}

std::size_t PagePool::take_block() {
  if (free_.empty()) {
    if (::ftruncate(file_.get(), static_cast<off_t>((blocks_ + 1) * kBlock)) != 0) {
      throw std::bad_alloc();
    }
    return blocks_++;
  }
  const std::size_t block = free_.back();
  free_.pop_back();
  return block;
}

void PagePool::map_blocks(const Pages& pages) const {
  for (std::size_t i = 0; i < pages.blocks.size();) {
    std::size_t end = i + 1;
    while (end < pages.blocks.size() && pages.blocks[end] == pages.blocks[end - 1] + 1) {
      ++end;
    }
    const std::size_t bytes = std::min(end * kBlock, pages.bytes) - i * kBlock;
    expect_mapped(::mmap(pages.begin + i * kBlock, bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED | MAP_POPULATE, file_.get(),
                         static_cast<off_t>(pages.blocks[i] * kBlock)));
    i = end;
  }
}

/// A block of the file stays where it is, without memory.
void PagePool::trim() {
  for (const std::size_t block : free_) {
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(block * kBlock), static_cast<off_t>(kBlock));
  }
}

void PagePool::collect(RangeId range) {
  Pages& pages = ranges_[static_cast<std::size_t>(range)];
  if (pages.bytes == 0) return;
  if (pages.blocks.empty()) {
    ::madvise(pages.begin, pages.bytes, MADV_DONTNEED);
    return;
  }
  expect_mapped(::mmap(pages.begin, pages.bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  free_.insert(free_.end(), pages.blocks.begin(), pages.blocks.end());
  pages.blocks.clear();
}

}  // namespace convoy
