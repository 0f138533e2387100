// SPDX-License-Identifier: Apache-2.0
//
// Stage: one or a few layers computed together, planned for one source shape.
//
// A planned network is a list of stages. A stage reads the activation before it, writes
// the one after it, and in backward turns the gradient of the latter into that of the
// former and of its parameters. All its memory is reserved beforehand; a pass allocates
// nothing.

#pragma once

#include <algorithm>
#include <cstdint>

#include "convoy/base/shape.h"
#include "convoy/network/arena.h"
#include "convoy/network/kernels/kernels.h"
#include "convoy/params/layout.h"
#include "convoy/system/thread_team.h"

namespace convoy {

/// What random numbers of a pass depend on, besides the layer.
struct RngKey {
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t microbatch = 0;
};

/// An activation and, in backward, its gradient. Layout: see kernels.h.
struct Activation {
  float* values = nullptr;
  float* gradient = nullptr;  // nullptr where it is not needed
};

/// What a stage works with in a pass.
struct Pass {
  ThreadTeam& team;
  const Kernels& kernels;
  Arena& arena;
  const float* values;
  float* gradients;         // nullptr in forward
  const float* statistics;  // running ones; nullptr in training
  float* batch_statistics;  // those of this pass, computed in training
  std::size_t samples;
  std::size_t packs;  // of sixteen images, the last filled up with zeros
  RngKey key;
  Activation residual{};  // the second branch of a stage that adds two

  /// Real images in a pack.
  int images(std::size_t pack) const {
    return static_cast<int>(std::min<std::size_t>(kPack, samples - pack * kPack));
  }
};

/// What a stage is planned for.
struct StageContext {
  ArenaPlan& plan;
  Shape src;
  std::size_t most_packs;
  int threads;
  int forward, backward;  // the stage's two moments in the plan
  bool training;          // without it there is no backward
  std::uint32_t number;   // of the stage, for its random numbers

  /// Memory for each thread alone at `moment`.
  SlotId reserve_scratch(std::size_t floats_a_thread, int moment) const {
    return plan.reserve(
        floats_a_thread * sizeof(float) * static_cast<std::size_t>(threads),
        {moment, moment});
  }
};

class Stage {
 public:
  virtual ~Stage() = default;

  virtual void forward(const Pass& pass, const float* src, float* dst) = 0;

  /// Fills src.gradient (if there is one), that of the residual (likewise), and the
  /// gradients of the stage's parameters. May change dst.gradient.
  virtual void backward(const Pass& pass, const Activation& src,
                        const Activation& dst) = 0;

  /// Whether backward reads the activations' values; if not, their memory is reused.
  virtual bool backward_reads_src() const = 0;
  virtual bool backward_reads_dst() const = 0;
};

inline std::size_t pack_floats(Shape shape) { return shape.size() * kPack; }

}  // namespace convoy
