// SPDX-License-Identifier: Apache-2.0
//
// Stage: one or a few layers computed together, planned for the shapes of its sources.
//
// A planned network is a list of stages. A stage reads one or more activations, writes
// one, and in backward turns the gradient of the latter into those of the former and of
// its parameters. All its memory is reserved beforehand; a pass allocates nothing.
//
// An activation of shape S is laid out as packs of sixteen rows, rows being numbered
// sample by sample:
//
//   [pack][channel][y][x][16 rows]
//
// so sixteen images are a pack, and so are sixteen tokens of one sample or of two. The
// last pack is filled up; a stage that mixes rows writes zeros there.
//
// Activations and their gradients may be stored in 16 bits (storage/stored.h), except the
// network's input and its logits. A stage computes in fp32: it widens what it reads a
// piece at a time, and rounds what it writes. Around a stage that does not know of this
// (takes_stored) all it reads is widened as a whole (storage/widened_stage.h).

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "convoy/base/range.h"
#include "convoy/base/shape.h"
#include "convoy/network/arena.h"
#include "convoy/network/kernels/kernels.h"
#include "convoy/network/storage/stored.h"
#include "convoy/system/thread_team.h"

namespace convoy {

/// What random numbers of a pass depend on, besides the layer.
struct RngKey {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t microbatch = 0;
};

/// An activation and, in backward, its gradient.
struct Activation {
  Stored values{};
  Stored gradient{};  // none where it is not needed
};

using Activations = std::span<const Activation>;

/// A parameter of a stage and, in backward, its gradient, which the stage overwrites.
struct ParameterView {
  const float* values = nullptr;
  float* gradient = nullptr;  // nullptr in forward, and where it is not needed
};

/// A running statistic of a stage.
struct StatisticView {
  const float* running = nullptr;  // nullptr in training, unless it is frozen
  float* batch = nullptr;          // that of this pass, computed if there is no running
};

/// Floats of one pack of an activation.
inline std::size_t pack_floats(Shape shape) { return shape.features() * kPack; }

/// Packs of so many samples.
inline std::size_t packs_of(std::size_t samples, Shape shape) {
  return round_up(samples * static_cast<std::size_t>(shape.rows), kPack) / kPack;
}

/// What a stage works with in a pass.
struct Pass {
  ThreadTeam& team;
  KernelSet kernels;
  Arena& arena;
  std::size_t samples;
  RngKey key;
  std::span<const ParameterView> parameters{};  // of this stage, as its layers list them
  std::span<const StatisticView> statistics{};
  Dtype activations = Dtype::fp32;
  float* fp32_buffers = nullptr;  // of all threads
  std::size_t buffer_floats = 0;

  std::size_t rows(Shape shape) const {
    return samples * static_cast<std::size_t>(shape.rows);
  }
  std::size_t packs(Shape shape) const { return packs_of(samples, shape); }

  /// A thread's memory for numbers that it widens: as much as the stage has asked for.
  float* fp32_buffer(int thread) const {
    return fp32_buffers + static_cast<std::size_t>(thread) * buffer_floats;
  }

  /// Real rows in a pack of an activation of that shape.
  int real_rows(Shape shape, std::size_t pack) const {
    return static_cast<int>(std::min<std::size_t>(kPack, rows(shape) - pack * kPack));
  }
};

/// Calls work(from, size) for all numbers of an activation of that shape, one task per
/// pack; where activations are of 16 bits, a piece at a time.
template <class Work>
void for_numbers(const Pass& pass, Shape shape, const Work& work) {
  const std::size_t size = pack_floats(shape);
  pass.team.run(pass.packs(shape), [&](std::size_t pack, int) {
    for_pieces(pass.activations, pack * size, size, work);
  });
}

/// What a stage is planned for.
struct StageContext {
  ArenaPlan& plan;
  std::size_t most_samples;
  int threads;
  int forward, backward;  // the stage's two moments in the plan
  bool training;          // whether there is a backward pass through the stage
  std::uint32_t number;   // of the stage, for its random numbers
  Dtype activations = Dtype::fp32;
  std::size_t* buffer_floats = nullptr;  // the most that a stage asked for so far

  std::size_t most_packs(Shape shape) const { return packs_of(most_samples, shape); }
  std::size_t most_rows(Shape shape) const { return most_packs(shape) * kPack; }

  /// Memory for each thread alone at `moment`.
  SlotId reserve_scratch(std::size_t floats_per_thread, int moment) const {
    return plan.reserve(
        floats_per_thread * sizeof(float) * static_cast<std::size_t>(threads),
        {moment, moment});
  }
  /// Memory for each thread alone whenever the stage runs, for numbers of 16 bits that it
  /// widens. Where activations are fp32, there is none.
  void ask_for_buffer(std::size_t floats_per_thread) const {
    if (activations == Dtype::fp32) return;
    *buffer_floats = std::max(*buffer_floats, round_up(floats_per_thread, kPack));
  }
  /// Memory that keeps its content from forward to backward.
  SlotId reserve_kept(std::size_t bytes) const {
    return plan.reserve(bytes, {forward, std::max(forward, backward)});
  }
};

class Stage {
 public:
  virtual ~Stage() = default;

  virtual void forward(const Pass& pass, Activations src, const Activation& dst) = 0;

  /// Fills the gradients of the sources and of the parameters, those that are needed.
  /// May change dst.gradient.
  virtual void backward(const Pass& pass, Activations src, const Activation& dst) = 0;

  /// Whether backward reads an activation's values; if not, their memory is reused.
  virtual bool backward_reads_src(std::size_t source) const = 0;
  virtual bool backward_reads_dst() const = 0;

  /// Whether forward costs so little that it may run a second time, in backward, instead
  /// of keeping its result. Such a stage has no scratch memory in forward, and its
  /// backward reads its sources and not its result.
  virtual bool is_cheap() const { return false; }

  /// Whether activations may be given to it as they are stored, in 16 bits.
  virtual bool takes_stored() const { return false; }
};

}  // namespace convoy
