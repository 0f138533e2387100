// SPDX-License-Identifier: Apache-2.0
//
// GlooComm: a Comm over TCP, using Gloo.
//
// A reduction is direct: the owner of a part receives the other ranks' partials of it,
// adds them in the tree's order and, in an all-reduce, sends the sum to all ranks. Parts
// are split into chunks, so that sending, receiving and adding overlap:
//
//   others -> own     partials of chunk  k+1, k+2 ...    (Gloo's thread)
//   own               adds the partials of chunk k       (the caller's)
//   own -> others     sum of chunk k-1, k-2 ...          (Gloo's thread)
//
// A rank sends its partials of the other ranks' parts, and the sum of its own part to
// each of them: the minimum for sums in a fixed order, and as much as a ring sends.

#pragma once

#include <optional>
#include <vector>

#include "convoy/base/aligned.h"
#include "convoy/comm/comm.h"
#include "convoy/comm/gloo_mesh.h"

namespace convoy {

class GlooComm final : public Comm {
 public:
  GlooComm(const CommOptions& options, KeyValueStore& store);

 private:
  class Reducing;

  void do_exchange(const Exchange& exchange) override;
  void do_reduce(const Reduction& reduction) override;

  GlooMesh mesh_;
  std::vector<std::optional<GlooBuffer>> outgoing_, incoming_;  // by rank
  AlignedBuffer<float> staging_;  // others' partials of the chunks in progress
  // If numbers are sent in 16 bits: own partials and the sum, and others' of a chunk.
  AlignedBuffer<std::uint16_t> narrow_;
  AlignedBuffer<float> widened_;
  std::vector<const float*> chunk_partials_;
};

}  // namespace convoy
