// SPDX-License-Identifier: Apache-2.0

#include "convoy/evaluate/shared_evaluation.h"

#include <algorithm>

namespace convoy {
namespace {

/// Gathers equally many items from each rank, in rank order.
template <class Item>
std::vector<Item> gathered(Comm& comm, std::span<const Item> own) {
  std::vector<Item> all(own.size() * static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)));
  return all;
}

/// Gathers the items in `own`, of which each rank has at most `most`, in rank order;
/// `count_of` returns how many a rank has.
template <class Item, class Count>
std::vector<std::vector<Item>> gathered_lists(Comm& comm, std::vector<Item> own,
                                              std::size_t most, const Count& count_of) {
  own.resize(most);
  const std::vector<Item> all = gathered<Item>(comm, own);
  std::vector<std::vector<Item>> lists;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(comm.ranks()); ++rank) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(rank * most);
    lists.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(count_of(rank)));
  }
  return lists;
}

/// Adds the batches' sums in order, in total and per rank.
void add_batches(Comm& comm, std::size_t batches, std::vector<LossSum> own,
                 EvaluationResult& result) {
  const auto count_of = [&](std::size_t rank) {
    return even_part(batches, static_cast<std::size_t>(comm.ranks()), rank).size();
  };
  // Ranks have nearly equal numbers of batches; the first has most.
  for (const auto& list : gathered_lists(comm, std::move(own), count_of(0), count_of)) {
    LossSum& share = result.shares.emplace_back();
    for (const LossSum& batch : list) {
      result.sum += batch;
      share += batch;
    }
    result.batches.insert(result.batches.end(), list.begin(), list.end());
  }
}

/// A rank has as many as its share has samples.
void add_predictions(Comm& comm, std::vector<Prediction> own, EvaluationResult& result) {
  const std::size_t most = std::ranges::max(result.shares, {}, &LossSum::samples).samples;
  const auto count_of = [&](std::size_t rank) { return result.shares[rank].samples; };
  for (const auto& list : gathered_lists(comm, std::move(own), most, count_of)) {
    result.predictions.insert(result.predictions.end(), list.begin(), list.end());
  }
}

ConfusionMatrix sum_of_matrices(Comm& comm, const ConfusionMatrix& own) {
  const std::vector<std::uint64_t> all = gathered(comm, own.numbers());
  ConfusionMatrix sum(own.classes());
  const std::size_t size = own.numbers().size();
  for (std::size_t begin = 0; begin < all.size(); begin += size) {
    sum.add_numbers(std::span(all).subspan(begin, size));
  }
  return sum;
}

}  // namespace

EvaluationResult evaluate(const EvaluationSet& set, const Weights& weights,
                          Evaluator& evaluator, Comm& comm) {
  PassListener nobody;
  return evaluate(set, weights, evaluator, comm, nobody);
}

EvaluationResult evaluate(const EvaluationSet& set, const Weights& weights,
                          Evaluator& evaluator, Comm& comm, PassListener& listener) {
  const auto ranks = static_cast<std::size_t>(comm.ranks());
  const Range own =
      even_part(set.batches(), ranks, static_cast<std::size_t>(comm.rank()));
  EvaluationPart part = evaluator.run_part(set, own, weights, listener,
                                           even_part(set.batches(), ranks, 0).size());
  EvaluationResult result{.sum = {}, .matrix = sum_of_matrices(comm, part.matrix)};
  add_batches(comm, set.batches(), std::move(part.batches), result);
  if (evaluator.keeps_predictions()) {
    add_predictions(comm, std::move(part.predictions), result);
  }
  count_left_out(set, result);
  return result;
}

}  // namespace convoy
