// SPDX-License-Identifier: Apache-2.0
//
// MappedPages: address space whose pages are zero and are allocated when they are
// written. A large one is aligned to a huge page and asks for huge pages: passes over it
// cause fewer TLB misses.

#pragma once

#include <cstddef>
#include <utility>

namespace convoy {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// From how many bytes on memory is large.
inline constexpr std::size_t kLarge = 2 * kLargePage;

class MappedPages {
 public:
  MappedPages() = default;
  /// Throws std::bad_alloc if there is no address space.
  explicit MappedPages(std::size_t bytes);
  ~MappedPages();
  MappedPages(MappedPages&& other) noexcept { *this = std::move(other); }
  MappedPages& operator=(MappedPages&& other) noexcept;

  void* data() const { return data_; }

 private:
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace convoy
