// SPDX-License-Identifier: Apache-2.0
//
// The sum is evaluated block by block: the complete tree for a few thousand elements,
// whose intermediate sums stay in the L1 cache.

#include "convoy/comm/reduction_order.h"

#include <algorithm>
#include <cstring>

#include "convoy/base/error.h"
#include "convoy/params/reduction_tree.h"
#include "convoy/system/cpu.h"

namespace convoy {
namespace {

constexpr std::size_t kBlock = 1024;

std::size_t partial_of(std::int32_t operand) {
  return static_cast<std::size_t>(-1 - static_cast<std::int64_t>(operand));
}

void add_apart(const float* __restrict left, const float* __restrict right,
               std::size_t count, float* __restrict sum) {
  for (std::size_t i = 0; i < count; ++i) sum[i] = left[i] + right[i];
}

void add_to_left(float* __restrict left, const float* __restrict right,
                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) left[i] += right[i];
}

void add_to_right(const float* __restrict left, float* __restrict right,
                  std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) right[i] = left[i] + right[i];
}

}  // namespace

// The compiler vectorizes only loops whose arrays it knows to be distinct.
void add_pair(const float* left, const float* right, std::size_t count, float* sum,
              Dtype dtype) {
  if (sum == left) {
    add_to_left(sum, right, count);
  } else if (sum == right) {
    add_to_right(left, sum, count);
  } else {
    add_apart(left, right, count, sum);
  }
  round_in_place(dtype, sum, count);
}

ReductionOrder::ReductionOrder(std::size_t microbatches, int ranks, Deal deal)
    : microbatches_(microbatches), deal_(deal) {
  check(ranks >= 1 && microbatches >= static_cast<std::size_t>(ranks),
        "every rank has a micro-batch");
  for (int rank = 0; rank < ranks; ++rank) {
    first_partial_.push_back(partials_.size());
    const MicrobatchPart own = deal_microbatches(microbatches, ranks, rank, deal);
    for (const Range subtree : whole_subtrees(own)) partials_.push_back(subtree);
  }
  first_partial_.push_back(partials_.size());
  plan({0, microbatches});
}

Range ReductionOrder::partials_of(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return {first_partial_[r], first_partial_[r + 1]};
}

/// Records the sums below a node of the tree; returns the node as an operand.
std::int32_t ReductionOrder::plan(Range microbatches) {
  const auto found = std::ranges::find(partials_, microbatches);
  if (found != partials_.end()) {
    return ~static_cast<std::int32_t>(found - partials_.begin());
  }
  const std::size_t middle = tree_split(microbatches);
  const std::int32_t left = plan({microbatches.begin, middle});
  const std::int32_t right = plan({middle, microbatches.end});
  sums_.push_back({left, right});
  return static_cast<std::int32_t>(sums_.size()) - 1;
}

void ReductionOrder::add(std::span<const float* const> partials, std::span<float> sum,
                         Dtype dtype) const {
  check(partials.size() == partials_.size(), "one pointer per partial");
  flush_denormals();  // as where one rank adds the micro-batches
  if (sums_.empty()) {
    if (partials[0] != sum.data()) {
      std::memcpy(sum.data(), partials[0], sum.size_bytes());
    }
    return;
  }
  if (partials.size() == 2 && dtype == Dtype::fp32) {
    add_pair(partials[0], partials[1], sum.size(), sum.data());
    return;
  }
  for (std::size_t begin = 0; begin < sum.size(); begin += kBlock) {
    const Range block{begin, std::min(begin + kBlock, sum.size())};
    add_block({partials, block, dtype}, sum.data() + begin);
  }
}

/// `sum` may be a partial that is still to be read: the last addition writes it.
void ReductionOrder::add_block(const Block& block, float* sum) const {
  float left_scratch[kBlock], right_scratch[kBlock];
  const float* left = operand(block, sums_.back().left, left_scratch);
  const float* right = operand(block, sums_.back().right, right_scratch);
  add_pair(left, right, block.range.size(), sum, block.dtype);
}

void ReductionOrder::evaluate(const Block& block, const Sum& sum, float* result) const {
  float right_scratch[kBlock];
  const float* left = operand(block, sum.left, result);
  const float* right = operand(block, sum.right, right_scratch);
  add_pair(left, right, block.range.size(), result, block.dtype);
}

const float* ReductionOrder::operand(const Block& block, std::int32_t which,
                                     float* scratch) const {
  if (which < 0) return block.partials[partial_of(which)] + block.range.begin;
  evaluate(block, sums_[static_cast<std::size_t>(which)], scratch);
  return scratch;
}

}  // namespace convoy
