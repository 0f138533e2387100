// SPDX-License-Identifier: Apache-2.0
//
// Samples: labelled samples as a loader provides them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "convoy/base/range.h"
#include "convoy/base/shape.h"
#include "convoy/system/thread_team.h"

namespace convoy {

struct Samples {
  std::span<const float> inputs;  // [sample][row][channel][y][x]
  std::span<const std::int32_t> labels;
  /// [sample][class], if the loss is taken against distributions instead of labels; the
  /// labels then say only which predictions count as correct.
  std::span<const float> distributions{};

  std::size_t count() const { return labels.size(); }

  /// Samples [range.begin, range.end).
  Samples part(Range range) const {
    return {part_of(inputs, range), part_of(labels, range),
            part_of(distributions, range)};
  }

 private:
  template <class Number>
  std::span<const Number> part_of(std::span<const Number> numbers, Range range) const {
    const std::size_t sample = count() == 0 ? 0 : numbers.size() / count();
    return numbers.subspan(range.begin * sample, range.size() * sample);
  }
};

/// Packs [row][feature] into [pack][feature][16 rows], the last pack filled up with
/// zeros.
void pack_inputs(ThreadTeam& team, const Samples& samples, Shape shape, float* packed);

}  // namespace convoy
