// SPDX-License-Identifier: Apache-2.0
//
// PointLosses: the loss of many weights over one set of samples, at the speed of forward
// passes.
//
// Ranks have different points, each with all its samples; threads work on one batch
// together. A batch is loaded and normalised once, then passed through the network with
// the weights of every point, so data is not kept in memory. The losses of a point are
// added in batch order: its bits depend neither on ranks nor on threads, and are those of
// Evaluator.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "convoy/comm/comm.h"
#include "convoy/evaluate/evaluation.h"
#include "convoy/landscape/plane.h"

namespace convoy {

/// Points by number, and what sets the weights of one.
struct PointSource {
  std::size_t count = 0;
  std::function<void(std::size_t point, OwnedWeights& weights)> set_weights;
};

/// How the caller follows the work of this rank.
struct PointObserver {
  /// Receives the part that is done, 0 .. 1, after each pass.
  std::function<void(double)> progress = [](double) {};
  std::function<bool()> should_stop = [] { return false; };
};

struct PointLossOptions {
  NetworkOptions network{};  // batch size and statistics are overwritten
  /// Training samples over which every point's running statistics are measured; nullptr:
  /// the points have their own.
  const EvaluationSet* measure_over = nullptr;
};

class PointLosses {
 public:
  /// Borrows everything for as long as it lives.
  PointLosses(const LaidOutModel& model, const PointLossOptions& options,
              ThreadTeam& team, Comm& comm);

  /// Returns the sums of all points, on all ranks; nothing if a rank was asked to stop.
  /// Throws PeerError. Requires: the set's input and classes are the model's.
  std::optional<std::vector<LossSum>> run(const PointSource& source,
                                          const EvaluationSet& set,
                                          const PointObserver& observer);

 private:
  using Pass = std::function<void(const Batch&, std::size_t batch, std::size_t own)>;

  std::vector<std::size_t> own_points(std::size_t count) const;
  bool for_each_batch(const EvaluationSet& set, DamagedSample damaged, const Pass& pass);
  void begin_measuring(FlatBuffer& running) const;
  bool measure_statistics(const PointSource& source);
  bool add_losses(const PointSource& source, const EvaluationSet& set);
  void note_pass(std::size_t samples);
  bool any_stops();
  std::vector<LossSum> gathered(std::size_t count);

  const LaidOutModel& model_;
  const EvaluationSet* measure_over_;
  Comm& comm_;
  OwnedWeights weights_;  // of the point in work
  std::size_t batch_size_;
  Network evaluating_;
  std::optional<Network> measuring_;
  std::vector<FlatBuffer> statistics_;  // measured, by own point
  std::vector<std::size_t> points_;     // own ones
  std::vector<LossSum> sums_;           // by own point
  const PointObserver* observer_ = nullptr;
  double done_ = 0, planned_ = 0;  // passes x samples
};

}  // namespace convoy
