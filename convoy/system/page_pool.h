// SPDX-License-Identifier: Apache-2.0
//
// PagePool: memory that passes from one range of numbers to the next.
//
//   pool.provide(a)    write and read a    pool.collect(a)
//                                             pool.provide(b)    the same pages
//
// The system clears every page that it gives to a process. Ranges that have memory in
// turn, as the units of a network under fsdp, need that once only: the pool keeps pages
// of a file in memory (memfd) and maps them where they are needed. It has as many as were
// provided at once, never more.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convoy/system/descriptor.h"

namespace convoy {

class PagePool {
 public:
  /// Without files in memory, ranges have ordinary memory instead.
  PagePool();
  /// Collects all ranges.
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  enum class RangeId : std::size_t {};

  /// Numbers of a LazyBuffer that will have memory in turn. Only whole pages within them
  /// do; what lies at the ends stays where it is. They are borrowed.
  RangeId add(std::span<float> numbers);

  /// The range has memory from now on, if it has none from the pool yet. The numbers are
  /// unspecified.
  void provide(RangeId range);

  /// Takes the range's memory, from the pool or not; its numbers are zero.
  void collect(RangeId range);

  /// Gives memory that no range has back to the system.
  void trim();

  /// Of the memory that it has had at most.
  std::size_t bytes() const { return blocks_ * kBlock; }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 18;

  struct Pages {
    std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::vector<std::size_t> blocks{};  // while it has memory from the pool
  };

  std::size_t take_block();
  void map_blocks(const Pages& pages) const;

  Descriptor file_;
  std::size_t blocks_ = 0;         // of the file
  std::vector<std::size_t> free_;  // those that no range has
  std::vector<Pages> ranges_;
};

}  // namespace convoy
