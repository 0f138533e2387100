// SPDX-License-Identifier: Apache-2.0

#include "convoy/train/shared_evaluation.h"

namespace convoy {
namespace {

/// Puts equally many items of each rank one rank after the other.
template <class Item>
std::vector<Item> gathered(Comm& comm, std::span<const Item> own) {
  std::vector<Item> all(own.size() * static_cast<std::size_t>(comm.ranks()));
  comm.all_gather(std::as_bytes(own), std::as_writable_bytes(std::span(all)));
  return all;
}

/// The batches' sums in order. Ranks have nearly equally many of them, so each gives as
/// many as the first, which has most.
LossSum sum_of_batches(Comm& comm, std::size_t batches, std::vector<LossSum> own) {
  const auto ranks = static_cast<std::size_t>(comm.ranks());
  const std::size_t most = even_part(batches, ranks, 0).size();
  own.resize(most);
  const std::vector<LossSum> all = gathered<LossSum>(comm, own);
  LossSum sum;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t count = even_part(batches, ranks, rank).size();
    for (std::size_t i = 0; i < count; ++i) sum += all[rank * most + i];
  }
  return sum;
}

ConfusionMatrix sum_of_matrices(Comm& comm, const ConfusionMatrix& own) {
  const std::vector<std::uint64_t> all = gathered(comm, own.counts());
  ConfusionMatrix sum(own.classes());
  const auto classes = static_cast<std::size_t>(own.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t cell = i % (classes * classes);
    sum.add(static_cast<int>(cell / classes), static_cast<int>(cell % classes), all[i]);
  }
  return sum;
}

}  // namespace

EvaluationResult evaluate(const EvaluationSet& set, const Weights& weights,
                          Evaluator& evaluator, Comm& comm) {
  const Range own = even_part(set.batches(), static_cast<std::size_t>(comm.ranks()),
                              static_cast<std::size_t>(comm.rank()));
  EvaluationPart part = evaluator.run_part(set, own, weights);
  return {.sum = sum_of_batches(comm, set.batches(), std::move(part.batches)),
          .matrix = sum_of_matrices(comm, part.matrix)};
}

}  // namespace convoy
