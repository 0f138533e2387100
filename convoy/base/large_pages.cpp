// SPDX-License-Identifier: Apache-2.0

#include "convoy/base/large_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

#include "convoy/base/range.h"

namespace convoy {

MappedPages::MappedPages(std::size_t bytes) {
  const bool is_large = bytes >= kLarge;
  mapped_bytes_ = is_large ? bytes + kLargePage : bytes;
  mapped_ = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    throw std::bad_alloc();
  }
  data_ = mapped_;
  if (!is_large) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(mapped_);
  data_ = reinterpret_cast<void*>(round_up(begin, kLargePage));
#ifdef MADV_HUGEPAGE
  ::madvise(data_, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
}

MappedPages::~MappedPages() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

MappedPages& MappedPages::operator=(MappedPages&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  return *this;
}

}  // namespace convoy
